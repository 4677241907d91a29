"""Judge by columns with the rules of connections: compiled code decodes, and each packet is judged in its order."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from conformance.capture import Cut, Event, Frame, Opened
from conformance.capture.columns.places import OF_NUMBER
from conformance.capture.columns.reader import Batch, Rows
from conformance.captures.columns import BEHIND, REASONS, SHORT, Judging, RangeResult
from conformance.captures.engine import OnPacket, alone, levelled, levelled_kind
from conformance.captures.rows import KEYS, PacketRow, Table, Texts
from conformance.captures.verdict_counts import PACKET, SESSION, Key
from conformance.judge.columns.kernel import ColumnJudge, Slow, column_judge
from conformance.judge.sessions.context import Readings, Said, Seen
from conformance.judge.sessions.judge import SessionJudge
from conformance.judge.sessions.keys import FREQUENT
from conformance.verdict import Verdict
from conformance.wire import Packet

_MOST = 1 << 14  # Senders with verdicts on their packets that are counted before the sums get them.


def session_code() -> ColumnJudge:
    """Return the judge that fills the columns needed by the rules of connections."""
    return column_judge(tuple(dict.fromkeys((*SHORT, *KEYS))))


class SessionJudging(Judging):
    """The judging of one range, with its connections."""

    def __init__(
        self,
        result: RangeResult,
        profile: str,
        readings: Readings,
        level: str,
        keep: int,
        on_packet: OnPacket | None,
    ) -> None:
        super().__init__(result, profile, readings, level, keep, session_code(), on_packet)
        self.sessions = SessionJudge(readings, counting=True)
        self.texts = Texts()
        self.keys: list[Key | None] = []
        self.told_of_senders: dict[tuple[str, tuple[Said, ...]], list[int]] = {}
        self.halfway: list[int] = []
        """The number of the sender of each packet of a batch so far, 0 if it is not known yet."""

    def open(self, event: Opened) -> None:
        """Open a connection; the rules themselves identify its ends."""
        super().open(event)
        self.openings.pop(event.connection, None)
        self.unsettled[event.connection] = 0

    def batch(self, batch: Batch) -> None:
        """Judge a batch, packet by packet."""
        both = (batch.in_file, batch.in_arena)
        for _, event in batch.events:
            if isinstance(event, Opened):
                self.open(event)
        for at, rows in enumerate(both):
            if len(rows):
                self.compiled(at, rows)
        with uncollected(), self.until(both):
            self.through(both, sorted(batch.events, key=lambda one: (one[0], isinstance(one[1], Frame))))
        self.count(both)
        self.forget(batch.events)

    def through(self, both: tuple[Rows, Rows], events: Sequence[tuple[int, Event]]) -> None:
        """Judge everything in order: the events of a number come before its packet."""
        packets: list[PacketRow] = []
        results: list[int] = []
        slow: list[int] = []
        wanted: list[int] = []
        for at, rows in enumerate(both):
            chunk, count = self.chunks[at], len(rows)
            if count:
                found = chunk.results[:count]
                table = Table(rows, chunk.columns, found, self.code.chunks.columns, self.texts, self.opened)
                packets += table.packets()
                results += found.tolist()
                slow += chunk.slow[:count].tolist()
                wanted += self.look[found].tolist()
        given = self.halfway = [0] * len(packets)
        waiting = iter((*events, (1 << 62, None)))
        next_, event = next(waiting)
        for place in _order(both):
            row = packets[place]
            while next_ <= row.frame_number and event is not None:
                self.event(next_, event)
                next_, event = next(waiting)
            if slow[place]:
                self.result.slow[REASONS[Slow(slow[place])]] += 1
                self.one(row.frame, row.packet)
                continue
            given[place] = self.usual(row, results[place], bool(wanted[place]))
        while event is not None:
            self.event(next_, event)
            next_, event = next(waiting)

    def count(self, both: tuple[Rows, Rows], before: int | None = None) -> None:
        """Count the packets of a batch, with the senders that were found packet by packet."""
        first = len(both[0])
        for at, numbers in enumerate((self.halfway[:first], self.halfway[first:])):
            self.given[at][: len(numbers)] = numbers
        super().count(both, before)

    def usual(self, row: PacketRow, outcome: int, wanted: bool) -> int:
        """Add a packet that compiled code has judged; return its sender's number. wanted: also judge it by itself."""
        verdicts: Sequence[Verdict] = ()
        if wanted and self.look[outcome]:
            verdicts = self.look_at(row.frame, row.packet, outcome)
        return self.told_with(row if row.kind in FREQUENT else Seen(row.frame, row.packet), verdicts)

    def told_with(self, seen: Seen, verdicts: Sequence[Verdict]) -> int:
        """Judge a packet by the rules of connections; return the number of its sender."""
        sessions = self.sessions
        said = sessions.see(seen)
        sender = sessions.sender_of(seen)
        if not sessions.single:
            if said:
                key, number = (sender, tuple(said)), seen.frame_number
                counted = self.told_of_senders.get(key)
                if counted is None:
                    self.told_of_senders[key] = [1, number, number]
                    if len(self.told_of_senders) > _MOST:
                        self.settle_counts()
                else:
                    counted[0] += 1
                    counted[2] = number
            if verdicts:
                self.told(seen.frame, seen.packet, list(verdicts))
            return self.name(sender)
        more = self.leveled(said)
        self.sums.add(seen.frame_number, more, SESSION, BEHIND)
        self.sums.by(sender, seen.frame_number, more, BEHIND)
        self.told_one(seen, [*verdicts, *(one for one in more if isinstance(one, Verdict))])
        return self.name(sender)

    def told_one(self, seen: Seen, verdicts: list[Verdict]) -> None:
        """Report a packet that got verdicts by itself."""
        if self.on_packet is not None:
            self.told(seen.frame, seen.packet, verdicts)
        elif self.sums.full:
            self.sessions.count_all()

    def one(self, frame: Frame, packet: Packet) -> None:
        """Judge a packet that no compiled rule has judged."""
        seen = Seen(frame, packet)
        verdicts = alone(seen, self.profile, self.readings, self.level)
        more = self.leveled(self.sessions.see(seen))
        self.sums.by(self.sender(frame, packet), frame.number, [*verdicts, *more])
        self.sums.add(frame.number, verdicts, PACKET)
        self.sums.add(frame.number, more, SESSION, BEHIND)
        self.told_one(seen, [*verdicts, *(one for one in more if isinstance(one, Verdict))])

    def event(self, number: int, event: Event) -> None:
        """Judge an event, also by the rules of connections."""
        super().event(number, event)
        if not isinstance(event, Frame | Cut):
            self.sums.add(number, self.leveled(self.sessions.said(event)), SESSION, -BEHIND)

    def lose(self, connection: int) -> None:
        """Do nothing: the rules of connections get the loss as an event."""

    def leveled(self, said: Sequence[Said]) -> list[Verdict | Key]:
        """Apply `engine.levelled` to verdicts and numbers of kinds."""
        out: list[Verdict | Key] = []
        for one in said:
            if isinstance(one, Verdict):
                out += levelled([one], self.profile, self.level)
            elif (key := self.key(one)) is not None:
                out.append(key)
        return out

    def key(self, number: int) -> Key | None:
        """Return the kind of a number, None if its requirement does not bind."""
        kinds = self.sessions.kinds
        while len(self.keys) <= number:
            self.keys.append(levelled_kind(kinds[len(self.keys)], self.profile, self.level))
        return self.keys[number]

    def sender(self, frame: Frame, packet: Packet) -> str:
        """Return the sender like `SessionJudge.sender`."""
        return self.sessions.sender(frame, packet)

    def settle_counts(self) -> None:
        """Move the counts to the sums."""
        for (sender, said), (count, first, last) in self.told_of_senders.items():
            keys = [key for one in said if isinstance(one, int) and (key := self.key(one)) is not None]
            self.sums.more(sender, keys, count, first, last, SESSION, BEHIND)
        self.told_of_senders.clear()

    def flush(self) -> None:
        """Move all counts to the sums, those of connections included."""
        self.settle_counts()
        super().flush()


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch off the garbage collector: the objects of a batch are freed or kept, and form no cycles."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _order(both: tuple[Rows, Rows]) -> Any:
    """Return the places of the packets of both, the second after the first, ordered by their numbers."""
    if not len(both[0]) or not len(both[1]):
        return range(len(both[0]) + len(both[1]))
    return np.argsort(np.concatenate([rows.meta[:, OF_NUMBER] for rows in both]), kind="stable").tolist()
