"""Queue names inside a UserHeader (MS-MQMQ 2.2.18.1.5 and 2.2.18.1.7), by type code."""

from conformance.wire.layout import Guid, Item, Length, Pad, UInt, Wide

PRIVATE_ID: tuple[Item, ...] = (UInt("PrivateQueueIdentifier", 4),)
PUBLIC: tuple[Item, ...] = (Guid("PublicQueueIdentifier"),)
PRIVATE: tuple[Item, ...] = (Guid("SourceQueueManager"), UInt("PrivateQueueIdentifier", 4))
# Count is in bytes with the NUL and without the padding; the name has no "DIRECT=" prefix (MS-MQQB 4.1.7).
DIRECT: tuple[Item, ...] = (
    UInt("Count", 2),
    Wide("DirectFormatName", Length("Count")),
    Pad("Padding"),
)

DESTINATION: dict[int, tuple[Item, ...]] = {0: (), 3: PRIVATE_ID, 5: PUBLIC, 7: DIRECT}
ADMINISTRATION: dict[int, tuple[Item, ...]] = {0: (), 2: PRIVATE_ID, 3: PRIVATE_ID, 5: PUBLIC, 6: PRIVATE, 7: DIRECT}
# The prose requires a field for 1 and excludes it in the next sentence; the table decides: 0 and 1 have no field, 4 has
# an id.
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
