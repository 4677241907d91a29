"""MultiQueueFormatHeader: three MQFAddressHeaders and a MQFSignatureHeader (MS-MQMQ 2.2.20.1 to 2.2.20.3).

A list of names consists of MQFFormatNameElements (2.2.18.1.4). HeaderSize determines its extent; the alignment of its
elements is a reading, which `elements` decides by the bytes.
"""

from conformance.wire.layout import Align, Elements, Ended, Guid, Item, Length, Octets, Pad, Section, UInt

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
