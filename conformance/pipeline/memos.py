"""What the packet rules say of the packets of a byte range, kept by the very bytes of each packet.

The rules see one packet at a time, so what was said of these bytes is true wherever they stand: a range need not know
how the connections in it began, and what it cannot put together is judged when the stream is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from conformance.capture import Frame
from conformance.capture.ranges import Walk, read_range
from conformance.capture.reader import Reading
from conformance.judge.session_context import Readings, Seen, evidence
from conformance.pipeline.memory import freeze, thaw
from conformance.replay.engine import alone
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect

MAX_LOADED = 3  # Ranges whose memos are held at once: the one being read, and those beside it.


@dataclass(slots=True)
class Memo:
    """The verdicts of a range: digest of a packet to the number of its pattern; equal patterns are kept once."""

    patterns: list[tuple[Verdict, ...]] = field(default_factory=list)
    known: dict[bytes, int] = field(default_factory=dict)


@dataclass(slots=True)
class Memos:
    """The memos of a capture, each loaded when the reading gets there. ranges: (start, stop, file) in their order."""

    ranges: Sequence[tuple[int, int, str]]
    _loaded: list[Memo] = field(default_factory=list)
    _next: int = 0

    def reach(self, offset: int) -> None:
        """The capture is read up to this offset."""
        while self._next < len(self.ranges) and self.ranges[self._next][0] < offset:
            self._loaded.append(thaw(Path(self.ranges[self._next][2]).read_bytes()))
            self._next += 1
            del self._loaded[:-MAX_LOADED]

    def get(self, seen: Seen) -> list[Verdict] | None:
        """What was said of this packet, as if it had been said here; None when it was not judged in its range."""
        if not self._loaded or seen.frame.transport == "udp":
            return None
        digest = _digest(seen.frame)
        for memo in reversed(self._loaded):
            at = memo.known.get(digest)
            if at is not None:
                return [_here(verdict, seen) for verdict in memo.patterns[at]]
        return None


def judge_range(path: str, start: int, stop: int, to: Path, *, profile: str, level: str, readings: Readings) -> int:
    """Judge what packets can be put together of a byte range, write it to a file; returns how many there were."""
    memo = Memo()
    numbers: dict[str, int] = {}
    reading = Reading()
    for record in read_range(path, start, stop, Walk()):
        for event in reading.record(record):
            if not isinstance(event, Frame) or event.transport == "udp":
                continue
            digest = _digest(event)
            if digest in memo.known:
                continue
            seen = Seen(event, dissect(event.data, transport=event.transport))
            said = tuple(replace(one, subject="", evidence=None) for one in alone(seen, profile, readings, level))
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
    return replace(verdict, subject=seen.subject, evidence=None if good else evidence(seen))


def _digest(frame: Frame) -> bytes:
    kind = frame.trouble.kind if frame.trouble is not None else ""
    return blake2b(frame.data, digest_size=16, person=kind[:16].encode()).digest()
