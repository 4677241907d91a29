"""Judge captures: `engine` judges, `selection` filters packets, `against` gives messages to an implementation.

`recorded` does all of it in one function, which `conformance.replay(...)` calls.
"""

from conformance.captures.engine import Counted, JudgedPacket, Replay, destination
from conformance.captures.packet_judge import replay
from conformance.captures.replay_run import Replayed, replay_captures
from conformance.captures.summary import CaptureSummary

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
