"""Which sender had which outcome how often: a table filled as machine code, once for each packet."""

from __future__ import annotations

from conformance.wire.columns.arrays import Compiled

USED, HIGH, LOW, OUTCOME, COUNT, FIRST, LAST = range(7)
WIDTH = 8
GUID, NAMED = 1, 2
"""What HIGH and LOW of a row are: a queue manager's identifier as it stands in the packet, or the number of a name."""
CAPACITY = 1 << 14

combine = Compiled(
    "conformance.replay.combining", "combine", ("conformance.capture.columns.places", "conformance.replay.senders")
)
"""See `combining.combine`."""
