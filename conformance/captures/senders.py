"""Compiled functions that count outcomes by sender and find packets to be judged one by one, loaded on first use."""

from __future__ import annotations

from conformance.captures.sender_table import COUNT, FIRST, GUID, HIGH, LAST, LOW, NAMED, OUTCOME, USED, WIDTH
from conformance.wire.columns.arrays import Compiled

__all__ = [
    "CAPACITY", "COUNT", "FIRST", "GUID", "HIGH", "LAST", "LOW", "NAMED", "OUTCOME", "USED", "WIDTH", "combine",
    "firsts", "marked",
]  # fmt: skip
CAPACITY = 1 << 14
_MODULE = "conformance.captures.combining"
_USES = (
    "conformance.capture.columns.places",
    "conformance.capture.columns.intrinsics",
    "conformance.captures.sender_table",
    "conformance.wire.columns.lowering",
    "conformance.wire.columns.llvm_module",
)

combine = Compiled(_MODULE, "combine", _USES)
"""See `combining.combine`."""
marked = Compiled(_MODULE, "marked", _USES)
"""See `combining.marked`."""
firsts = Compiled(_MODULE, "firsts", _USES)
"""See `combining.firsts`."""
