"""Judge the connections of one bucket: some groups of a stream, in the order of its packets, as if all were judged."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

import pyarrow as pa

from conformance.capture import Ended, Frame
from conformance.capture.columns.reader import FastCapture
from conformance.captures.defects import Trouble, contained
from conformance.captures.followed import Followed, Key
from conformance.captures.in_place import InPlace
from conformance.captures.judge import PACKET, SESSION, BySessions, CaptureJudge, Told
from conformance.judge.packets.causes import TRIES
from conformance.judge.sessions.columns.conversion import plain as judge_one_by_one
from conformance.judge.sessions.columns.judge import ColumnSessions
from conformance.judge.sessions.columns.parts import Marks, PartNotes, PartSessions
from conformance.judge.sessions.context import Seen
from conformance.judge.sessions.judge import SessionJudge
from conformance.judge.sessions.keys import FREQUENT
from conformance.judge.sessions.overheard import Refuted
from conformance.pipeline.connections_facts import PER_STREAM, Broken, Facts, parting_at
from conformance.pipeline.connections_server import Overheard
from conformance.pipeline.connections_walk import Clocked, Parting
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Part
from conformance.pipeline.memory import collected_seldom, packed, settle, unpacked
from conformance.pipeline.rows import Rows, day
from conformance.pipeline.rows_writer import Teller, whose_was
from conformance.pipeline.streams import State, StreamJudge
from conformance.pipeline.tables_sink import ArrowTables, Connection
from conformance.runlog import Incomplete
from conformance.runlog.incomplete import COMPLETE
from conformance.verdict import Verdict

RESULT = pa.schema([pa.field("done", pa.binary()), pa.field("place", pa.string())])
"""done: a `BucketDone`. place: where it is instead, if it is large: with the state of its connections it may have
hundreds of megabytes, more than Spark returns in one answer.
"""
MOST_ROW = 1 << 20
"""Bytes of a `BucketDone` in a row, at most."""


@dataclass(frozen=True, slots=True)
class Held:
    """A packet with a verdict that may be another bucket's to tell. told: all that was said of it.

    capture: its index. first: by requirement, whether the verdict is told depends on the other buckets.
    """

    capture: int
    frame: Frame
    sender: str
    alone: Sequence[Verdict | Key]
    more: Sequence[Verdict | Key]
    counted: bool
    first: tuple[str, ...]


@dataclass(slots=True)
class Said:
    """The result of a bucket about a capture, or about what follows the last one. single: verdicts with rows.

    tries: of the search for causes.
    """

    packets: int = 0
    lost: int = 0
    lacking: Incomplete = COMPLETE
    single: int = 0
    tries: int = 0


@dataclass(slots=True)
class BucketDone:
    """The result of a bucket. place: of the stream's `Parting`. said: by capture; expired, ended: what follows.

    trouble: why it was judged in part, in which case nothing else counts. judge, open, followed_then: the state that is
    kept, if it is; followed: at the end. crowded: it has judged a sender as a whole before the end.
    """

    place: str
    bucket: int = 0
    parts: Sequence[Part] = ()
    said: dict[int, Said] = field(default_factory=dict)
    expired: Said = field(default_factory=Said)
    ended: Said = field(default_factory=Said)
    outcomes: Counter[str] = field(default_factory=Counter)
    followed: Followed = field(default_factory=Followed)
    followed_then: Followed = field(default_factory=Followed)
    held: list[Held] = field(default_factory=list)
    open: dict[int, Connection] = field(default_factory=dict)
    marks: Marks = field(default_factory=Marks)
    judge: SessionJudge | None = None
    trouble: str | None = None
    crowded: bool = False


class _Sink(ArrowTables):
    """Holds back the packets with a verdict that is told once a capture."""

    notes: PartNotes
    done: BucketDone
    capture: int

    def packet(self, seen: Seen, sender: str, told: Told, *, counted: bool = False) -> bool:
        """See `ArrowTables.packet`."""
        firsts = {id(one): name for name, one in self.notes.first.items()}
        names = tuple(firsts[id(one)] for one in told[SESSION] if id(one) in firsts)
        if not names:
            return super().packet(seen, sender, told, counted=counted)
        frame = seen.frame
        self.now_ns = frame.time_ns
        if not counted:
            self._traffic(frame)
        self.own.add(seen.frame_number)
        alone, more = list(told[PACKET]), list(told[SESSION])
        self.done.held.append(Held(self.capture, frame, sender, alone, more, counted, names))
        return False

    def _forget(self) -> None:
        before = len(self.followed.senders)
        super()._forget()
        self.done.crowded = self.done.crowded or len(self.followed.senders) < before

    def late(self, verdicts: Iterable[Verdict | Key], now_ns: int) -> None:
        """Write verdicts on earlier packets that a packet of another bucket allows."""
        self.now_ns = now_ns
        for verdict in verdicts:
            if isinstance(verdict, Verdict):
                self.teller.verdict(verdict, whose_was(verdict, now_ns))


class _InPlace(InPlace):
    """Lets time pass as the packets of the whole stream do."""

    clocks: dict[int, Clocked]
    part: PartSessions

    def _event(self, before: int, event: Any) -> None:
        if isinstance(event, Overheard):
            self.part.hear(event.event)
            return
        clock = self.clocks[id(event)]
        with_clock(self.judge, clock, lambda: super(_InPlace, self)._event(before, event))


@dataclass(slots=True)
class _Senders(BySessions):
    """Notes which queue managers packets name."""

    part: PartSessions | None = None

    def see(self, seen: Seen) -> None:
        """See `BySessions.see`."""
        BySessions.see(self, seen)
        if self.part is not None and seen.kind not in FREQUENT:
            self.part.see(seen)


def with_clock(judge: CaptureJudge, clock: Clocked, go: Callable[[], object]) -> None:
    """Judge an event: before it what the packet before it decides, then what the next one does."""
    if clock.before_ns is not None:
        pass_time(judge, clock.before_ns)
    go()
    if clock.after_ns is not None:
        unsettled(judge, clock.after_ns)


def pass_time(judge: CaptureJudge, now_ns: int) -> None:
    """Tell what stands, as a packet of this time lets it be told."""
    sessions = judge.session_rules
    assert sessions is not None and isinstance(judge.sink, _Sink)
    if sessions.judge.ripe(now_ns):
        judge.sink.late(judge.levelled(sessions.judge.pass_time(now_ns)), now_ns)


def unsettled(judge: CaptureJudge, now_ns: int) -> None:
    """Tell what does not stand any more: the next packet, of this time, lets it be told."""
    sessions = judge.session_rules
    assert sessions is not None and isinstance(judge.sink, _Sink)
    judge.sink.late(judge.levelled(sessions.judge.pass_time(0)), now_ns)


class _Bucket:
    """One bucket while it is judged."""

    def __init__(self, parting: Parting, place: str, bucket: int, rows: Rows) -> None:
        self.parting, self.bucket, self.rows = parting, bucket, rows
        self.done = BucketDone(place, bucket)
        self.judge = StreamJudge(parting.how, rows, True, sink_of=_Sink, in_place_of=_InPlace)
        columns = self.judge.sessions()
        assert isinstance(columns, ColumnSessions)
        self.columns = columns
        self.part = PartSessions(columns, parting.how.readings, parting.buckets.crossing)
        self.state = State(parting.stream, parting.path, columns)
        self.refuted = _refuted(parting)

    def capture(self, at: int, found: Iterable[Facts]) -> None:
        """Judge the packets of one capture."""
        read = self.parting.captures[at]
        self.columns.settle()  # The bytes of the capture before go.
        self.state.position = at + 1
        judge, sink, teller = self._begun(at)
        if read.first_packet_ns is not None:
            unsettled(judge, read.first_packet_ns)
        into = judge.in_place
        assert isinstance(into, _InPlace)
        into.part = self.part
        file = FastCapture(read.probe.path, read.probe.version)
        into.owner = file
        for one in found:
            into.clocks = {id(clock.event): clock for clock in one.events}
            last, more = one.last, []
            while self.refuted and self.refuted[0].number < last:
                refuted = self.refuted.popleft()
                more.append((refuted.number + 1, Overheard(refuted)))
            file.intact()
            into.batch(one.batch(file.bytes, more))
        file.intact()
        if read.last_packet_ns is not None:
            pass_time(judge, read.last_packet_ns)
        judge.end()
        self.state.last_ns = max(self.state.last_ns, read.last_ns or 0)
        self.done.said[at] = self._said(judge, sink, teller)

    def without(self, at: int) -> None:
        """Let the time of a capture pass in which the bucket has nothing."""
        if self.part.notes.suspicions:
            self.capture(at, ())

    def behind(self, events: Sequence[Clocked], *, end: bool) -> None:
        """Judge what follows the last record."""
        at = len(self.parting.captures) - 1
        self.state.last_ns = self.parting.last_ns
        judge, sink, teller = self._begun(at, end=end)
        for one in events:
            if isinstance(one.event, Overheard):
                self.part.hear(one.event.event)
                continue
            if isinstance(one.event, Ended):
                sink.now_ns = self.parting.end_ns
                self._sessions().reached = self.parting.reached
            with_clock(judge, one, partial(judge.event, one.event))
        judge.end()
        said = self._said(judge, sink, teller)
        self.done.ended, self.done.expired = (said, self.done.expired) if end else (self.done.ended, said)

    def _sessions(self) -> SessionJudge:
        sessions = self.state.sessions
        assert sessions is not None
        return sessions.sessions if isinstance(sessions, ColumnSessions) else sessions

    def _begun(self, at: int, *, end: bool = False) -> tuple[CaptureJudge, _Sink, Teller]:
        probe, parting = self.parting.captures[at].probe, self.parting
        part = parting.stream if end and parting.keep else None
        teller = Teller(
            self.rows, str(probe.capture), parting.stream, day(probe.first_ns), parting.how.every_packet, at_end=end,
            part=part,
        )  # fmt: skip
        judge, sink = self.judge.judge(self.state, teller)
        assert isinstance(sink, _Sink) and isinstance(judge.senders, BySessions)
        judge.senders = _Senders(judge.senders.judge, judge.senders.ends, self.part)
        sink.notes, sink.done, sink.capture = self.part.notes, self.done, at
        return judge, sink, teller

    def _said(self, judge: CaptureJudge, sink: _Sink, teller: Teller) -> Said:
        teller.close()
        self.done.outcomes.update(teller.outcomes)
        summary, rules = judge.summary, judge.packet_rules
        assert rules is not None
        return Said(summary.packets, summary.lost, summary.incomplete, teller.single, TRIES - rules.search.left)

    def finish(self) -> None:
        """Judge the end, and take what is left."""
        parting, done = self.parting, self.done
        last = len(parting.captures) - 1
        for at in range(max(done.said, default=-1) + 1, last + 1):
            self.without(at)
        for refuted in self.refuted:
            self.part.hear(refuted)
        if parting.keep:
            self.behind(parting.expired.get(self.bucket, ()), end=False)
        done.marks = self.part.marks(parting.reached)
        if parting.keep:
            self.state.sessions = judge_one_by_one(self.columns)
            kept = self.state.sessions, self.state.open, self.state.followed
            done.judge, done.open, done.followed_then = next(unpacked(packed(kept)))
        over = [one for one in parting.ended.get(0, ()) if isinstance(one.event, Ended)]
        mine = [one for one in parting.ended.get(self.bucket, ()) if not isinstance(one.event, Ended)]
        self.behind([*mine, *over], end=True)
        done.followed = self.state.followed


def _refuted(parting: Parting) -> deque[Refuted]:
    """Return what all buckets must know of the sequences of queue managers, in the order of packets."""
    found: dict[tuple[int, str], list[str]] = {}
    for (source, scope), number in sorted(parting.refuted.items()):
        found.setdefault((number, source), []).append(scope)
    return deque(Refuted(source, tuple(scopes), number) for (number, source), scopes in sorted(found.items()))


def judge_buckets(target: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Judge the buckets whose facts these are, bucket by bucket."""
    found = (
        (bucket, place, data)
        for batch in batches
        for bucket, place, data in zip(
            batch.column("bucket").to_pylist(), batch.column("stream").to_pylist(), batch.column("facts"), strict=True
        )
    )
    for (bucket, place), run in groupby(found, key=lambda one: one[:2]):
        facts = (_sound(one) for _, _, data in run for one in unpacked(data.as_py()))
        parting, number = parting_at(place, target), bucket % PER_STREAM
        data: bytes | None = packed(_judged(parting, place, number, facts))
        carried = None
        if data is not None and len(data) > MOST_ROW:
            name = f"{parting.stream}-{number:05}-{os.getpid()}-{os.urandom(3).hex()}.done"
            data, carried = None, target.carry(name, data)
        yield pa.RecordBatch.from_arrays([pa.array([data], pa.binary()), pa.array([carried])], schema=RESULT)


class _BrokenError(Exception):
    """Raised where facts end before their time."""


def _sound(one: Facts | Broken) -> Facts:
    if isinstance(one, Broken):
        raise _BrokenError(one.reason)
    return one


def _judged(parting: Parting, place: str, bucket: int, facts: Iterator[Facts]) -> BucketDone:
    """Judge one bucket; what it cannot be judged for is its trouble."""
    name = f"part-{parting.how.batch}-{parting.stream}-{bucket:05}-{os.getpid()}-{os.urandom(3).hex()}"
    rows = Rows(parting.target, name)
    trouble = Trouble()
    one = None
    broken = None
    try:
        with (
            collected_seldom(),
            contained(parting.path, trouble, through=(PipelineError, _BrokenError), records_before=0),
        ):
            one = _Bucket(parting, place, bucket, rows)
            at = -1
            for capture, run in groupby(facts, key=lambda found: found.capture):
                while (at := at + 1) < capture:
                    one.without(at)
                one.capture(capture, run)
            one.finish()
    except _BrokenError as problem:
        broken = str(problem)
    parts = rows.close()
    settle()
    if one is None or (broken := broken or trouble.cut) is not None:
        return BucketDone(place, bucket, parts, trouble=broken or "it could not be begun")
    one.done.parts = parts
    return one.done
