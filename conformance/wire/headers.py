"""The layout tables of all headers and packets (MS-MQMQ 2.2.18 to 2.2.20, MS-MQQB 2.2), and each packet's sections."""

from __future__ import annotations

from conformance.wire.layout import (
    Align,
    Choice,
    Condition,
    Elements,
    Ended,
    Guid,
    Item,
    Length,
    Octets,
    Pad,
    Section,
    UInt,
    When,
    Wide,
    bits,
)
from conformance.wire.security_items import PUBLIC_KEY_BLOB, SID, SIMPLE_BLOB

SIGNATURE = 0x524F494C  # "LIOR" in wire order
VERSION = 0x10
MAXIMUM_SIZE = 0x00400000
INFINITE = 0xFFFFFFFF

BASE_HEADER = Section(
    "BaseHeader",
    "MS-MQMQ 2.2.19.1",
    (
        UInt("VersionNumber", 1, default=VERSION),
        UInt("Reserved", 1),
        UInt("Flags", 2, bits("PR:3 IN SH DH X9 X8 TR X6 X5 X4 X3 X2 X1 X0")),
        UInt("Signature", 4, default=SIGNATURE),
        UInt("PacketSize", 4),
        UInt("TimeToReachQueue", 4, default=INFINITE),
    ),
)

# Label, ExtensionData and MessageBody follow each other without padding; only the end is padded (MS-MQQB 4.1.7).
MESSAGE_PROPERTIES_HEADER = Section(
    "MessagePropertiesHeader",
    "MS-MQMQ 2.2.19.3",
    (
        UInt("Flags", 1, bits("PA PR NA NR X:4")),
        UInt("LabelLength", 1),
        UInt("MessageClass", 2),
        Octets("CorrelationID", Length(fixed=20)),
        UInt("BodyType", 4),
        UInt("ApplicationTag", 4),
        UInt("MessageSize", 4),
        UInt("AllocationBodySize", 4),
        UInt("PrivacyLevel", 4),
        UInt("HashAlgorithm", 4, default=0x8004),  # SHA-1 and RC4: the defaults of MS-MQDMPR 3.1.1.12
        UInt("EncryptionAlgorithm", 4, default=0x6801),
        UInt("ExtensionSize", 4),
        Wide("Label", Length("LabelLength", times=2)),
        Octets("ExtensionData", Length("ExtensionSize")),
        Octets("MessageBody", Length("MessageSize")),
        Pad(),
    ),
)

DESTINATION_ID, ADMINISTRATION_ID, RESPONSE_ID, SIGNATURE_ID = 0x0064, 0x00C8, 0x012C, 0x015E
PUBLIC, PRIVATE, DIRECT, DISTRIBUTION_LIST = 1, 2, 3, 6
LISTS = ("Destination", "Administration", "Response")
ADDRESS_HEADER_SIZE = 12


def _names(count: str) -> Elements:
    return Elements(
        count,
        "FormatType",
        {
            # 2.2.18.1.7.1 does not mention alignment, unlike the two below that hold a GUID as well.
            PUBLIC: (Align(4, doubtful=True), Guid("PublicQueueIdentifier")),
            PRIVATE: (Align(4), Guid("SourceQueueManager"), UInt("PrivateQueueIdentifier", 4)),
            DIRECT: (Align(2), Ended("DirectFormatName")),
            DISTRIBUTION_LIST: (Align(4), Guid("DistributionListIdentifier")),
        },
    )


def _address(name: str, header_id: int) -> tuple[Item, ...]:
    size = Length(f"{name}.HeaderSize", minus=ADDRESS_HEADER_SIZE)
    return (
        UInt(f"{name}.HeaderSize", 4),
        UInt(f"{name}.HeaderID", 2, default=header_id),
        UInt(f"{name}.Reserved", 2),
        UInt(f"{name}.ElementCount", 4),
        Octets(f"{name}.FormatNameList", size, _names(f"{name}.ElementCount")),
        Pad(f"{name}.Padding"),
    )


MULTI_QUEUE_FORMAT_HEADER = Section(
    "MultiQueueFormatHeader",
    "MS-MQMQ 2.2.20.1",
    (
        *_address("Destination", DESTINATION_ID),
        *_address("Administration", ADMINISTRATION_ID),
        *_address("Response", RESPONSE_ID),
        UInt("Signature.ID", 2, default=SIGNATURE_ID),
        UInt("Signature.Reserved", 2),
        UInt("Signature.Size", 4),
        Octets("Signature.Signature", Length("Signature.Size")),
        Pad("Signature.Padding"),
    ),
)

SOAP_PACKED, SRMP_PACKED, SRMP_BYTES = "soap-packed", "srmp-packed", "srmp-bytes"
SOAP_UNPADDED = "soap-unpadded"
"""Only with `SOAP_PACKED`: the header has no padding at its end either, which aligns what follows."""
HEADER_SECTION_ID, BODY_SECTION_ID = 0x0320, 0x0384

SOAP_HEADER = Section(
    "SoapHeader",
    "MS-MQMQ 2.2.20.7",
    (
        UInt("HeaderSectionID", 2, default=HEADER_SECTION_ID),
        UInt("Reserved", 2),
        UInt("HeaderDataLength", 4),
        Wide("Header", Length("HeaderDataLength", times=2)),
        Pad("HeaderPadding", not_under=SOAP_PACKED),
        UInt("BodySectionID", 2, default=BODY_SECTION_ID),
        UInt("Reserved1", 2),
        UInt("BodyDataLength", 4),
        Wide("Body", Length("BodyDataLength", times=2)),
        Pad("BodyPadding", not_under=SOAP_UNPADDED),
    ),
)
SRMP_ENVELOPE_HEADER = Section(
    "SRMPEnvelopeHeader",
    "MS-MQRR 2.2.5.1.2.1",
    (
        UInt("HeaderId", 2),
        UInt("Reserved", 2),
        UInt("DataLength", 4),
        Wide("Data", Length("DataLength", times=2, bytes_under=SRMP_BYTES)),
        Pad(not_under=SRMP_PACKED),
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
        Pad(not_under=SRMP_PACKED),
    ),
)

SESSION_HEADER = Section(
    "SessionHeader",
    "MS-MQMQ 2.2.20.4",
    (
        UInt("AckSequenceNumber", 2),
        UInt("RecoverableMsgAckSeqNumber", 2),
        UInt("RecoverableMsgAckFlags", 4),
        UInt("UserMsgSequenceNumber", 2),
        UInt("RecoverableMsgSeqNumber", 2),
        UInt("WindowSize", 2, default=64),
        UInt("Reserved", 2),
    ),
)
SESSION_HEADER_SIZE = 16

TRANSACTION_HEADER = Section(
    "TransactionHeader",
    "MS-MQMQ 2.2.20.5",
    (
        UInt("Flags", 4, bits("CG FA FM LM ID:20 X1 X2 X3 X4 X5 X6 X7 X8")),
        UInt("TxSequenceID", 8, bits("Ordinal:32 TimeStamp:32")),
        UInt("TxSequenceNumber", 4, default=1),
        UInt("PreviousTxSequenceNumber", 4),
        When(Condition("TransactionHeader.Flags.CG"), (Guid("ConnectorQMGuid"),)),
    ),
)


def _item(name: str, size: str) -> tuple[Item, ...]:
    return (Octets(f"SecurityData.{name}", Length(size)), Pad(f"SecurityData.{name}.Padding"))


SECURITY_HEADER = Section(
    "SecurityHeader",
    "MS-MQMQ 2.2.20.6",
    (
        UInt("Flags", 2, bits("ST:4 AU EB DE AI AS:4 X12 X13 X14 X15")),
        UInt("SenderIdSize", 2),
        UInt("EncryptionKeySize", 2),
        UInt("SignatureSize", 2),
        UInt("SenderCertSize", 4),
        UInt("ProviderInfoSize", 4),
        *_item("SecurityID", "SenderIdSize"),
        *_item("EncryptionKey", "EncryptionKeySize"),
        *_item("Signature", "SignatureSize"),
        *_item("SenderCert", "SenderCertSize"),
        When(
            Condition("SecurityHeader.ProviderInfoSize", (0,), negate=True),
            (
                UInt("SecurityData.ProviderInfo.ProviderType", 4),
                Wide("SecurityData.ProviderInfo.ProviderName", Length("ProviderInfoSize", minus=4)),
                Pad("SecurityData.ProviderInfo.Padding"),
            ),
        ),
    ),
)

DEBUG_HEADER = Section(
    "DebugHeader",
    "MS-MQMQ 2.2.20.8",
    (
        UInt("Flags", 2, bits("QT:2 X2 X3 X4 X5 X6 X7 X8 X9 X10 X11 X12 X13 X14 X15")),
        UInt("Reserved", 2),
        Choice("Queue", "DebugHeader.Flags.QT", {0: (), 1: (Guid("QueueIdentifier"),)}),
    ),
)

EXTENSION_SIZE, SUBQUEUE_SIZE, EXTENDED_ADDRESS_SIZE = 12, 148, 28
NAME_BYTES = 64  # a subqueue name, filled with NULs
DEAD_LETTER_PACKED = "dead-letter-packed"  # without the padding that the document demands

EXTENSION_HEADER = Section(
    "ExtensionHeader",
    "MS-MQRR 2.2.5.2",
    (
        UInt("HeaderSize", 4, default=EXTENSION_SIZE),
        UInt("RemainingHeadersSize", 4),
        UInt("Flags", 1, bits("DL SQ X2 DI EA X5 X6 X7")),
        Octets("Reserved", Length(fixed=3)),
    ),
)
SUBQUEUE_HEADER = Section(
    "SubqueueHeader",
    "MS-MQRR 2.2.5.3",
    (
        UInt("HeaderSize", 4, default=SUBQUEUE_SIZE),
        UInt("Marks", 4, bits("TM AcknowledgementClass:16 X17:15")),
        UInt("AbortCounter", 4),
        UInt("MoveCounter", 4),
        UInt("LastMoveTime", 4),
        Octets("SubqueueName", Length(fixed=NAME_BYTES), filled=True),
        Octets("TargetSubqueueName", Length(fixed=NAME_BYTES), filled=True),
    ),
)
DEAD_LETTER_HEADER = Section(
    "DeadLetterHeader",
    "MS-MQRR 2.2.5.4",
    (
        UInt("HeaderSize", 4),
        # UTF-16 with its NUL, kept as bytes because it includes the zeros that align it.
        Octets("DeadLetterPathName", Length("HeaderSize", minus=4), filled=True),
        Pad(not_under=DEAD_LETTER_PACKED),
    ),
)
EXTENDED_ADDRESS_HEADER = Section(
    "ExtendedAddressHeader",
    "MS-MQRR 2.2.5.5",
    (
        UInt("HeaderSize", 4, default=EXTENDED_ADDRESS_SIZE),
        UInt("AddressLength", 2),
        UInt("AddressType", 2),
        UInt("AddressScope", 4),
        Octets("Address", Length(fixed=16)),
    ),
)

PRIVATE_ID: tuple[Item, ...] = (UInt("PrivateQueueIdentifier", 4),)
PUBLIC_FORMAT: tuple[Item, ...] = (Guid("PublicQueueIdentifier"),)
PRIVATE_FORMAT: tuple[Item, ...] = (Guid("SourceQueueManager"), UInt("PrivateQueueIdentifier", 4))
# Count is in bytes with the NUL and without the padding; the name has no "DIRECT=" prefix (MS-MQQB 4.1.7).
DIRECT_FORMAT: tuple[Item, ...] = (
    UInt("Count", 2),
    Wide("DirectFormatName", Length("Count")),
    Pad("Padding"),
)

DESTINATION: dict[int, tuple[Item, ...]] = {0: (), 3: PRIVATE_ID, 5: PUBLIC_FORMAT, 7: DIRECT_FORMAT}
ADMINISTRATION: dict[int, tuple[Item, ...]] = {
    0: (),
    2: PRIVATE_ID,
    3: PRIVATE_ID,
    5: PUBLIC_FORMAT,
    6: PRIVATE_FORMAT,
    7: DIRECT_FORMAT,
}
# The prose requires a field for 1 and excludes it in the next sentence; the table decides: 0 and 1 have no field, 4 has
# an id.
RESPONSE: dict[int, tuple[Item, ...]] = {
    0: (),
    1: (),
    2: PRIVATE_ID,
    3: PRIVATE_ID,
    4: PRIVATE_ID,
    5: PUBLIC_FORMAT,
    6: PRIVATE_FORMAT,
    7: DIRECT_FORMAT,
}

USER_HEADER = Section(
    "UserHeader",
    "MS-MQMQ 2.2.19.2",
    (
        Guid("SourceQueueManager"),
        Guid("QueueManagerAddress"),
        UInt("TimeToBeReceived", 4, default=INFINITE),
        UInt("SentTime", 4),
        UInt("MessageID", 4),
        UInt("Flags", 4, bits("RC:5 DM:2 X1 JN JP DQ:3 AQ:3 RQ:3 SH TH MP CQ MQ X2 AH X3:2 HH X4:3")),
        Choice("DestinationQueue", "UserHeader.Flags.DQ", DESTINATION),
        Choice("AdminQueue", "UserHeader.Flags.AQ", ADMINISTRATION),
        Choice("ResponseQueue", "UserHeader.Flags.RQ", RESPONSE),
        When(Condition("UserHeader.Flags.CQ"), (Guid("ConnectorType"),)),
    ),
)

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

USER_MESSAGE, ORDER_ACK, FINAL_ACK, PING_KIND, MALFORMED = "UserMessage", "OrderAck", "FinalAck", "Ping", "Malformed"

# MS-MQMQ 2.2.20, with the SRMP pair where MS-MQRR 2.2.5.1 puts it. SessionHeader is last and not listed: its place
# depends on whether PacketSize counts it.
USER_MESSAGE_SECTIONS: tuple[tuple[Section, Condition | None], ...] = (
    (USER_HEADER, None),
    (TRANSACTION_HEADER, Condition("UserHeader.Flags.TH")),
    (SECURITY_HEADER, Condition("UserHeader.Flags.SH")),
    (MESSAGE_PROPERTIES_HEADER, Condition("UserHeader.Flags.MP")),
    (DEBUG_HEADER, Condition("BaseHeader.Flags.DH")),
    (SRMP_ENVELOPE_HEADER, Condition("UserHeader.Flags.AH")),
    (COMPOUND_MESSAGE_HEADER, Condition("UserHeader.Flags.AH")),
    (SOAP_HEADER, Condition("UserHeader.Flags.HH")),
    (MULTI_QUEUE_FORMAT_HEADER, Condition("UserHeader.Flags.MQ")),
)
# The sections that MS-MQRR 2.2.5 appends to a user message. The size shows the first, its flags show the others.
EXTENSION_SECTIONS: tuple[tuple[Section, Condition | None], ...] = (
    (EXTENSION_HEADER, None),
    (SUBQUEUE_HEADER, Condition("ExtensionHeader.Flags.SQ")),
    (DEAD_LETTER_HEADER, Condition("ExtensionHeader.Flags.DL")),
    (EXTENDED_ADDRESS_HEADER, Condition("ExtensionHeader.Flags.EA")),
)
# InternalHeader.Flags.PT to (kind, section that follows), MS-MQQB 2.2.1.
INTERNAL_PACKETS: dict[int, tuple[str, Section]] = {
    SESSION_ACK: ("SessionAck", SESSION_HEADER),
    ESTABLISH_CONNECTION: ("EstablishConnection", ESTABLISH_CONNECTION_HEADER),
    CONNECTION_PARAMETERS: ("ConnectionParameters", CONNECTION_PARAMETERS_HEADER),
}
ACK_BODIES: dict[str, Section] = {ORDER_ACK: ORDER_ACK_BODY, FINAL_ACK: FINAL_ACK_BODY}
ALL_SECTIONS: tuple[Section, ...] = (
    BASE_HEADER,
    INTERNAL_HEADER,
    *(section for section, _ in USER_MESSAGE_SECTIONS),
    *(section for section, _ in EXTENSION_SECTIONS),
    SESSION_HEADER,
    ESTABLISH_CONNECTION_HEADER,
    CONNECTION_PARAMETERS_HEADER,
    ORDER_ACK_BODY,
    FINAL_ACK_BODY,
    PING,
    SID,
    SIMPLE_BLOB,
    PUBLIC_KEY_BLOB,
)
SECTION: dict[str, Section] = {section.name: section for section in ALL_SECTIONS}
