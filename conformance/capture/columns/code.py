"""The compiled functions of this room."""

from __future__ import annotations

from conformance.wire.columns.arrays import Compiled

_USES = (
    "conformance.capture.columns.places",
    "conformance.capture.columns.streams",
    "conformance.capture.columns.fast_path",
    "conformance.capture.columns.extents",
    "conformance.capture.columns.intrinsics",
    "conformance.capture.connections",
    "conformance.capture.encapsulation",
    "conformance.capture.events",
    "conformance.capture.services",
    "conformance.wire.headers",
    "conformance.wire.columns.lowering",
    "conformance.wire.columns.lowering",
)

walk = Compiled("conformance.capture.columns.walk", "walk", _USES)
"""See `walk.walk`."""
place = Compiled("conformance.capture.columns.streams", "place", _USES)
"""See `streams.place`."""
