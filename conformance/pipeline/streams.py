"""Readers of a capture that goes on from the state of its stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.util import find_spec

from conformance import __version__
from conformance.capture import CaptureError, Event, Passed
from conformance.capture.addresses import is_stored
from conformance.capture.columns.reader import Batch, FastCapture
from conformance.capture.files import Spool, open_file
from conformance.capture.reader import CaptureReading
from conformance.capture.records import Record, RecordWalk, read_records
from conformance.captures.batch_judge import InPlace
from conformance.captures.batches import gathered
from conformance.captures.defects import Trouble, contained
from conformance.captures.judge import BySessions, CaptureJudge, NotOurs, OneSide, SessionRules, Sink, as_noticed
from conformance.captures.packet_rules import PacketRules
from conformance.captures.sender_readings import Followed
from conformance.captures.senders import ByOpenings, End, Ends
from conformance.captures.summary import CaptureSummary
from conformance.judge.sessions.columns.judge import ColumnSessions
from conformance.judge.sessions.columns.judge import plain as judge_one_by_one
from conformance.judge.sessions.judge import SessionJudge
from conformance.judge.sessions.packets import Pings
from conformance.pipeline.identity import Grouping, Probe
from conformance.pipeline.rows import Row, Rows, dated, day, moment, plain, texts
from conformance.pipeline.schemas import add, columns_of, incomplete_of
from conformance.pipeline.state import dump, load, restore
from conformance.pipeline.tables_sink import ArrowTables, Connection, Teller, columns_with
from conformance.pipeline.untrusted_files import PipelineError
from conformance.runlog import Incomplete
from conformance.runlog.counts import COMPLETE
from conformance.wire.columns.extra import NEEDED


@dataclass(slots=True)
class Read:
    """The result of reading a capture. first_ns, last_ns: times of the first record and the last.

    walk: of the records that are read one by one.
    """

    first_ns: int | None = None
    last_ns: int | None = None
    cut: str | None = None
    walk: RecordWalk = field(default_factory=RecordWalk)


def continued(state: State, path: str, version: str | None, read: Read) -> Iterator[Event]:
    """Yield the events of a file, record by record. version: the one that is meant.

    The whole of an object is copied before the first event. Raises UnavailableError, and CaptureError.
    """
    file = open_file(path, version)
    spool = Spool(file) if is_stored(path) else None
    walk, reading = read.walk, state.reading
    before, read.first_ns = reading.records, None
    try:
        for record in read_records(path, walk, raw=spool.whole() if spool is not None else None):
            read.first_ns = record.time_ns if read.first_ns is None else read.first_ns
            read.last_ns = record.time_ns
            numbered = Record(before + record.number, record.time_ns, record.link, record.data, record.length)
            yield from reading.record(numbered)
        read.cut = walk.cut
        reading.skipped.update(walk.unused)
        if walk.damaged:
            yield Passed(reading.records, walk.damaged)
        if spool is None:
            file.check()
    finally:
        file.close()


def in_place(state: State, capture: FastCapture, read: Read) -> Iterator[Batch]:
    """Yield the packets of a file where they are. The state is replaced when all are read."""
    for batch in capture.batches(after=state.reading, before=state.reading.records, finish=False):
        read.last_ns = capture.time_ns or read.last_ns
        yield batch
    assert capture.left is not None
    state.reading = capture.left
    read.last_ns, read.cut = capture.time_ns or None, capture.cut


KEPT = 100
"""Verdicts other than pass of one capture that have a row of their own where packets are judged alone.

For each kind (requirement, outcome, readings), EACH verdicts always have one. Judging one packet by itself takes as
long as judging a thousand in a batch.
"""
HOLD_NS = 200_000_000  # How much earlier than the end of one file the next one may begin.
SILENT_NS = 7_200_000_000_000  # The longest silence of a connection with keep-alive (RFC 1122 4.2.3.6).


@dataclass(frozen=True, slots=True)
class How:
    """The settings of an ingest, the same for all captures. readings: accepted alternatives, the default first.

    sessions: judge the rules of connections too, not only those of packets. keep: the state of every stream, also of
    those whose names do not show that they are part of a set.
    """

    profile: str
    level: str
    reading_set: str
    readings: Mapping[str, tuple[str, ...]]
    every_packet: bool
    sessions: bool
    stream: Grouping = "auto"
    keep: bool = False
    batch: str = ""


@dataclass(slots=True)
class State:
    """The state of a stream. pending: the row of its last capture, without what the provisional end adds.

    sessions: the rules of connections, None where packets are judged alone; then ends and pings tell senders. followed:
    how its senders read the documents. open: the facts for the rows of its open connections.
    """

    stream: str
    path: str
    sessions: SessionJudge | ColumnSessions | None
    reading: CaptureReading = field(default_factory=CaptureReading)
    ends: dict[int, End] = field(default_factory=dict)
    pings: Pings = field(default_factory=Pings)
    followed: Followed = field(default_factory=Followed)
    open: dict[int, Connection] = field(default_factory=dict)
    position: int = 0
    last_ns: int = 0
    pending: Row | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """The kept state of a stream. key: common to its files. state: its place. last_ns: time of its latest record."""

    key: str
    stream: str
    state: str
    last_ns: int


@dataclass(frozen=True, slots=True)
class StreamWork:
    """One stream to judge. resume: place of its kept state. keep: it can continue after this ingest."""

    key: str
    captures: Sequence[Probe]
    resume: str | None = None
    keep: bool = False


@dataclass(frozen=True, slots=True)
class StreamDone:
    """The result of a stream. captures: those in the lake now. gone: those no longer readable, with the reason.

    ended: the stream whose parts about its provisional end are no longer valid. defects: those of `captures` that were
    judged only in part.
    """

    captures: Sequence[str]
    gone: Sequence[Probe] = ()
    kept: Kept | None = None
    ended: str | None = None
    packets: int = 0
    records: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    incomplete: Incomplete = COMPLETE
    defects: Sequence[Probe] = ()


def judge_stream(work: StreamWork, how: How, rows: Rows, note: Callable[[str], None] = lambda path: None) -> StreamDone:
    """Judge the captures of a stream and write their rows. Raises PipelineError for damaged kept state.

    A capture that hits a defect of the harness ends its stream: those after it begin another one. note: told of each
    capture before it is judged.
    """
    own_end = None
    if any(one.ours for one in work.captures):
        own_end = NotOurs(RecordWalk(), CaptureSummary(work.captures[0].path))
    judge = StreamJudge(how, rows, own_end is None and all(map(in_columns, work.captures)), own_end)
    found = load(rows.out.kept(work.resume)) if work.resume else None
    state = found if isinstance(found, State) and (found.sessions is not None) == judge.connected else None
    if state is not None and isinstance(state.sessions, SessionJudge):
        restore(state.sessions)
    ended = state.stream if state is not None else None
    if state is not None and judge.compiled and isinstance(state.sessions, SessionJudge):
        state.sessions = ColumnSessions(how.readings, columns_with(sessions=True), state.sessions)
    main: _Told | None = None
    captures: list[str] = []
    gone: list[Probe] = []
    defects: list[Probe] = []
    broken = False
    for probe in work.captures:
        assert probe.capture is not None
        own = probe.first_ns is None or (state is not None and probe.first_ns < state.last_ns - HOLD_NS)
        if own or state is None:
            into = State(probe.capture, probe.path, judge.sessions())
            state = state if own else into
        else:
            into = state
        note(probe.path)
        told = judge.capture(into, probe)
        if not told.row:
            gone.append(replace(probe, error=told.trouble.unread, again=told.touched))
            if state is into and not into.position:
                state = None  # A stream has the name of its first capture, which this one is not.
            continue
        if not own and main is not None:
            rows.add("captures", main.row)
            judge.incomplete += incomplete_of(main.row)
        elif not own and into.pending is not None:
            rows.add("captures", into.pending)
        captures.append(probe.capture)
        if own or told.trouble.defect is not None:
            judge.finish(told, None)
        else:
            main = told
        if told.trouble.defect is not None:
            defects.append(probe.broken(told.trouble.defect))
            if not own:
                state, main, broken = None, None, True
    kept = None
    if main is None and not broken:
        ended = None  # No capture continued it.
    if main is not None:
        if work.keep:
            kept = judge.keep(work.key, main)
        judge.finish(main, main.state.stream if kept is not None else None)
        if main.trouble.defect is not None:
            defects.append(main.probe.broken(main.trouble.defect))
            kept = None
    return StreamDone(
        captures, gone, kept, ended, judge.packets, judge.records, judge.outcomes, judge.incomplete, defects
    )


@dataclass(slots=True)
class _Told:
    """A capture that was judged. before: records of its stream before it. touched: a part of it was judged."""

    state: State
    probe: Probe
    before: int
    row: Row = field(default_factory=dict)
    trouble: Trouble = field(default_factory=Trouble)
    touched: bool = True


@dataclass(slots=True)
class StreamJudge:
    """Judges the captures of a stream. compiled: by compiled code.

    own_end: of a recording in which one end is left out. It is a stream by itself, judged packet by packet, and the
    same judge of that side sees it from its first record to its end.
    """

    how: How
    rows: Rows
    compiled: bool
    own_end: NotOurs | None = None
    packets: int = 0
    records: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    incomplete: Incomplete = COMPLETE
    _side: OneSide | None = None

    @property
    def connected(self) -> bool:
        """Return True if rules follow the connections; without compiled code they always do."""
        return self.how.sessions or not self.compiled

    def sessions(self) -> SessionJudge | ColumnSessions | None:
        """Return the rules of connections of a new stream."""
        if self.compiled and self.connected:
            return ColumnSessions(self.how.readings, columns_with(sessions=True))
        return SessionJudge(self.how.readings, counting=self.own_end is None) if self.connected else None

    def capture(self, state: State, probe: Probe) -> _Told:
        """Judge one capture, up to its last record."""
        assert probe.capture is not None
        before, skipped = state.reading.records, Counter(state.reading.skipped)
        state.position += 1
        teller = self._teller(state, probe.capture, day(probe.first_ns))
        told, read = _Told(state, probe, before), Read(probe.first_ns)
        if self.own_end is not None:
            read.walk = self.own_end.walk
        judge, _ = self.judge(state, teller)
        with self._contained(told):
            if isinstance(state.sessions, ColumnSessions):
                state.sessions.settle()  # The bytes of the capture before go.
            judge.reader = self._reader(state, probe, read, judge.in_place)
            judge.read()
        begun = judge.in_place is not None and getattr(judge.in_place.owner, "begun", False)
        with self._contained(told):
            judge.end()
        summary, trouble = judge.summary, told.trouble
        if isinstance(judge.senders, ByOpenings):
            state.ends = judge.senders.left()
        told.touched = bool(state.reading.records != before or summary.packets or (begun and trouble.again))
        if trouble.unread is not None and (trouble.again or not told.touched):
            state.position -= 1
            return told
        cut = read.cut or trouble.cut
        state.last_ns = max(state.last_ns, read.last_ns or 0)
        reading = state.reading
        records = max(reading.records - before, trouble.record)
        slow = judge.in_place.slow if judge.in_place is not None and not self.how.sessions else Counter[str]()
        judge.in_place = None  # It has megabytes, in a circle that is collected late.
        first_ns, last_ns = dated(read.first_ns), dated(read.last_ns)
        told.row = {
            "capture_id": probe.capture,
            "stream_id": state.stream,
            "position": state.position,
            "path": plain(probe.path),
            "bytes": probe.size,
            "format": probe.format,
            "date": day(probe.first_ns),
            "first_time": None if first_ns is None else moment(first_ns),
            "last_time": None if last_ns is None else moment(last_ns),
            "records": records,
            "packets": summary.packets,
            "lost_bytes": summary.lost,
            "skipped": texts(reading.skipped - skipped),
            "cut": cut,
            **columns_of(summary.incomplete + Incomplete(cut=int(cut is not None))),
            "handed_over": texts(slow),
            "profile": self.how.profile,
            "level": self.how.level,
            "reading_set": self.how.reading_set,
            "judged_by": __version__,
            "ingested_at": datetime.now(UTC),
            "batch": self.how.batch,
            "first_ns": first_ns,
            "last_ns": last_ns,
            "object": probe.alias,
        }
        self._close(teller, summary)
        self.records += records
        return told

    def _contained(self, told: _Told) -> AbstractContextManager[None]:
        """Collect a failure that the capture causes in its `trouble`; a failure to write is raised."""
        through = (PipelineError,)
        return contained(told.probe.path, told.trouble, through=through, records_before=told.before)

    def _reader(self, state: State, probe: Probe, read: Read, into: InPlace | None) -> Iterator[Event | Batch]:
        """Read a capture into the state of its stream, in place where that is possible."""
        if not self.compiled:
            events = continued(state, probe.path, probe.version, read)
            return events if self.own_end is None else as_noticed(events, read.walk)
        try:
            capture = FastCapture(probe.path, probe.version)
        except OSError as problem:
            reason = problem.strerror or problem
            raise CaptureError(f"{probe.path} can no longer be read: {reason}.") from None
        except ValueError:
            return gathered(continued(state, probe.path, probe.version, read))
        if into is not None:
            into.owner = capture
        return in_place(state, capture, read)

    def judge(self, state: State, teller: Teller) -> tuple[CaptureJudge, ArrowTables]:
        """Return a judge that goes on from this state, without a reader."""
        how = self.how
        rules = PacketRules(how.profile, how.readings, how.level)
        keep = KEPT if self.compiled and not how.sessions else None
        open_ = state.open if how.sessions else None
        sink = ArrowTables(teller, rules, state.followed, state.path, open_, keep)
        sink.now_ns = state.last_ns
        summary = CaptureSummary(state.path)
        if state.sessions is None:
            openings = ByOpenings(Ends(), how.readings)
            openings.take(state.ends, state.pings)
            judge, ends = CaptureJudge((), rules, None, openings, sink, summary), openings.ends
        else:
            sessions = SessionRules(state.sessions, speak=how.sessions)
            if isinstance(state.sessions, ColumnSessions):
                sessions.patterns = state.sessions.patterns
            ends = Ends()
            senders = BySessions(state.sessions, ends if self.compiled else None)
            for known in state.open.values():
                ends.open(known.opened)
                senders.name(known.opened.connection)
            judge = CaptureJudge((), rules, sessions, senders, self._one_side(sink), summary)
        if self.compiled:
            judge.in_place = InPlace(judge, rules, sink, ends)
        return judge, sink

    def _one_side(self, sink: ArrowTables) -> Sink:
        """Put before a sink what leaves the program's own packets unjudged, if it was an end."""
        if self.own_end is None:
            return sink
        if self._side is None:
            self._side = OneSide(sink, self.own_end, others=True, whole=self.own_end.none)
        self._side.sink = sink
        return self._side

    def keep(self, key: str, told: _Told) -> Kept | None:
        """Write the state of a stream that can continue, as a file of this batch; return None if that fails."""
        state = told.state
        teller = self._teller(state, told.row["capture_id"], told.row["date"])
        name = f"{state.stream}-{state.position}.state"
        self._go_on(told, told.row, teller, state.reading.connections.expire(state.last_ns - SILENT_NS))
        state.pending = told.row
        with self._contained(told):
            if isinstance(state.sessions, ColumnSessions):
                state.sessions = judge_one_by_one(state.sessions)
            data = dump(state)
            name = self.rows.out.keep(name, data)
        if told.trouble.defect is not None:
            return None
        return Kept(key, state.stream, name, state.last_ns)

    def finish(self, told: _Told, part: str | None) -> None:
        """Judge the provisional end of the stream; after a defect, nothing of the end."""
        state, row = told.state, dict(told.row)
        teller = self._teller(state, row["capture_id"], row["date"])
        teller.at_end, teller.part = True, part
        skipped = Counter(state.reading.skipped)
        sink = self._go_on(told, row, teller, state.reading.end() if told.trouble.defect is None else ())
        self.incomplete += incomplete_of(row)
        with self._contained(told):
            sink.conclude()
        row["cut"] = row["cut"] or told.trouble.cut
        row["skipped"] = texts(Counter(dict(row["skipped"])) + (state.reading.skipped - skipped))
        self._close(teller, CaptureSummary(state.path))
        self.rows.add("captures", row, stream=part)

    def _go_on(self, told: _Told, row: Row, teller: Teller, events: Iterable[Event]) -> ArrowTables:
        """Judge events behind the last record of a capture, and add them to its row."""
        judge, sink = self.judge(told.state, teller)
        judge.reader = events
        with self._contained(told):
            judge.read()
        with self._contained(told):
            judge.end()
        summary = judge.summary
        if isinstance(judge.senders, ByOpenings):
            told.state.ends = judge.senders.left()
        judge.in_place = None
        row["lost_bytes"] += summary.lost
        row["packets"] += summary.packets
        add(row, summary.incomplete)
        self._close(teller, summary)
        return sink

    def _teller(self, state: State, capture: str, date: str) -> Teller:
        return Teller(self.rows, capture, state.stream, date, self.how.every_packet)

    def _close(self, teller: Teller, summary: CaptureSummary) -> None:
        teller.close()
        self.packets += summary.packets
        self.outcomes.update(teller.outcomes)
        teller.outcomes.clear()


def in_columns(probe: Probe) -> bool:
    """Tell whether compiled code can judge a capture."""
    return all(find_spec(name) is not None for name in NEEDED)
