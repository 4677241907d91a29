"""What judging a byte range of a capture came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.replay.engine import CaptureSummary, Replay
from conformance.replay.sums import Key, Sums


@dataclass(slots=True)
class RangeResult:
    """What became of a byte range of a capture.

    replay: verdicts as `replay` has them, counted. slow: packets that were judged one by one, by reason. sessions:
    whether the rules of connections were judged too.
    joined, repeated, reordered: packets put together from several segments, and segments that came twice or too late.
    lost_bytes: of the file, that were passed over to find the next record.
    """

    path: str
    start: int
    stop: int | None
    sessions: bool
    replay: Replay
    summary: CaptureSummary
    slow: Counter[str] = field(default_factory=Counter)
    sums: Sums | None = None
    joined: int = 0
    repeated: int = 0
    reordered: int = 0
    lost_bytes: int = 0

    def senders(self) -> Mapping[str, Mapping[Key, int]]:
        """By sender and kind of verdict (requirement, outcome, readings), how many it got for its packets."""
        return self.sums.senders() if self.sums is not None else {}
