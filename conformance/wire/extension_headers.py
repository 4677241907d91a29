"""Headers that a queue manager appends to a message that is read remotely (MS-MQRR 2.2.5.2 to 2.2.5.5).

They follow the last header of MS-MQMQ, inside PacketSize; Windows Vista and later write them.
"""

from conformance.wire.layout import Length, Octets, Pad, Section, UInt, bits

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
