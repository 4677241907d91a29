"""Which sender had which outcome how often, and which packets are to be looked at: compiled, for all are asked."""

from __future__ import annotations

from conformance.wire.columns.arrays import Compiled

USED, HIGH, LOW, OUTCOME, COUNT, FIRST, LAST = range(7)
WIDTH = 8
GUID, NAMED = 1, 2
"""What HIGH and LOW of a row are: a queue manager's identifier as it stands in the packet, or the number of a name."""
CAPACITY = 1 << 14
_MODULE = "conformance.replay.combining"
_USES = ("conformance.capture.columns.places", "conformance.replay.senders")

combine = Compiled(_MODULE, "combine", _USES)
"""See `combining.combine`."""
marked = Compiled(_MODULE, "marked", _USES)
"""See `combining.marked`."""
firsts = Compiled(_MODULE, "firsts", _USES)
"""See `combining.firsts`."""
