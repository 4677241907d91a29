"""MultiQueueFormatHeader: three MQFAddressHeaders and a MQFSignatureHeader (MS-MQMQ 2.2.20.1 to 2.2.20.3).

The format name lists are kept as bytes: their extent is certain from HeaderSize, the padding between their elements is
not stated for every kind.
"""

from conformance.wire.layout import Item, Length, Octets, Pad, Section, UInt

DESTINATION_ID, ADMINISTRATION_ID, RESPONSE_ID, SIGNATURE_ID = 0x0064, 0x00C8, 0x012C, 0x015E


def _address(name: str, header_id: int) -> tuple[Item, ...]:
    return (
        UInt(f"{name}.HeaderSize", 4),
        UInt(f"{name}.HeaderID", 2, default=header_id),
        UInt(f"{name}.Reserved", 2),
        UInt(f"{name}.ElementCount", 4),
        Octets(f"{name}.FormatNameList", Length(f"{name}.HeaderSize", minus=12)),
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
