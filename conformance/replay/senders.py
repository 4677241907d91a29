"""Which sender had which outcome how often, and which packets are to be looked at: compiled, for all are asked."""

from __future__ import annotations

from conformance.replay.tallying import COUNT, FIRST, GUID, HIGH, LAST, LOW, NAMED, OUTCOME, USED, WIDTH
from conformance.wire.columns.arrays import Compiled

__all__ = [
    "CAPACITY", "COUNT", "FIRST", "GUID", "HIGH", "LAST", "LOW", "NAMED", "OUTCOME", "USED", "WIDTH", "combine",
    "firsts", "marked",
]  # fmt: skip
CAPACITY = 1 << 14
_MODULE = "conformance.replay.combining"
_USES = (
    "conformance.capture.columns.places",
    "conformance.capture.columns.words",
    "conformance.replay.tallying",
    "conformance.wire.columns.lowering",
    "conformance.wire.columns.llvm_module",
)

combine = Compiled(_MODULE, "combine", _USES)
"""See `combining.combine`."""
marked = Compiled(_MODULE, "marked", _USES)
"""See `combining.marked`."""
firsts = Compiled(_MODULE, "firsts", _USES)
"""See `combining.firsts`."""
