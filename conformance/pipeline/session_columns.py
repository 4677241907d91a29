"""Judge one capture of a stream with the rules of connections, on packets that compiled code has decoded.

Packets whose verdicts are all pass are counted by sender; deviations get rows of their own, as in `streams`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from conformance.capture import Event, Frame, Opened, Side
from conformance.capture.columns.reader import FastCapture, Rows
from conformance.capture.reader import CaptureReading
from conformance.captures.columns import RangeResult
from conformance.captures.engine import DESTINATION, CaptureSummary, Replay, alone, destination_of
from conformance.captures.rows import PacketRow
from conformance.captures.session_columns import SessionJudging
from conformance.captures.verdict_counts import Key, key_of, plain_verdict
from conformance.judge.sessions.context import Readings, Said, Seen
from conformance.judge.sessions.judge import SessionJudge
from conformance.judge.sessions.keys import FREQUENT
from conformance.pipeline.rows import Row as Line
from conformance.pipeline.rows import moment, plain
from conformance.pipeline.rows_writer import Teller, Whose, whose_was
from conformance.spec.assignment import Assignment
from conformance.verdict import Outcome, Verdict, worst
from conformance.wire import Packet

_MOST = 1 << 14  # Kinds of packets and senders that are counted before rows are written.


@dataclass(frozen=True, slots=True)
class Stream:
    """The stream of a capture. event: judges an event, and returns the bytes lost by it. sent: counts a packet.

    given_up: called with a sender whose readings are no longer followed.
    """

    sessions: SessionJudge
    senders: Replay
    path: str
    opened: dict[int, Opened]
    event: Callable[[Event, int], int]
    sent: Callable[[int, Side, int], None]
    given_up: Callable[[str, Assignment, int], None]


@dataclass(slots=True)
class Read:
    """The result of reading a capture. left: the state of the stream."""

    left: CaptureReading
    lost: int = 0
    cut: str | None = None
    last_ns: int | None = None


@dataclass(slots=True, eq=False)
class _Alike:
    """Packets with the same verdicts, all pass. number: of the first. whole: the readings to which they were added."""

    keys: tuple[Key, ...]
    number: int
    first_ns: int
    last_ns: int
    count: int = 0
    read: bool = field(init=False)
    whole: Assignment | None = None

    def __post_init__(self) -> None:
        self.read = any(readings for _, _, readings in self.keys)


class StreamJudging(SessionJudging):
    """Judges one capture and writes it to the tables."""

    def __init__(self, stream: Stream, teller: Teller, profile: str, readings: Readings, level: str) -> None:
        result = RangeResult(stream.path, 0, None, True, Replay(), CaptureSummary(stream.path))
        super().__init__(result, profile, readings, level, 0, None)
        self.stream, self.teller = stream, teller
        self.sessions = stream.sessions
        self.opened = dict(stream.opened)
        self.alike: dict[tuple[str, int, tuple[Said, ...]], _Alike] = {}
        self.lost = 0
        self.now_ns = 0

    def open(self, event: Opened) -> None:
        """Store the ends of a connection."""
        self.opened[event.connection] = event

    def event(self, number: int, event: Event) -> None:
        """Judge an event, or a packet that compiled code does not handle."""
        self.now_ns = max(self.now_ns, getattr(event, "time_ns", 0))
        self.lost += self.stream.event(event, self.now_ns)

    def one(self, frame: Frame, packet: Packet) -> None:
        """Judge a packet that compiled code has not judged."""
        self.event(frame.number, frame)

    def combine(self, at: int, rows: Rows) -> None:
        """Do nothing: senders are counted packet by packet here."""

    def usual(self, row: PacketRow, outcome: int, wanted: bool) -> int:
        """Add a packet that compiled code has judged."""
        self.now_ns = row.time_ns
        seen = row if row.kind in FREQUENT else Seen(row.frame, row.packet)
        sessions, meaning, teller = self.sessions, self.meanings[outcome], self.teller
        said = sessions.see(seen)
        sender = sessions.sender_of(seen)
        self.stream.sent(row.connection, row.side, row.length)
        teller.packets += 1
        deviating = bool(meaning.deviating)
        numbers = tuple(said) if not sessions.single else tuple([one for one in said if isinstance(one, int)])
        key = (sender, outcome, numbers)
        alike = self.alike.get(key)
        if alike is None:
            passes = [one for one in meaning.keys if one[1] is Outcome.PASS]
            keys = [known for one in numbers if (known := self.key(int(one))) is not None]  # type: ignore[arg-type]
            alike = self.alike[key] = _Alike((*passes, *keys), row.frame_number, row.time_ns, row.time_ns)
        alike.count += 1
        alike.first_ns, alike.last_ns = min(alike.first_ns, row.time_ns), max(alike.last_ns, row.time_ns)
        if deviating or sessions.single:
            self._singly(row, outcome, said, sender, alike)
            return 0
        if alike.read:
            self._follow(row, sender, alike, lambda: [plain_verdict(one, row.frame_number) for one in alike.keys], ())
        if teller.every_packet:
            teller.packet_row(packet_line(row, ()), sender)
        if len(self.alike) > _MOST:
            self.flush()
        return 0

    def _singly(self, row: PacketRow, outcome: int, said: Sequence[Said], sender: str, alike: _Alike) -> None:
        meaning, teller, number = self.meanings[outcome], self.teller, row.frame_number
        found: dict[Key, list[Verdict]] = {}
        if meaning.deviating:
            only = {name for name, _, _ in meaning.deviating}
            for one in alone(Seen(row.frame, row.packet), self.profile, self.readings, self.level, only):
                found.setdefault(key_of(one), []).append(one)
        alone_ = [found[key].pop(0) if found.get(key) else plain_verdict(key, number) for key in meaning.deviating]
        more = self.leveled(said)
        others = [*alone_, *(one for one in more if isinstance(one, Verdict))]

        def verdicts() -> list[Verdict]:
            """Return all verdicts on this packet, in their order."""
            deviating = iter(alone_)
            first = [plain_verdict(key, number) if key[1] is Outcome.PASS else next(deviating) for key in meaning.keys]
            return [*first, *(one if isinstance(one, Verdict) else plain_verdict(one, number) for one in more)]

        if alike.read or any(one.readings for one in others):
            self._follow(row, sender, alike, verdicts, others)
        queue = queue_of(row)
        for one in others:
            own = one.frame == number
            teller.verdict(one, Whose(row.time_ns, number, sender, queue) if own else whose_was(one, row.time_ns))
        here = [one for one in others if one.outcome is not Outcome.PASS and one.frame == number]
        if here or teller.every_packet:
            teller.packet_row(packet_line(row, here), sender)

    def _follow(
        self,
        row: PacketRow,
        sender: str,
        alike: _Alike,
        verdicts: Callable[[], list[Verdict]],
        others: Sequence[Verdict],
    ) -> None:
        """Add the readings of the sender. verdicts: all of this packet; others: those that are not all pass."""
        senders, key = self.stream.senders, (self.stream.path, sender)
        whole = senders.followed.get(key)
        if whole is not None and whole is alike.whole:
            senders.followed.move_to_end(key)
            for one in others:
                whole.add(one, f"{self.stream.path}, {sender}")
            return
        given_up = senders.follow(self.stream.path, sender, verdicts())
        alike.whole = senders.followed.get(key)
        if given_up is not None:
            self.stream.given_up(*given_up, row.time_ns)

    def flush(self) -> None:
        """Write the counts."""
        for (sender, _, _), one in self.alike.items():
            for key in one.keys:
                self.teller.alike(key, sender, one.count, one.number, one.first_ns, one.last_ns)
        self.alike.clear()


def judge_capture(capture: FastCapture, reading: CaptureReading, judging: StreamJudging) -> Read:
    """Judge the records of a capture. reading: the state before it, used up. Raises OSError and ValueError."""
    for batch in capture.batches(after=reading, before=reading.records, finish=False):
        judging.batch(batch)
    assert capture.left is not None
    judging.flush()
    return Read(capture.left, judging.lost, capture.cut, capture.time_ns or None)


def queue_of(row: PacketRow) -> str | None:
    """Return the destination queue like `engine.destination`, without decoding the packet."""
    return destination_of(*row.values(DESTINATION))


def packet_line(row: PacketRow, verdicts: Sequence[Verdict]) -> Line:
    """Return a packet's row like `rows_writer.packet_row`, without decoding the packet."""
    queue, roll_up = queue_of(row), worst(verdict.outcome for verdict in verdicts)
    opened = row.opened
    ends = (opened.initiator, opened.acceptor)
    source, target = ends if row.side == "initiator" else ends[::-1]
    return {
        "number": row.frame_number,
        "record": row.record,
        "time": moment(row.time_ns),
        "transport": "tcp",
        "connection": row.connection,
        "side": row.side,
        "source": source.address,
        "source_port": source.port,
        "destination": target.address,
        "destination_port": target.port,
        "kind": row.kind,
        "queue": plain(queue) if queue else None,
        "source_manager": row.text("UserHeader.SourceQueueManager"),
        "message_id": row.number("UserHeader.MessageID"),
        "message_class": row.number("MessagePropertiesHeader.MessageClass"),
        "transactional": row.number("TransactionHeader.TxSequenceID") is not None,
        "length": row.length,
        "trouble": None,
        "worst": roll_up.value if roll_up else "pass",
        "deviating": list(dict.fromkeys(one.requirement for one in verdicts)),
    }
