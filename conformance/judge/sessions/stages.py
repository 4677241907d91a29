"""The two parts of the rules of connections as stages, with facts between them that are values.

`ConnectionStage` judges connections by themselves: any of them, wherever the others are. It turns each event into a
`Fact`, which has what the other rules read of it. `SharedStage` judges the facts of all connections in the order of
their events. What both say of an event, put together by `in_order`, is what a `SessionJudge` says of it, in its order.

A fact has the values of a usual packet instead of its bytes; whoever runs the second stage can get these by the fact,
for they are wanted where something fails, or at the beginning of a connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from conformance.capture import Closed, Ended, Event, Frame, Hole, Lost, Opened, Side
from conformance.judge.sessions import shared
from conformance.judge.sessions.connection import Counted, judge_connection
from conformance.judge.sessions.context import QUEUE, Notes, Readings, Said, Seen, one_name
from conformance.judge.sessions.counts import Counts
from conformance.judge.sessions.flow import Flow
from conformance.judge.sessions.judge import Tables
from conformance.judge.sessions.keys import FREQUENT
from conformance.judge.sessions.messages import REMEMBERED
from conformance.judge.sessions.opening import Opening
from conformance.judge.sessions.sequences import READING_SCOPE
from conformance.wire import Packet, dissect
from conformance.wire.layout import Value

_CLASS = "MessagePropertiesHeader.MessageClass"
_TRANSACTION = (
    "TxSequenceID", "TxSequenceNumber", "PreviousTxSequenceNumber", "Flags.ID", "Flags.FM", "Flags.LM", "Flags.FA",
)  # fmt: skip
_BODIES = {
    "OrderAckBody": ("TxSequenceID", "TxSequenceNumber"),
    "FinalAckBody": (
        "SourceGUID", "MessageID", "TxSequenceID", "TxSequenceNumber", "TxPreviousSequenceNumber",
    ),
}  # fmt: skip
CARRIED: Final[tuple[str, ...]] = tuple(
    dict.fromkeys(
        (
            *REMEMBERED, "UserHeader.MessageID", "UserHeader.SentTime", "BaseHeader.Flags.PR", "UserHeader.Flags.JN",
            "UserHeader.Flags.JP", *(f"TransactionHeader.{name}" for name in _TRANSACTION),
            *(f"{body}.{name}" for body, names in _BODIES.items() for name in names),
        )
    )
)  # fmt: skip
"""The values of a usual message or acknowledgment in a fact."""
_AT: Final = {key: at for at, key in enumerate(CARRIED)}


_USUAL = Counted()


@dataclass(frozen=True, slots=True)
class Fact:
    """An event for the rules whose state crosses connections.

    turn: its place among all events. event: itself, None for a usual packet: whole, without a gap or trouble, and of a
    class that no rule compares with another message. values: of `CARRIED`; none of a SessionAck. body: its digest.
    """

    turn: int
    event: Event | None
    counted: Counted = _USUAL
    number: int = 0
    time_ns: int = 0
    connection: int = 0
    side: Side = "initiator"
    kind: str = ""
    values: tuple[Value | None, ...] = ()
    body: bytes = b""


Frames = Callable[[Fact], Frame]
"""Returns the frame of a fact that has none."""


class FactSeen(Seen):
    """A usual packet, as its fact has it. It may be remembered; other values are read from its frame."""

    __slots__ = ("_ends", "_frames", "fact")

    def __init__(self, fact: Fact, ends: tuple[str, str], frames: Frames) -> None:
        self.fact, self._ends, self._frames = fact, ends, frames
        self._frame, self._packet = None, None

    @property
    def frame(self) -> Frame:
        """See `Seen.frame`."""
        if self._frame is None:
            self._frame = self._frames(self.fact)
        return self._frame

    @property
    def packet(self) -> Packet:
        """See `Seen.packet`."""
        if self._packet is None:
            self._packet = dissect(self.frame.data, transport=self.frame.transport)
        return self._packet

    @property
    def kind(self) -> str:
        """See `Seen.kind`."""
        return self.fact.kind

    @property
    def whole(self) -> bool:
        """See `Seen.whole`."""
        return True

    @property
    def frame_number(self) -> int:
        """See `Seen.frame_number`."""
        return self.fact.number

    @property
    def time_ns(self) -> int:
        """See `Seen.time_ns`."""
        return self.fact.time_ns

    @property
    def connection(self) -> int | None:
        """See `Seen.connection`."""
        return self.fact.connection

    @property
    def side(self) -> Side | None:
        """See `Seen.side`."""
        return self.fact.side

    @property
    def gap_before(self) -> int:
        """See `Seen.gap_before`."""
        return 0

    @property
    def trouble(self) -> None:
        """See `Seen.trouble`."""
        return None

    @property
    def hosts(self) -> tuple[str, str]:
        """See `Seen.hosts`."""
        one, other = self._ends
        return (one, other) if self.fact.side == "initiator" else (other, one)

    def _value(self, key: str) -> Value | None:
        at = _AT.get(key) if self.fact.values else None
        return self.packet.fields.get(key) if at is None else self.fact.values[at]

    def number(self, key: str) -> int | None:
        """See `Seen.number`."""
        value = self._value(key)
        return int(value) if isinstance(value, int) else None

    def text(self, key: str) -> str | None:
        """See `Seen.text`."""
        value = self._value(key)
        return value if isinstance(value, str) else None

    def raw(self, key: str) -> bytes | None:
        """See `Seen.raw`."""
        value = self._value(key)
        return value if isinstance(value, bytes) else None

    def values(self, keys: tuple[str, ...]) -> tuple[Value | None, ...]:
        """See `Seen.values`."""
        return tuple(map(self._value, keys))

    def queue(self) -> str:
        """See `Seen.queue`."""
        return one_name(self.values(QUEUE))

    def body(self) -> bytes:
        """See `Seen.body`."""
        return self.fact.body if self.fact.values else super().body()


class ConnectionStage:
    """Judges connections by themselves. notes: gets what is said of them."""

    def __init__(self, readings: Readings, *, counting: bool = False) -> None:
        self.notes = Notes(readings, kinds=[] if counting else None)
        self._open: dict[int, tuple[Counts, Flow]] = {}

    def take(self, turn: int, event: Event) -> tuple[Fact, list[Said]]:
        """Judge an event; return its fact, and what is said of it."""
        if isinstance(event, Frame) and event.connection is not None:
            return self._packet(turn, Seen(event, dissect(event.data, transport=event.transport)))
        if isinstance(event, Opened):
            counts = Counts.begin(complete=event.complete)
            self._open[event.connection] = counts, Flow(counts)
        elif isinstance(event, Hole | Lost) and event.connection in self._open:
            self._open[event.connection][0].lose(event.side)
        elif isinstance(event, Closed):
            self._open.pop(event.connection, None)
        return Fact(turn, event), []

    def _packet(self, turn: int, seen: Seen) -> tuple[Fact, list[Said]]:
        assert seen.connection is not None and seen.side is not None
        counted = judge_connection(seen, self.notes, *self._open[seen.connection])
        kind, said = seen.kind, self.notes.take()
        if seen.trouble is not None or seen.gap_before or kind not in FREQUENT or not seen.whole:
            return Fact(turn, seen.frame, counted), said
        if kind == "UserMessage" and seen.number(_CLASS):
            return Fact(turn, seen.frame, counted), said
        values, body = ((), b"") if kind == "SessionAck" else (seen.values(CARRIED), seen.body())
        usual = (seen.frame_number, seen.time_ns, seen.connection, seen.side, kind, values, body)
        return Fact(turn, None, counted, *usual), said


class SharedStage:
    """Judges what crosses connections, by the facts of all of them in the order of their turns."""

    def __init__(self, readings: Readings, frames: Frames, *, counting: bool = False) -> None:
        self.notes = Notes(readings, kinds=[] if counting else None)
        self.tables = Tables.begin(self.notes.accepted(READING_SCOPE))
        self.openings: dict[int, Opening] = {}
        self.reached = 0
        self._frames = frames

    def take(self, fact: Fact) -> tuple[list[Said], list[Said]]:
        """Judge an event; return what is said before and after what its connection says of it."""
        event, notes, tables = fact.event, self.notes, self.tables
        if event is None:
            opened = self.openings[fact.connection].opened
            return self._packet(FactSeen(fact, (opened.initiator.address, opened.acceptor.address), self._frames), fact)
        if isinstance(event, Frame):
            return self._packet(Seen(event, dissect(event.data, transport=event.transport)), fact)
        opening = self.openings.get(getattr(event, "connection", -1))
        if isinstance(event, Opened):
            opening = self.openings[event.connection] = Opening(event, known=event.complete)
            if not event.complete:
                for side in ("initiator", "acceptor"):
                    shared.lost(opening, side, tables)
        elif isinstance(event, Hole | Lost) and opening is not None:
            shared.lost(opening, event.side, tables)
        elif isinstance(event, Closed) and opening is not None:
            del self.openings[event.connection]
            shared.closed(event, opening, tables, notes)
        elif isinstance(event, Ended):
            shared.ended(self.reached, tables, notes)
        return notes.take(), []

    def _packet(self, seen: Seen, fact: Fact) -> tuple[list[Said], list[Said]]:
        notes, tables = self.notes, self.tables
        self.reached = seen.frame_number
        if notes.suspicions:
            notes.resolve(seen.time_ns)
        if seen.connection is None or seen.side is None:
            shared.judge_datagram(seen, tables, notes)
            return notes.take(), []
        opening = self.openings[seen.connection]
        shared.judge_place(seen, opening, tables, notes)
        before = notes.take()
        if seen.trouble is None:
            shared.judge_message(seen, opening, tables, notes, fact.counted)
        return before, notes.take()


def in_order(facts: Iterable[Fact], own: Mapping[int, list[Said]], stage: SharedStage) -> Iterator[list[Said]]:
    """Yield what is said of each event. facts: of all events, in any order. own: by turn, what the connections say."""
    for fact in sorted(facts, key=lambda one: one.turn):
        before, after = stage.take(fact)
        yield [*before, *own.get(fact.turn, ()), *after]
