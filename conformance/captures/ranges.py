"""The result of judging a byte range of a capture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.captures.engine import CaptureSummary, Replay
from conformance.captures.verdict_counts import Key, Sums


@dataclass(slots=True)
class RangeResult:
    """The result of judging a byte range of a capture.

    replay: verdicts in the form of `replay`, counted. slow: packets that were judged one by one, by reason. sessions:
    the rules of connections were judged too. joined, repeated, reordered: packets reassembled from several segments,
    and segments that came twice or too late.
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

    def senders(self) -> Mapping[str, Mapping[Key, int]]:
        """Return by sender and kind of verdict (requirement, outcome, readings) how many its packets got."""
        return self.sums.senders() if self.sums is not None else {}
