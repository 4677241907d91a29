"""One capture of a stream judged with the rules of connections, decoded by compiled code.

What is all pass is counted by sender; what deviates is told one by one, as `streams` does it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from conformance.capture import Event, Frame, Opened, Side
from conformance.capture.columns.reader import FILE_HEADER, FastCapture, Rows
from conformance.capture.ranges import found_again
from conformance.capture.reader import Reading
from conformance.judge.session_context import Readings, Said, Seen
from conformance.judge.session_keys import FREQUENT
from conformance.judge.sessions import SessionJudge
from conformance.pipeline.rows import Row as Line
from conformance.pipeline.rows import moment, plain
from conformance.pipeline.telling import Teller, Whose, whose_was
from conformance.replay.columns import RangeResult
from conformance.replay.engine import DESTINATION, CaptureSummary, Replay, alone, destination_of
from conformance.replay.rows import Row
from conformance.replay.session_columns import SessionJudging
from conformance.replay.sums import Key, key_of, plain_verdict
from conformance.spec.assignment import Assignment
from conformance.verdict import Outcome, Verdict, worst
from conformance.wire import Packet

_MOST = 1 << 14  # Kinds of packets of senders that are counted before the rows get them.


@dataclass(frozen=True, slots=True)
class Stream:
    """What a capture is part of. event: judges an event, and returns the bytes lost by it. sent: counts a packet.

    given_up: told of a sender that is not followed any longer.
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
    """How the reading went. left: what the stream has come to."""

    left: Reading
    lost: int = 0
    damaged: int = 0
    cut: str | None = None
    last_ns: int | None = None


@dataclass(slots=True, eq=False)
class _Alike:
    """Packets of which the same was said, all pass. number: of the first. whole: who has heard of its readings."""

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
    """A capture on its way into the tables."""

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
        """Remember the ends."""
        self.opened[event.connection] = event

    def event(self, number: int, event: Event) -> None:
        """An event, or a packet that compiled code has not met."""
        self.now_ns = max(self.now_ns, getattr(event, "time_ns", 0))
        self.lost += self.stream.event(event, self.now_ns)

    def one(self, frame: Frame, packet: Packet) -> None:
        """A packet that compiled code has not judged."""
        self.event(frame.number, frame)

    def combine(self, at: int, rows: Rows) -> None:
        """Senders are counted packet by packet here."""

    def usual(self, row: Row, outcome: int, wanted: bool) -> int:
        """A packet that compiled code has judged."""
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

    def _singly(self, row: Row, outcome: int, said: Sequence[Said], sender: str, alike: _Alike) -> None:
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
            """All of this packet, in their order."""
            deviating = iter(alone_)
            first = [plain_verdict(key, number) if key[1] is Outcome.PASS else next(deviating) for key in meaning.keys]
            return [*first, *(one if isinstance(one, Verdict) else plain_verdict(one, number) for one in more)]

        if alike.read or any(one.readings for one in others):
            self._follow(row, sender, alike, verdicts, others)
        queue = queue_of(row)
        for one in others:
            own = one.subject == row.subject
            teller.verdict(one, Whose(row.time_ns, number, sender, queue) if own else whose_was(one, row.time_ns))
        here = [one for one in others if one.outcome is not Outcome.PASS and one.subject == row.subject]
        if here or teller.every_packet:
            teller.packet_row(packet_line(row, here), sender)

    def _follow(
        self, row: Row, sender: str, alike: _Alike, verdicts: Callable[[], list[Verdict]], others: Sequence[Verdict]
    ) -> None:
        """Note how the sender reads the documents. verdicts: all of this packet; others: those that are not alike."""
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
        """Hand over what was counted."""
        for (sender, _, _), one in self.alike.items():
            for key in one.keys:
                self.teller.alike(key, sender, one.count, one.number, one.first_ns, one.last_ns)
        self.alike.clear()


def judge_capture(capture: FastCapture, reading: Reading, judging: StreamJudging) -> Read:
    """Judge the records of a capture. reading: what came before, used up. Raises OSError and ValueError."""
    read, path, at, before = Read(reading), capture.path, FILE_HEADER, reading.records
    while True:
        for batch in capture.batches(at, None, after=read.left, before=before, finish=False):
            judging.batch(batch)
        assert capture.left is not None
        read.left = capture.left
        read.last_ns = capture.time_ns or read.last_ns
        if capture.cut is None:
            break
        found = found_again(path, capture.position + 1)
        if found is None:
            read.cut = capture.cut
            break
        read.damaged += found - capture.position
        at, capture = found, FastCapture(path)
    judging.flush()
    read.lost = judging.lost
    return read


def queue_of(row: Row) -> str | None:
    """As `engine.destination`, without decoding the packet."""
    return destination_of(*row.values(DESTINATION))


def packet_line(row: Row, verdicts: Sequence[Verdict]) -> Line:
    """As `telling.packet_row`, without decoding the packet."""
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
