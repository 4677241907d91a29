"""Find what the parts of a server's connections overhear of each other (`conformance.judge.sessions.overheard`).

Where nearly everything belongs to one host, its connections are parted by their other hosts. A second look at what the
walk has written down, of which a few bytes of each packet are read, finds what all parts have to know: pings and
openings (`connections_openings`), and of each queue manager that several parts meet the messages that are younger than
all before them, and those before the first one of a sequence (`connections_sent`). It also finds why parts would not
do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from conformance.capture import Event, Frame, Opened
from conformance.capture.columns.places import (
    OF_CONNECTION,
    OF_HEARD,
    OF_NUMBER,
    OF_OFFSET,
    OF_RECORD,
    OF_SIDE,
    OF_TIME,
    SLACK,
)
from conformance.capture.columns.reader import FastCapture
from conformance.judge.sessions.columns.packet_row import SIDES
from conformance.judge.sessions.context import MESSAGES
from conformance.judge.sessions.lifetimes import AHEAD, BEHIND
from conformance.judge.sessions.overheard import Greeted, Left, Recalled, Refuted
from conformance.judge.sessions.words import guid_words
from conformance.pipeline.connections_groups import Buckets
from conformance.pipeline.connections_openings import Openings, Told
from conformance.pipeline.connections_sent import BUCKETS, NONE, Decoding, Messages, Sent, of_packet
from conformance.wire import dissect
from conformance.wire.session_packets import CONNECTION_PARAMETERS, ESTABLISH_CONNECTION

_FLAGS, _INTERNAL, _KIND, _KINDS = 2, 0x08, 18, 0x0F  # Of BaseHeader and InternalHeader.
_SOURCE, _TIMES, _MESSAGE = 16, 52, 60  # In a message: its queue manager, SentTime and MessageID, and their end.
_MARKS, _MARKED, _TRANSACTION = 56, 64, 52  # MessageID and Flags, their end, and the bit TH in both.
_OPENING: Final = 4
"""Packets of an opening that is as it should be."""
_MOST = 256  # Packets of a connection that may come before its opening has ended.
_S, _NEVER = 1_000_000_000, 1 << 62


@dataclass(frozen=True, slots=True)
class Overheard:
    """An event that another part judges, or what follows from some."""

    event: Event | Recalled | Refuted | Greeted | Left


@dataclass(slots=True)
class _Shared:
    """A queue manager that several parts meet. words: its bytes. low: the least age of its messages, in s.

    heard: its messages among the events of a batch, with their identifiers.
    """

    words: tuple[int, int]
    low: int = _NEVER
    sent: Sent = field(default_factory=Sent)
    heard: list[tuple[int, Frame]] = field(default_factory=list)


class Server:
    """Finds what parts overhear. why: why the connections cannot be judged in these parts; None if they can."""

    def __init__(self, buckets: Buckets) -> None:
        self.buckets = buckets
        self.why: str | None = None
        self._opened: dict[int, Opened] = {}
        self.openings = Openings(buckets)
        count = len(buckets.of_connection) + 1
        self._begun, self._before = np.full(count, _OPENING, np.int8), np.zeros(count, np.int32)
        self._shared = {name: _Shared(guid_words(name)) for name in sorted(buckets.crossing)}
        self._decoding = Decoding()
        self._file: FastCapture | None = None

    def batch(
        self,
        file: FastCapture,
        in_file: tuple[Any, Any, Any],
        arena: list[bytes],
        in_arena: Any,
        events: Sequence[tuple[int, Event]],
    ) -> list[Told]:
        """Take a batch of the walk; return what is overheard."""
        self._file = file
        for _, event in events:
            self._event(event)
        lengths = np.array([len(one) for one in arena], np.int64)
        joined = np.frombuffer(b"".join([*arena, bytes(SLACK + _MESSAGE)]), np.uint8)
        both = (file.bytes, *in_file), (joined, np.cumsum(lengths) - lengths, lengths, in_arena)
        heads = [_heads(*one[:3]) for one in both]
        internal, opening, high, low, times, marked = (np.concatenate([one[at] for one in heads]) for at in range(6))
        meta = np.concatenate([in_file[2].reshape(-1, 8), in_arena.reshape(-1, 8)])
        order = np.argsort(meta[:, OF_NUMBER], kind="stable")
        wanted: dict[int, Frame] = {}
        turns: list[tuple[int, Event | None, int]] = [(at, one, -1) for at, one in events]
        turns += [(int(meta[row, OF_NUMBER]), None, row) for row in self._openings(meta, opening, order)]
        told: list[Told] = []
        for number, its, row in sorted(turns, key=_turn):
            if its is not None:
                told += self.openings.event(number, its)
            else:
                wanted[row] = self._frame(both, row)
                told += self.openings.packet(wanted[row])
        self.why = self.why or self.openings.why
        heard = {one.number for one in told if isinstance(one.event, Frame)}
        for name, one in self._shared.items():
            mine = order[(~internal & (high == one.words[0]) & (low == one.words[1]))[order]]
            found = self._young(one, meta[mine], times[mine])
            for row in mine[found].tolist():
                frame = wanted.get(row) or self._frame(both, row)
                self._checked(frame, name)
                if frame.number not in heard:
                    heard.add(frame.number)
                    told.append(Told(frame.number, self.buckets.of(frame), frame))
            told += one.sent.batch(self._messages(one, both, mine, meta, times, marked))
        return sorted(told, key=lambda one: (one.number, isinstance(one.event, Frame)))

    def end(self) -> dict[str, bytes]:
        """Find what only all of it shows, as a message in several parts. Returns the messages: `Sent.identifiers`."""
        out = {}
        for name, one in self._shared.items():
            found = one.sent.identifiers()
            if len(np.unique(found >> BUCKETS)) != len(found):
                self.why = "messages of one queue manager are in several parts"
            elif not one.sent.apart:
                self.why = "a transaction is in several parts"
            out[name] = found.tobytes()
        return out

    @property
    def sends(self) -> bool:
        """True when a queue manager has sent messages in transactions to several buckets."""
        return any(len(one.sent.sends) > 1 for one in self._shared.values())

    def _event(self, event: Event) -> None:
        if isinstance(event, Opened):
            self._opened[event.connection] = event
            self._begun[event.connection] = 0 if event.complete else _OPENING
        elif isinstance(event, Frame) and event.connection is not None and event.trouble is None:
            packet = dissect(event.data, transport=event.transport)
            source, number = (packet.fields.get(f"UserHeader.{key}") for key in ("SourceQueueManager", "MessageID"))
            one = self._shared.get(str(source))
            if one is not None and isinstance(number, int):
                one.heard.append((number, event))

    def _openings(self, meta: Any, opening: Any, order: Any) -> Iterable[int]:
        """Yield the packets of openings, and all that come before an opening has ended."""
        begun, before = self._begun, self._before
        connections = meta[order, OF_CONNECTION]
        some = np.flatnonzero(opening[order] | (begun[connections] < _OPENING))
        rows = order[some]
        for row, connection, opens in zip(
            rows.tolist(), connections[some].tolist(), opening[rows].tolist(), strict=True
        ):
            if begun[connection] < _OPENING:
                begun[connection] += opens
                before[connection] += 1
                if before[connection] > _MOST:
                    self.why = "a connection has no usual opening"
                yield row
            elif opens:
                yield row

    def _young(self, one: _Shared, meta: Any, times: Any) -> Any:
        """Return which messages of a queue manager are younger than all before them."""
        ages = meta[:, OF_TIME] // _S - (times & 0xFFFFFFFF)
        if len(ages) and (int(ages.min()) < -AHEAD or int(ages.max()) > BEHIND):
            self.why = "the clock of a queue manager in several parts is wrong"
        lows = np.minimum.accumulate(np.concatenate(([one.low], ages)))
        one.low = int(lows[-1])
        return np.flatnonzero(ages < lows[:-1])

    def _messages(self, one: _Shared, both: Any, mine: Any, meta: Any, times: Any, marked: Any) -> Messages:
        """Return the messages of a queue manager in a batch. mine: their rows, but for those among the events."""
        heard, one.heard = one.heard, []
        transactions, places = np.full((2, len(mine)), NONE)
        first = len(both[0][1])
        for begin, (buffer, offsets, lengths, _) in zip((0, first), both, strict=True):
            which = np.flatnonzero(marked[mine] & ((mine >= first) == (begin > 0)))
            if len(which):
                rows = mine[which] - begin
                transactions[which], places[which] = self._decoding.rows(buffer, offsets[rows], lengths[rows])
        more = [of_packet(dissect(event.data, transport=event.transport).fields) for _, event in heard]
        numbers = np.concatenate((meta[mine, OF_NUMBER], np.array([event.number for _, event in heard], np.int64)))
        order = np.argsort(numbers, kind="stable")
        identifiers = np.concatenate((times[mine] >> 32 & 0xFFFFFFFF, np.array([at for at, _ in heard], np.int64)))
        buckets = np.concatenate((
            self.buckets.of_connection[meta[mine, OF_CONNECTION]],
            np.array([self.buckets.of(event) for _, event in heard], np.int64),
        ))  # fmt: skip

        def frame(row: int) -> Frame:
            at = int(order[row])
            return self._frame(both, int(mine[at])) if at < len(mine) else heard[at - len(mine)][1]

        transactions = np.concatenate((transactions, np.array([at for at, _ in more], np.int64)))
        places = np.concatenate((places, np.array([at for _, at in more], np.int64)))
        return Messages(
            identifiers[order], numbers[order], buckets[order].astype(np.int64), transactions[order], places[order],
            frame, self._file,
        )  # fmt: skip

    def _checked(self, frame: Frame, source: str) -> None:
        """See to it that the rules take a packet for a message as its bytes do here."""
        packet = dissect(frame.data, transport=frame.transport)
        named = packet.fields.get("UserHeader.SourceQueueManager")
        if packet.kind not in MESSAGES or named != source or packet.fields.get("BaseHeader.TimeToReachQueue") is None:
            self.why = "a packet of a queue manager in several parts is no message"

    def _frame(self, both: tuple[tuple[Any, ...], ...], row: int) -> Frame:
        first = len(both[0][1])
        buffer, offsets, lengths, meta = both[row >= first]
        row -= first * (row >= first)
        begin, found = int(offsets[row]), meta[row].tolist()
        opened, side = self._opened[found[OF_CONNECTION]], found[OF_SIDE]
        ends = opened.initiator, opened.acceptor
        return Frame(
            found[OF_NUMBER], found[OF_RECORD], found[OF_TIME], ends[side], ends[1 - side], "tcp",
            bytes(buffer[begin : begin + int(lengths[row])]), found[OF_CONNECTION], SIDES[side], found[OF_OFFSET],
            found[OF_HEARD],
        )  # fmt: skip


def _turn(one: tuple[int, Event | None, int]) -> tuple[int, bool]:
    return one[0], one[1] is None or isinstance(one[1], Frame)


def _heads(buffer: Any, offsets: Any, lengths: Any) -> tuple[Any, ...]:
    """Return of each packet whether it is internal, and one of an opening, three words of it, 0 if it is short, and
    whether it is marked as one in a transaction.
    """
    words = np.ndarray((len(buffer) - 7,), np.int64, buffer, strides=(1,))
    long = lengths >= _MESSAGE
    places = np.where(long, offsets, 0)
    internal = (buffer[np.where(lengths > _KIND, offsets, 0) + _FLAGS] & _INTERNAL) != 0
    kinds = buffer[np.where(lengths > _KIND, offsets, 0) + _KIND] & _KINDS
    opening = internal & ((kinds == ESTABLISH_CONNECTION) | (kinds == CONNECTION_PARAMETERS))
    three = (np.where(long, words[places + at], 0) for at in (_SOURCE, _SOURCE + 8, _TIMES))
    marked = lengths >= _MARKED
    marked &= words[np.where(marked, offsets, 0) + _MARKS] >> _TRANSACTION & 1 == 1
    return internal, opening, *three, marked
