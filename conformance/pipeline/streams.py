"""One stream judged: its captures one after the other as if they were one, and what is kept so that it can go on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec

from conformance import __version__
from conformance.capture import CaptureError, Closed, Endpoint, Event, Frame, Lost, Opened, Side
from conformance.capture.ranges import FILE_HEADER, Walk, layout, read_range
from conformance.capture.reader import Reading
from conformance.capture.records import CutError, Record, read_records
from conformance.judge.session_context import Said, Seen
from conformance.judge.sessions import SessionJudge
from conformance.pipeline.identity import Probe
from conformance.pipeline.lake import Kept
from conformance.pipeline.memory import freeze, resumed
from conformance.pipeline.memos import Memos
from conformance.pipeline.rows import Row, Rows, day, moment, plain, texts
from conformance.pipeline.telling import Teller, Whose, whose_was
from conformance.replay.engine import Replay, alone, levelled
from conformance.spec.assignment import Assignment
from conformance.verdict import Verdict
from conformance.wire import Packet, dissect
from conformance.wire.columns.extra import NEEDED

HOLD_NS = 200_000_000  # How much earlier than the end of one file the next one may begin.
SILENT_NS = 7_200_000_000_000  # The longest a connection stays silent where keep-alive is on (RFC 1122 4.2.3.6).


@dataclass(frozen=True, slots=True)
class How:
    """What is the same for all captures of an ingest. readings: those accepted, the default first."""

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
    """What the row of a connection needs."""

    opened: Opened
    packets: Counter[Side] = field(default_factory=Counter)
    sizes: Counter[Side] = field(default_factory=Counter)
    lost: int = 0


@dataclass(slots=True)
class State:
    """A stream as far as it has come. pending: the row of its last capture, without what its end so far says."""

    stream: str
    path: str
    sessions: SessionJudge
    reading: Reading = field(default_factory=Reading)
    senders: Replay = field(default_factory=Replay)
    open: dict[int, Connection] = field(default_factory=dict)
    position: int = 0
    last_ns: int = 0
    pending: Row | None = None


@dataclass(frozen=True, slots=True)
class StreamWork:
    """One stream to judge. resume: file of its kept state. keep: whether it can go on after this ingest."""

    key: str
    captures: Sequence[Probe]
    resume: str | None = None
    keep: bool = False
    memos: Mapping[str, Sequence[tuple[int, int, str]]] = field(default_factory=dict)
    """By capture: its ranges, and the files with what was said in them."""


@dataclass(frozen=True, slots=True)
class StreamDone:
    """What became of it. captures: those in the lake now. gone: ones that could not be read any more, with the reason.

    ended: the stream whose parts about its end so far are no longer true.
    """

    captures: Sequence[str]
    gone: Sequence[Probe] = ()
    kept: Kept | None = None
    ended: str | None = None
    packets: int = 0
    records: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)


def judge_stream(work: StreamWork, how: How, rows: Rows) -> StreamDone:
    """Judge the captures of a stream and write their rows. Raises PipelineError for kept state that is damaged."""
    judge = _Judge(how, rows)
    found = resumed(work.resume) if work.resume else None
    state = found if isinstance(found, State) else None
    ended = state.stream if state is not None else None
    if state is not None and not work.captures:
        return StreamDone(())
    main: _Told | None = None
    captures: list[str] = []
    gone: list[Probe] = []
    for probe in work.captures:
        assert probe.capture is not None
        own = probe.first_ns is None or (state is not None and probe.first_ns < state.last_ns - HOLD_NS)
        if state is not None and not own and main is not None:
            judge.settle(main)
        elif state is not None and not own and state.pending is not None:
            rows.add("captures", state.pending)
        if own or state is None:
            into = State(probe.capture, probe.path, SessionJudge(how.readings, counting=True))
            state = state if own else into
        else:
            into = state
        try:
            told = judge.capture(into, probe, work.memos.get(probe.capture, ()))
        except CaptureError as error:
            gone.append(Probe(probe.path, probe.size, probe.capture, error=str(error)))
            continue
        captures.append(probe.capture)
        if own:
            judge.finish(told, None)
        else:
            main = told
    kept = None
    if main is None:
        ended = None  # Nothing went on with it.
    if main is not None:
        if work.keep:
            kept = judge.keep(work.key, main)
        judge.finish(main, main.state.stream if work.keep else None)
    return StreamDone(captures, gone, kept, ended, judge.packets, judge.records, judge.outcomes)


@dataclass(slots=True)
class _Told:
    state: State
    row: Row
    cut: str | None


@dataclass(slots=True)
class _Read:
    """How the reading of a capture went. first_ns, last_ns: times of the first record and the last."""

    first_ns: int | None = None
    last_ns: int | None = None
    lost: int = 0
    damaged: int = 0
    cut: str | None = None


@dataclass(slots=True)
class _Judge:
    how: How
    rows: Rows
    packets: int = 0
    records: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    def capture(self, state: State, probe: Probe, ranges: Sequence[tuple[int, int, str]]) -> _Told:
        """Judge one capture, up to its last record. Raises CaptureError where it can no longer be read at all."""
        assert probe.capture is not None
        before, skipped = state.reading.records, Counter(state.reading.skipped)
        state.position += 1
        teller = self._teller(state, probe.capture, day(probe.first_ns))
        read = self._by_columns(state, probe, teller) if self.how.sessions and in_columns(probe) else None
        if read is None:
            read = self._one_by_one(state, probe.path, teller, Memos(ranges))
        state.last_ns = max(state.last_ns, read.last_ns or 0)
        reading = state.reading
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
            "records": reading.records - before,
            "packets": teller.packets,
            "lost_bytes": read.lost,
            "damaged_bytes": read.damaged,
            "skipped": texts(reading.skipped - skipped),
            "cut": read.cut,
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
        self.records += reading.records - before
        return _Told(state, row, read.cut)

    def _one_by_one(self, state: State, path: str, teller: Teller, memos: Memos) -> _Read:
        walk, reading, read = Walk(), state.reading, _Read()
        before = reading.records
        for record in records_of(path, walk):
            read.first_ns = record.time_ns if read.first_ns is None else read.first_ns
            read.last_ns = record.time_ns
            memos.reach(walk.end or 0)
            numbered = Record(before + record.number, record.time_ns, record.link, record.data, record.length)
            for event in reading.record(numbered):
                read.lost += self._event(state, event, teller, memos, record.time_ns)
        read.damaged, read.cut = walk.damaged, walk.cut
        return read

    def _by_columns(self, state: State, probe: Probe, teller: Teller) -> _Read | None:
        """As `_one_by_one`, decoded by compiled code; None for a file that it cannot walk over."""
        from conformance.capture.columns.reader import FastCapture
        from conformance.pipeline.session_columns import Stream, StreamJudging, judge_capture

        try:
            capture = FastCapture(probe.path)
        except (OSError, ValueError):
            return None

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
        found = judge_capture(capture, state.reading, judging)
        state.reading = found.left
        return _Read(probe.first_ns, found.last_ns, found.lost, found.damaged, found.cut)

    def _given_up(self, name: str, whole: Assignment, teller: Teller, now_ns: int) -> None:
        for one in whole.conclude(self.how.readings, level=self.how.level, subject=f"all packets of {name}"):
            teller.verdict(one, Whose(now_ns, None, name))

    def settle(self, told: _Told) -> None:
        """The stream goes on after this capture: its row is what it is."""
        self.rows.add("captures", told.row)

    def keep(self, key: str, told: _Told) -> Kept:
        """Write the state of a stream that can go on, as a file of this batch."""
        state = told.state
        teller = self._teller(state, told.row["capture_id"], told.row["date"])
        for event in state.reading.connections.expire(state.last_ns - SILENT_NS):
            told.row["lost_bytes"] += self._event(state, event, teller, Memos(()), state.last_ns)
        told.row["packets"] += teller.packets
        self._close(teller)
        state.pending = told.row
        name = f"{state.stream}-{state.position}.state"
        (self.rows.folder / name).write_bytes(freeze(state))
        return Kept(key, state.stream, name, state.last_ns, state.position)

    def finish(self, told: _Told, part: str | None) -> None:
        """Say what can be said at the end, as far as the stream has come."""
        state, row = told.state, dict(told.row)
        teller = self._teller(state, row["capture_id"], row["date"])
        teller.at_end, teller.part = True, part
        skipped = Counter(state.reading.skipped)
        for event in state.reading.end(told.cut):
            row["lost_bytes"] += self._event(state, event, teller, Memos(()), state.last_ns)
        for (_, sender), whole in state.senders.followed.items():
            for verdict in whole.conclude(self.how.readings, level=self.how.level, subject=f"all packets of {sender}"):
                teller.verdict(verdict, Whose(state.last_ns, None, sender))
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
        """Judge an event; returns the bytes that are lost by it."""
        how = self.how
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


def records_of(path: str, walk: Walk) -> Iterator[Record]:
    """The records of a file of any format; where and how it is cut goes to `walk`. Raises CaptureError."""
    how = layout(path)
    if how is not None:
        yield from read_range(path, FILE_HEADER, how.size, walk)
        return
    try:
        yield from read_records(path)
    except CutError as cut:
        walk.cut = str(cut)
    except OSError as problem:
        walk.cut = f"the file cannot be read any further ({problem.strerror})"


def in_columns(probe: Probe) -> bool:
    """Whether compiled code may judge a capture."""
    if probe.format != "pcap" or any(find_spec(name) is None for name in NEEDED):
        return False
    from conformance.pipeline.compiled import walkable

    return walkable(probe.path)


def _whole(said: Said, sessions: SessionJudge, event: Event) -> Verdict:
    """A verdict that was told by number, as itself: it is about the packet of this event."""
    if isinstance(said, Verdict):
        return said
    assert isinstance(event, Frame)
    requirement, outcome, readings = sessions.kinds[said]
    return Verdict(requirement, outcome, f"frame {event.number}", readings=readings)


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
