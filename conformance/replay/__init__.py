"""The public names of `conformance.captures`: calling this module, `conformance.replay(...)`, judges captures."""

from conformance.calling import calls
from conformance.captures import (
    CaptureSummary,
    Counted,
    JudgedPacket,
    Replay,
    Replayed,
    destination,
    replay,
    replay_captures,
)

__all__ = [
    "CaptureSummary",
    "Counted",
    "JudgedPacket",
    "Replay",
    "Replayed",
    "destination",
    "replay",
    "replay_captures",
]

calls(__name__, "replay_captures")
