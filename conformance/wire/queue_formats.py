"""Queue names inside a UserHeader (MS-MQMQ 2.2.18.1.5 and 2.2.18.1.7), and which type code means which."""

from conformance.wire.layout import Guid, Item, Length, Pad, UInt, Wide

PRIVATE_ID: tuple[Item, ...] = (UInt("PrivateQueueIdentifier", 4),)
PUBLIC: tuple[Item, ...] = (Guid("PublicQueueIdentifier"),)
PRIVATE: tuple[Item, ...] = (Guid("SourceQueueManager"), UInt("PrivateQueueIdentifier", 4))
# Count is in bytes with the NUL and without the padding; the name has no "DIRECT=" in front (MS-MQQB 4.1.7).
DIRECT: tuple[Item, ...] = (
    UInt("Count", 2),
    Wide("DirectFormatName", Length("Count")),
    Pad("Padding"),
)

DESTINATION: dict[int, tuple[Item, ...]] = {0: (), 3: PRIVATE_ID, 5: PUBLIC, 7: DIRECT}
ADMINISTRATION: dict[int, tuple[Item, ...]] = {0: (), 2: PRIVATE_ID, 3: PRIVATE_ID, 5: PUBLIC, 6: PRIVATE, 7: DIRECT}
# The prose wants a field for 1 and in the next sentence none; the table settles it: 0 and 1 have no field, 4 has an id.
RESPONSE: dict[int, tuple[Item, ...]] = {
    0: (),
    1: (),
    2: PRIVATE_ID,
    3: PRIVATE_ID,
    4: PRIVATE_ID,
    5: PUBLIC,
    6: PRIVATE,
    7: DIRECT,
}
