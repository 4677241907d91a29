"""The compiled functions of this room."""

from __future__ import annotations

from conformance.wire.columns.arrays import Compiled

_ROOM = "conformance.judge.sessions.columns"
_USES = (
    f"{_ROOM}.layout",
    f"{_ROOM}.tables",
    "conformance.judge.sessions.keys",
    "conformance.capture.columns.places",
    "conformance.capture.columns.intrinsics",
    "conformance.wire.columns.lowering",
    "conformance.wire.columns.lowering",
)

run = Compiled(f"{_ROOM}.kernel", "run", _USES)
"""See `kernel.run`."""
