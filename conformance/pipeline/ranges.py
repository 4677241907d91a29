"""Ranges of a stream for the packet rules alone: a walk cuts it, and each range is judged from the state at its border.

First a walk reads the stream from end to end without judging, which is a small part of the work. At the border of each
range it saves the state of all connections. Then any core can judge each range from its border, with the same result
as if everything before it had been judged too.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from conformance.capture.columns.reader import FastCapture
from conformance.capture.columns.reader import warm as warm_walk
from conformance.capture.reader import CaptureReading
from conformance.captures import counting
from conformance.captures.in_place import InPlace, code_for
from conformance.captures.judge import CaptureJudge, CountingSink
from conformance.captures.packet_rules import PacketRules
from conformance.captures.senders import ByOpenings, End, Ends
from conformance.captures.sinks import Silent
from conformance.captures.summary import CaptureSummary
from conformance.judge.sessions.columns.judge import ColumnSessions
from conformance.judge.sessions.context import Readings
from conformance.judge.sessions.pings import Pings
from conformance.pipeline.texts import KEYS
from conformance.spec.versions import DEFAULT_PROFILE


@dataclass(slots=True)
class Carry:
    """The state of a stream at a border: its connections, their senders, and the pings so far."""

    reading: CaptureReading = field(default_factory=CaptureReading)
    ends: dict[int, End] = field(default_factory=dict)
    pings: Pings = field(default_factory=Pings)

    @property
    def records(self) -> int:
        """Records so far."""
        return self.reading.records


@dataclass(slots=True)
class Span:
    """The progress of a walk over a range. position: where the next range begins."""

    position: int = 0
    records: int = 0
    cut: str | None = None
    time_ns: int = 0


def packets_alone(path: str, rules: PacketRules, sink: CountingSink, *, silent: bool = False) -> CaptureJudge:
    """Return a judge of packets alone, without a reader. silent: it only finds out who the senders are."""
    senders = ByOpenings(Ends(), rules.readings)
    judge = CaptureJudge((), None if silent else rules, None, senders, sink, CaptureSummary(path))
    judge.in_place = InPlace(judge, rules, sink, senders.ends, silent=silent)
    return judge


def walker(path: str, readings: Readings) -> CaptureJudge:
    """Return a judge that reads only what identifies the senders of a connection, and judges nothing."""
    return packets_alone(path, PacketRules(DEFAULT_PROFILE, readings), Silent(KEYS), silent=True)


def judge_span(
    path: str,
    start: int,
    stop: int,
    carry: Carry,
    before: int,
    judge: CaptureJudge,
    span: Span,
    *,
    finish: bool = False,
    version: str | None = None,
) -> None:
    """Judge the records of a range that begins at a record, and skip damage.

    carry: the state before the range; it is used up, and replaced by that after the range. before: number of records in
    files before this one. judge: of packets alone. finish: end the stream instead of reading records.
    version: of the file that is meant. Raises OSError.
    """
    senders = judge.senders
    assert isinstance(senders, ByOpenings)
    senders.take(carry.ends, carry.pings)
    capture = FastCapture(path, version)
    judge.reader = capture.batches(start, stop, after=carry.reading, before=before, finish=finish)
    judge.read()
    if finish:
        return
    assert capture.left is not None
    span.records, span.position, span.cut = capture.left.records, capture.position, capture.cut
    span.time_ns = capture.time_ns or span.time_ns
    carry.reading, carry.ends = capture.left, senders.left()


def warm(connections: Readings | None) -> None:
    """Compile missing code in this process, with a message, before the workers need it, each for itself.

    connections: the readings, where the rules of connections are judged too.
    """
    code = code_for(sessions=connections is not None, keys=KEYS)
    code.warm()
    warm_walk()
    counting.wanted().function()
    if connections is not None:
        ColumnSessions(connections, code.chunks.columns).warm()


def walkable(path: str) -> bool:
    """Tell whether the walk can read a file in place."""
    try:
        FastCapture(path)
    except (OSError, ValueError):
        return False
    return True
