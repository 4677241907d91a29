"""Verdicts of the packet rules on the packets of a byte range, stored by the exact bytes of each packet.

The rules see one packet at a time, so verdicts on the same bytes hold wherever those occur. A range therefore need not
know how its connections began; packets that it cannot reassemble are judged with the stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from conformance.capture import Frame
from conformance.capture.ranges import read_range
from conformance.capture.reader import CaptureReading
from conformance.capture.records import RecordWalk
from conformance.captures.engine import alone
from conformance.judge.sessions.context import Readings, Seen, evidence
from conformance.pipeline.memory import freeze, thaw
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect

MAX_LOADED = 3  # Ranges whose memos are in memory: the one being read, and its neighbours.


@dataclass(slots=True)
class Memo:
    """The verdicts of a range: digest of a packet to the number of its pattern; equal patterns are stored once."""

    patterns: list[tuple[Verdict, ...]] = field(default_factory=list)
    known: dict[bytes, int] = field(default_factory=dict)


@dataclass(slots=True)
class Memos:
    """The memos of a capture, each loaded when reading reaches its range. ranges: (start, stop, file), in order."""

    ranges: Sequence[tuple[int, int, str]]
    _loaded: list[Memo] = field(default_factory=list)
    _next: int = 0

    def reach(self, offset: int) -> None:
        """Load the memos of the ranges that begin before this offset."""
        while self._next < len(self.ranges) and self.ranges[self._next][0] < offset:
            self._loaded.append(thaw(Path(self.ranges[self._next][2]).read_bytes()))
            self._next += 1
            del self._loaded[:-MAX_LOADED]

    def get(self, seen: Seen) -> list[Verdict] | None:
        """Return the stored verdicts with this packet as their subject; None if its range did not judge it."""
        if not self._loaded or seen.frame.transport == "udp":
            return None
        digest = _digest(seen.frame)
        for memo in reversed(self._loaded):
            at = memo.known.get(digest)
            if at is not None:
                return [_here(verdict, seen) for verdict in memo.patterns[at]]
        return None


def judge_range(path: str, start: int, stop: int, to: Path, *, profile: str, level: str, readings: Readings) -> int:
    """Judge the packets of a byte range that can be reassembled, write them to a file, and return their number."""
    memo = Memo()
    numbers: dict[str, int] = {}
    reading = CaptureReading()
    for record in read_range(path, start, stop, RecordWalk()):
        for event in reading.record(record):
            if not isinstance(event, Frame) or event.transport == "udp":
                continue
            digest = _digest(event)
            if digest in memo.known:
                continue
            seen = Seen(event, dissect(event.data, transport=event.transport))
            said = tuple(
                replace(one, subject="", evidence=None, frame=None) for one in alone(seen, profile, readings, level)
            )
            text = repr(said)
            at = numbers.get(text)
            if at is None:
                at = numbers[text] = len(memo.patterns)
                memo.patterns.append(said)
            memo.known[digest] = at
    to.write_bytes(freeze(memo))
    return len(memo.known)


def _here(verdict: Verdict, seen: Seen) -> Verdict:
    good = verdict.outcome is Outcome.PASS
    return replace(verdict, subject=seen.subject, frame=seen.frame_number, evidence=None if good else evidence(seen))


def _digest(frame: Frame) -> bytes:
    kind = frame.trouble.kind if frame.trouble is not None else ""
    return blake2b(frame.data, digest_size=16, person=kind[:16].encode()).digest()
