"""Judge one stream: its captures in order as if they were one, and keep its state so that it can continue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.util import find_spec

from conformance import __version__
from conformance.capture import Closed, Endpoint, Event, Frame, Lost, Opened, Passed, Side
from conformance.capture.reader import CaptureReading
from conformance.capture.records import Record, RecordWalk, read_records
from conformance.captures.defects import Trouble, contained
from conformance.captures.engine import Replay, alone, levelled
from conformance.captures.verdict_counts import plain_verdict
from conformance.judge.sessions.context import Said, Seen
from conformance.judge.sessions.judge import SessionJudge
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.identity import Probe
from conformance.pipeline.lacking import add, columns_of, incomplete_of
from conformance.pipeline.lake import Kept
from conformance.pipeline.memory import kept, resumed
from conformance.pipeline.rows import Row, Rows, day, moment, plain, texts
from conformance.pipeline.rows_writer import Teller, Whose, whose_was
from conformance.pipeline.verdict_cache import Memos
from conformance.runlog import Incomplete
from conformance.runlog.incomplete import COMPLETE
from conformance.spec.assignment import Assignment
from conformance.verdict import Verdict
from conformance.wire import Packet, dissect
from conformance.wire.columns.extra import NEEDED

HOLD_NS = 200_000_000  # How much earlier than the end of one file the next one may begin.
SILENT_NS = 7_200_000_000_000  # The longest silence of a connection with keep-alive (RFC 1122 4.2.3.6).


@dataclass(frozen=True, slots=True)
class How:
    """The settings of an ingest, the same for all captures. readings: accepted alternatives, the default first."""

    profile: str
    level: str
    reading_set: str
    readings: Mapping[str, tuple[str, ...]]
    every_packet: bool
    batch: str
    sessions: bool = True
    """Judge the rules of connections too, not only those of packets."""


@dataclass(slots=True)
class Connection:
    """The facts for the row of a connection."""

    opened: Opened
    packets: Counter[Side] = field(default_factory=Counter)
    sizes: Counter[Side] = field(default_factory=Counter)
    lost: int = 0


@dataclass(slots=True)
class State:
    """The state of a stream. pending: the row of its last capture, without what the provisional end adds."""

    stream: str
    path: str
    sessions: SessionJudge
    reading: CaptureReading = field(default_factory=CaptureReading)
    senders: Replay = field(default_factory=Replay)
    open: dict[int, Connection] = field(default_factory=dict)
    position: int = 0
    last_ns: int = 0
    pending: Row | None = None


@dataclass(frozen=True, slots=True)
class StreamWork:
    """One stream to judge. resume: file of its kept state. keep: it can continue after this ingest."""

    key: str
    captures: Sequence[Probe]
    resume: str | None = None
    keep: bool = False
    memos: Mapping[str, Sequence[tuple[int, int, str]]] = field(default_factory=dict)
    """By capture: its ranges, each with the file of the verdicts in it."""


@dataclass(frozen=True, slots=True)
class StreamDone:
    """The result of a stream. captures: those in the lake now. gone: those no longer readable, with the reason.

    ended: the stream whose parts about its provisional end are no longer valid. defects: those of `captures` that were
    judged only in part. over: the key of a stream that cannot continue from its kept state any more.
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
    over: str | None = None


def judge_stream(work: StreamWork, how: How, rows: Rows) -> StreamDone:
    """Judge the captures of a stream and write their rows. Raises PipelineError for damaged kept state.

    A capture that hits a defect of the harness ends its stream: those after it begin another one.
    """
    judge = _Judge(how, rows)
    found = resumed(work.resume) if work.resume else None
    state = found if isinstance(found, State) else None
    ended = state.stream if state is not None else None
    if state is not None and not work.captures:
        return StreamDone(())
    main: _Told | None = None
    captures: list[str] = []
    gone: list[Probe] = []
    defects: list[Probe] = []
    broken = False
    for probe in work.captures:
        assert probe.capture is not None
        own = probe.first_ns is None or (state is not None and probe.first_ns < state.last_ns - HOLD_NS)
        if own or state is None:
            into = State(probe.capture, probe.path, SessionJudge(how.readings, counting=True))
            state = state if own else into
        else:
            into = state
        told = judge.capture(into, probe, work.memos.get(probe.capture, ()))
        if not told.row:
            gone.append(replace(probe, error=told.trouble.unread))
            continue
        if not own and main is not None:
            judge.settle(main)
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
            kept, broken = None, True
    return StreamDone(
        captures, gone, kept, ended, judge.packets, judge.records, judge.outcomes, judge.incomplete, defects,
        work.key if broken and kept is None else None,
    )  # fmt: skip


@dataclass(slots=True)
class _Told:
    """A capture that was judged. before: records of its stream before it."""

    state: State
    probe: Probe
    before: int
    row: Row = field(default_factory=dict)
    cut: str | None = None
    trouble: Trouble = field(default_factory=Trouble)


@dataclass(slots=True)
class _Read:
    """The result of reading a capture. first_ns, last_ns: times of the first record and the last."""

    first_ns: int | None = None
    last_ns: int | None = None
    lost: int = 0
    cut: str | None = None


@dataclass(slots=True)
class _Judge:
    how: How
    rows: Rows
    packets: int = 0
    records: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    incomplete: Incomplete = COMPLETE

    def capture(self, state: State, probe: Probe, ranges: Sequence[tuple[int, int, str]]) -> _Told:
        """Judge one capture, up to its last record."""
        assert probe.capture is not None
        before, skipped = state.reading.records, Counter(state.reading.skipped)
        state.position += 1
        teller = self._teller(state, probe.capture, day(probe.first_ns))
        told, read = _Told(state, probe, before), _Read(probe.first_ns)
        with self._contained(told):
            if not (self.how.sessions and in_columns(probe) and self._by_columns(state, probe, teller, read)):
                self._one_by_one(state, probe.path, teller, Memos(ranges), read)
        trouble = told.trouble
        if trouble.unread is not None and state.reading.records == before and not teller.packets:
            state.position -= 1
            return told
        read.cut = read.cut or trouble.cut
        state.last_ns = max(state.last_ns, read.last_ns or 0)
        reading = state.reading
        records = max(reading.records - before, trouble.record)
        row: Row = {
            "capture_id": probe.capture,
            "stream_id": state.stream,
            "position": state.position,
            "path": plain(probe.path),
            "bytes": probe.size,
            "format": probe.format,
            "date": teller.date,
            "first_time": None if read.first_ns is None else moment(read.first_ns),
            "last_time": None if read.last_ns is None else moment(read.last_ns),
            "records": records,
            "packets": teller.packets,
            "lost_bytes": read.lost,
            "skipped": texts(reading.skipped - skipped),
            "cut": read.cut,
            **columns_of(teller.lacking.incomplete + Incomplete(cut=int(read.cut is not None))),
            "ranges": max(1, len(ranges)),
            "handed_over": [],
            "profile": self.how.profile,
            "level": self.how.level,
            "reading_set": self.how.reading_set,
            "judged_by": __version__,
            "ingested_at": datetime.now(UTC),
            "batch": self.how.batch,
        }
        self._close(teller)
        self.records += records
        told.row, told.cut = row, read.cut
        return told

    def _contained(self, told: _Told) -> AbstractContextManager[None]:
        """Collect a failure that the capture causes in its `trouble`; a failure to write is raised."""
        through = (PipelineError,)
        return contained(told.probe.path, told.trouble, through=through, records_before=told.before)

    def _one_by_one(self, state: State, path: str, teller: Teller, memos: Memos, read: _Read) -> None:
        walk, reading = RecordWalk(), state.reading
        before, read.first_ns = reading.records, None
        for record in read_records(path, walk):
            read.first_ns = record.time_ns if read.first_ns is None else read.first_ns
            read.last_ns = record.time_ns
            memos.reach(walk.end or 0)
            numbered = Record(before + record.number, record.time_ns, record.link, record.data, record.length)
            for event in reading.record(numbered):
                read.lost += self._event(state, event, teller, memos, record.time_ns)
        read.cut = walk.cut
        reading.skipped.update(walk.unused)
        if walk.damaged:
            teller.lacking.see(Passed(reading.records, walk.damaged))

    def _by_columns(self, state: State, probe: Probe, teller: Teller, read: _Read) -> bool:
        """Judge like `_one_by_one`, decoded by compiled code; return False for a file that it cannot walk over."""
        from conformance.capture.columns.reader import FastCapture
        from conformance.pipeline.session_columns import Stream, StreamJudging, judge_capture

        try:
            capture = FastCapture(probe.path)
        except (OSError, ValueError):
            return False

        def event(one: Event, now_ns: int) -> int:
            return self._event(state, one, teller, Memos(()), now_ns)

        def sent(connection: int, side: Side, size: int) -> None:
            known = state.open[connection]
            known.packets[side] += 1
            known.sizes[side] += size

        def given_up(name: str, whole: Assignment, now_ns: int) -> None:
            self._given_up(name, whole, teller, now_ns)

        opened = {number: known.opened for number, known in state.open.items()}
        stream = Stream(state.sessions, state.senders, state.path, opened, event, sent, given_up)
        judging = StreamJudging(stream, teller, self.how.profile, self.how.readings, self.how.level)
        try:
            found = judge_capture(capture, state.reading, judging)
        except Exception:
            judging.flush()
            read.lost, read.last_ns = judging.lost, judging.now_ns or None
            raise
        state.reading = found.left
        read.last_ns, read.lost, read.cut = found.last_ns, found.lost, found.cut
        return True

    def _given_up(self, name: str, whole: Assignment, teller: Teller, now_ns: int) -> None:
        for one in whole.conclude(self.how.readings, level=self.how.level, subject=f"all packets of {name}"):
            teller.verdict(one, Whose(now_ns, None, name))

    def settle(self, told: _Told) -> None:
        """Write the row of a capture after which the stream continues."""
        self.rows.add("captures", told.row)
        self.incomplete += incomplete_of(told.row)

    def keep(self, key: str, told: _Told) -> Kept | None:
        """Write the state of a stream that can continue, as a file of this batch; return None if that fails."""
        state = told.state
        teller = self._teller(state, told.row["capture_id"], told.row["date"])
        name = f"{state.stream}-{state.position}.state"
        with self._contained(told):
            for event in state.reading.connections.expire(state.last_ns - SILENT_NS):
                told.row["lost_bytes"] += self._event(state, event, teller, Memos(()), state.last_ns)
        told.row["packets"] += teller.packets
        add(told.row, teller.lacking.incomplete)
        self._close(teller)
        state.pending = told.row
        with self._contained(told):
            self.rows.keep(name, kept(state))
        if told.trouble.defect is not None:
            return None
        return Kept(key, state.stream, name, state.last_ns, state.position)

    def finish(self, told: _Told, part: str | None) -> None:
        """Judge the provisional end of the stream; after a defect, nothing of the end."""
        state, row = told.state, dict(told.row)
        teller = self._teller(state, row["capture_id"], row["date"])
        teller.at_end, teller.part = True, part
        skipped = Counter(state.reading.skipped)
        with self._contained(told):
            for event in state.reading.end() if told.trouble.defect is None else ():
                row["lost_bytes"] += self._event(state, event, teller, Memos(()), state.last_ns)
        add(row, teller.lacking.incomplete)
        self.incomplete += incomplete_of(row)
        with self._contained(told):
            for (_, sender), whole in state.senders.followed.items():
                self._given_up(sender, whole, teller, state.last_ns)
        row["cut"] = row["cut"] or told.trouble.cut
        row["packets"] += teller.packets
        row["skipped"] = texts(Counter(dict(row["skipped"])) + (state.reading.skipped - skipped))
        self._close(teller)
        self.rows.add("captures", row, stream=part)

    def _teller(self, state: State, capture: str, date: str) -> Teller:
        return Teller(self.rows, capture, state.stream, date, self.how.every_packet)

    def _close(self, teller: Teller) -> None:
        teller.close()
        self.packets += teller.packets
        self.outcomes.update(teller.outcomes)

    def _event(self, state: State, event: Event, teller: Teller, memos: Memos, now_ns: int) -> int:
        """Judge an event and return the bytes that are lost by it."""
        how = self.how
        teller.lacking.see(event)
        now_ns = getattr(event, "time_ns", now_ns)  # The event's own time, not that of a record read later.
        packet = dissect(event.data, transport=event.transport) if isinstance(event, Frame) else None
        lost = _bytes_lost(event)
        managers = _managers(state, event)
        told = [_whole(one, state.sessions, event) for one in state.sessions.said(event, packet)]
        verdicts = levelled(told, how.profile, how.level) if how.sessions else []
        if isinstance(event, Frame) and packet is not None:
            verdicts = [*self._alone(event, packet, memos), *verdicts]
            sender = state.sessions.sender(event, packet)
            given_up = state.senders.follow(state.path, sender, verdicts)
            if given_up is not None:
                self._given_up(*given_up, teller, now_ns)
            teller.packet(event, packet, sender, verdicts)
        else:
            for verdict in verdicts:
                teller.verdict(verdict, whose_was(verdict, now_ns))
        self._connection(state, event, teller, lost, managers)
        return lost

    def _alone(self, frame: Frame, packet: Packet, memos: Memos) -> list[Verdict]:
        seen = Seen(frame, packet)
        known = memos.get(seen)
        how = self.how
        return known if known is not None else alone(seen, how.profile, how.readings, how.level)

    def _connection(
        self, state: State, event: Event, teller: Teller, lost: int, managers: tuple[str | None, str | None]
    ) -> None:
        if isinstance(event, Opened):
            state.open[event.connection] = Connection(event)
            return
        number = getattr(event, "connection", None)
        known = state.open.get(number) if isinstance(number, int) else None
        if known is None:
            return
        known.lost += lost
        if isinstance(event, Frame) and event.side is not None:
            known.packets[event.side] += 1
            known.sizes[event.side] += len(event.data)
        if isinstance(event, Closed):
            del state.open[event.connection]
            if self.how.sessions:
                self.rows.add("sessions", _session(known, event, teller, managers), stream=teller.part)


def in_columns(probe: Probe) -> bool:
    """Tell whether compiled code can judge a capture."""
    if probe.format != "pcap" or any(find_spec(name) is None for name in NEEDED):
        return False
    from conformance.pipeline.compiled import walkable

    return walkable(probe.path)


def _whole(said: Said, sessions: SessionJudge, event: Event) -> Verdict:
    """Return a verdict that is given by number as a verdict on the packet of this event."""
    if isinstance(said, Verdict):
        return said
    assert isinstance(event, Frame)
    return plain_verdict(sessions.kinds[said], event.number)


def _bytes_lost(event: Event) -> int:
    if isinstance(event, Lost):
        return event.length
    return event.gap_before if isinstance(event, Frame) else 0


def _managers(state: State, event: Event) -> tuple[str | None, str | None]:
    if not isinstance(event, Closed):
        return None, None
    manager = state.sessions.manager
    return manager(event.connection, "initiator"), manager(event.connection, "acceptor")


def _session(known: Connection, closed: Closed, teller: Teller, managers: tuple[str | None, str | None]) -> Row:
    def end(point: Endpoint, name: str) -> Row:
        return {name: point.address, f"{name}_port": point.port}

    return {
        "stream_id": teller.stream,
        "capture_id": teller.capture,
        "connection": closed.connection,
        **end(known.opened.initiator, "initiator"),
        **end(known.opened.acceptor, "acceptor"),
        "complete": known.opened.complete,
        "opened": moment(known.opened.time_ns),
        "closed": moment(closed.time_ns),
        "closed_by": closed.by,
        "closed_how": closed.how,
        "initiator_manager": managers[0],
        "acceptor_manager": managers[1],
        "initiator_packets": known.packets["initiator"],
        "acceptor_packets": known.packets["acceptor"],
        "initiator_bytes": known.sizes["initiator"],
        "acceptor_bytes": known.sizes["acceptor"],
        "lost_bytes": known.lost,
        "date": teller.date,
    }
