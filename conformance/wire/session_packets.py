"""Packets of a session: InternalHeader and its packets, OrderAck and FinalAck bodies, Ping (MS-MQQB 2.2)."""

from conformance.wire.layout import Guid, Length, Octets, Section, UInt, bits

SESSION_ACK, ESTABLISH_CONNECTION, CONNECTION_PARAMETERS = 1, 2, 3
PING_SIGNATURE = 0x5548
PING_SIZE = 24

INTERNAL_HEADER = Section(
    "InternalHeader",
    "MS-MQQB 2.2.1",
    (UInt("Reserved", 2), UInt("Flags", 2, bits("PT:4 CS X5 X6 X7 X8 X9 X10 X11 X12 X13 X14 X15"))),
)
CONNECTION_PARAMETERS_HEADER = Section(
    "ConnectionParametersHeader",
    "MS-MQQB 2.2.2.1",
    (
        UInt("RecoverableAckTimeout", 4, default=500),
        UInt("AckTimeout", 4, default=20000),
        UInt("Reserved", 2),
        UInt("WindowSize", 2, default=64),
    ),
)
ESTABLISH_CONNECTION_HEADER = Section(
    "EstablishConnectionHeader",
    "MS-MQQB 2.2.3.1",
    (
        Guid("ClientGuid"),
        Guid("ServerGuid"),
        UInt("TimeStamp", 4),
        UInt("OperatingSystem", 2, bits("RE:8 SE OS QS X11 X12 X13 X14 X15"), default=0x10),
        UInt("Reserved", 2),
        Octets("Padding", Length(fixed=512)),
    ),
)
ORDER_ACK_BODY = Section(
    "OrderAckBody",
    "MS-MQQB 2.2.4.1",
    (
        UInt("TxSequenceID", 8, bits("Ordinal:32 TimeStamp:32")),
        UInt("TxSequenceNumber", 4, default=1),
        UInt("TxPreviousSequenceNumber", 4),
        Octets("Reserved", Length(fixed=20)),
    ),
)
FINAL_ACK_BODY = Section(
    "FinalAckBody",
    "MS-MQQB 2.2.5.1",
    (
        UInt("TxSequenceID", 8, bits("Ordinal:32 TimeStamp:32")),
        UInt("TxSequenceNumber", 4, default=1),
        UInt("TxPreviousSequenceNumber", 4),
        Guid("SourceGUID"),
        UInt("MessageID", 4),
    ),
)
PING = Section(
    "Ping",
    "MS-MQQB 2.2.7",
    (
        UInt("Flags", 2, bits("RC RF X:14")),
        UInt("Signature", 2, default=PING_SIGNATURE),
        UInt("Cookie", 4),
        Guid("QMGuid"),
    ),
)
