"""Headers of messages that travelled over HTTP: SoapHeader (MS-MQMQ 2.2.20.7), and the SRMP pair of MS-MQRR 2.2.5.1.2.

The documents give SoapHeader no alignment and SRMPEnvelopeHeader.DataLength no unit. These tables take 4-byte alignment
(PacketSize counts padding that aligns headers, MS-MQMQ 2.2.19.1) and WCHARs (as SoapHeader counts).
"""

from conformance.wire.layout import Length, Octets, Pad, Section, UInt, Wide

SOAP_HEADER = Section(
    "SoapHeader",
    "MS-MQMQ 2.2.20.7",
    (
        UInt("HeaderSectionID", 2, default=0x0320),
        UInt("Reserved", 2),
        UInt("HeaderDataLength", 4),
        Wide("Header", Length("HeaderDataLength", times=2)),
        Pad("HeaderPadding"),
        UInt("BodySectionID", 2, default=0x0384),
        UInt("Reserved1", 2),
        UInt("BodyDataLength", 4),
        Wide("Body", Length("BodyDataLength", times=2)),
        Pad("BodyPadding"),
    ),
)
SRMP_ENVELOPE_HEADER = Section(
    "SRMPEnvelopeHeader",
    "MS-MQRR 2.2.5.1.2.1",
    (
        UInt("HeaderId", 2),
        UInt("Reserved", 2),
        UInt("DataLength", 4),
        Wide("Data", Length("DataLength", times=2)),
        Pad(),
    ),
)
COMPOUND_MESSAGE_HEADER = Section(
    "CompoundMessageHeader",
    "MS-MQRR 2.2.5.1.2.2",
    (
        UInt("HeaderId", 2),
        UInt("Reserved", 2),
        UInt("HTTPBodySize", 4),
        UInt("MsgBodySize", 4),
        UInt("MsgBodyOffset", 4),
        Octets("Data", Length("HTTPBodySize")),
        Pad(),
    ),
)
