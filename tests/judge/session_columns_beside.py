"""The compiled judge of connections beside the rules one by one: everything said of each packet, and the state left."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from conformance.capture import Event, Frame, Opened, read_capture
from conformance.capture.columns.places import OF_NUMBER
from conformance.capture.columns.reader import FastCapture, Rows
from conformance.judge.columns.judge import column_judge
from conformance.judge.sessions import registers
from conformance.judge.sessions import tables as t
from conformance.judge.sessions.columns.judge import ColumnSessions, Part, plain
from conformance.judge.sessions.columns.packet_row import KEYS, Table, Texts
from conformance.judge.sessions.context import Said, Seen
from conformance.judge.sessions.judge import SessionJudge
from conformance.judge.sessions.message_memory import Memory
from conformance.judge.sessions.messages import Known
from conformance.judge.sessions.sequences import Sendings, Sequences
from conformance.judge.sessions.transactions import GroupTable
from conformance.verdict import Verdict
from conformance.wire import dissect

Told = list[tuple[int, list[Any]]]
CODE = ("SecurityHeader.SecurityData.SenderCert", *KEYS)


class Beside:
    """A compiled judge fed with captures. usual: packets that compiled code judged."""

    def __init__(self, readings: dict[str, tuple[str, ...]], *, lasting: bool = True) -> None:
        self.lasting = lasting
        self.code = column_judge(CODE)
        self.counts = self.code.counts()
        self.texts = Texts()
        self.opened: dict[int, Opened] = {}
        self.sessions = ColumnSessions(readings, self.code.chunks.columns)
        self.usual = 0
        self.told: Told = []
        self.senders: list[str | None] = []

    def feed(self, path: Path, cut: Callable[[int], Sequence[int]] = lambda count: ()) -> None:
        """Judge a capture. cut: the places to cut a batch of so many packets at."""
        self.capture = FastCapture(path)
        for batch in self.capture.batches():
            events = sorted(batch.events, key=lambda one: (one[0], isinstance(one[1], Frame)))
            numbers = np.concatenate([rows.meta[:, OF_NUMBER] for rows in (batch.in_file, batch.in_arena)])
            ordered = np.sort(numbers)
            bounds = [*(int(ordered[at]) for at in cut(len(ordered))), 1 << 62]
            low = 0
            for high in sorted(set(bounds)):
                some = [one for one in events if low <= one[0] < high or (one[0] >= 1 << 62 and high == 1 << 62)]
                parts = tuple(_between(rows, low, high) for rows in (batch.in_file, batch.in_arena))
                self._some(parts, some)
                low = high
        self.sessions.settle()

    def _some(self, both: tuple[Rows, ...], events: Sequence[tuple[int, Event]]) -> None:
        tables, parts = [], []
        for rows in both:
            count = len(rows)
            chunk = self.code.chunk(max(count, 1))
            chunk.offsets, chunk.lengths[:count] = rows.offsets, rows.lengths
            self.code.judge(rows.buffer, chunk, count, self.counts)
            parts.append(Part(rows.buffer, chunk.columns, rows.meta, chunk.slow[:count], rows.offsets, rows.lengths))
            tables.append(Table(rows, chunk.columns, chunk.results, self.code.chunks.columns, self.texts, self.opened))
        numbers = np.concatenate([rows.meta[:, OF_NUMBER] for rows in both])
        order = np.argsort(numbers, kind="stable")
        numbers = numbers[order]
        self.sessions.begin((parts[0], parts[1]), order, self.capture if self.lasting else None)
        done = 0
        for number, event in (*events, (1 << 62, None)):
            end = len(order) if event is None else int(np.searchsorted(numbers, number))
            while done < end:
                stopped = self.sessions.go(done, end)
                known = self.sessions.patterns.kinds
                for at in range(done, stopped):
                    self._tell(int(numbers[at]), list(known[self.sessions.means[order[at]]]))
                self.usual += stopped - done
                done = stopped
                if done < end:
                    place = int(order[done])
                    at = int(place >= len(both[0]))
                    row = place - at * len(both[0])
                    seen: Seen
                    if parts[at].slow[row]:
                        frame = tables[at].frame(row)
                        seen = Seen(frame, dissect(frame.data, transport="tcp"))
                    else:
                        seen = tables[at].packet(row)
                        if seen.kind not in ("UserMessage", "OrderAck", "FinalAck", "SessionAck"):
                            seen = Seen(seen.frame, seen.packet)
                    self._one(seen)
                    done += 1
            if isinstance(event, Opened):
                self.opened[event.connection] = event
            if isinstance(event, Frame):
                self._one(Seen(event, dissect(event.data, transport=event.transport)))
            elif event is not None:
                self.told.append((-1, told_of(self.sessions.said(event), self.sessions.sessions)))

    def _one(self, seen: Seen) -> None:
        said = self.sessions.see(seen)
        self.sessions.learn(said)
        self._tell(seen.frame_number, said)
        self.senders[-1] = self.sessions.sender_of(seen)

    def _tell(self, number: int, said: list[Said]) -> None:
        self.told.append((number, told_of(said, self.sessions.sessions)))
        self.senders.append(None)


def _between(rows: Rows, low: int, high: int) -> Rows:
    numbers = rows.meta[:, OF_NUMBER]
    first, last = np.searchsorted(numbers, [low, high])
    return Rows(rows.buffer, rows.offsets[first:last], rows.lengths[first:last], rows.meta[first:last])


def told_of(said: list[Said], judge: SessionJudge) -> list[Any]:
    """What was said, the numbers replaced by what they stand for."""
    return [one if isinstance(one, Verdict) else judge.kinds[one] for one in said]


def one_by_one(judge: SessionJudge, events: Iterator[Event]) -> tuple[Told, list[str]]:
    """The same by the rules alone: what was said of each event, and the sender of each packet."""
    told: Told = []
    senders: list[str] = []
    for event in events:
        if isinstance(event, Frame):
            seen = Seen(event, dissect(event.data, transport=event.transport))
            told.append((event.number, told_of(judge.see(seen), judge)))
            senders.append(judge.sender_of(seen))
        else:
            told.append((-1, told_of(judge.said(event), judge)))
    return told, senders


def compare(
    path: Path, readings: dict[str, tuple[str, ...]], cut: Callable[[int], Sequence[int]], *, lasting: bool = True
) -> Beside:
    """Both say the same of every packet of a capture, in the same order, and are left in the same state."""
    ours, judge = Beside(readings, lasting=lasting), SessionJudge(readings, counting=True)
    ours.feed(path, cut)
    wanted, senders = one_by_one(judge, read_capture(path))
    found = [one for one in ours.told if one[0] >= 0 or one[1]]
    wanted = [one for one in wanted if one[0] >= 0 or one[1]]
    for one, other in zip(found, wanted, strict=True):
        assert one == other
    assert [one for one in ours.senders if one] == [
        one for one, usual in zip(senders, ours.senders, strict=True) if usual
    ]
    same_state(ours.sessions, judge)
    moved = plain(ours.sessions)
    again = pickle.loads(pickle.dumps(moved))
    again.restore()
    for one in (moved, again):
        assert shown(one.tables) == shown(judge.tables)
    for one in (moved, again):  # Of the first, all remembered messages were asked for; of the other one, none.
        same_state(ColumnSessions(readings, ours.code.chunks.columns, one), judge)
    return ours


def shown(state: Any) -> Any:
    """State as something that can be compared, in its order."""
    if isinstance(state, Known):
        return state.frame, shown(state.values), state.body
    if isinstance(state, Seen):
        return state.frame_number
    if isinstance(state, registers.Connection):
        return numbers_of(state)
    if isinstance(state, registers.TransactionalPath):
        return numbers_of_path(state)
    if isinstance(state, registers.Registers):
        return list(state.shared)[registers.DOUBTED_NS : registers.READS_INCLUDED + 1]
    if isinstance(state, Sequences):
        return chains(state)
    if isinstance(state, Memory | Sendings | GroupTable):
        return [(key, shown(value)) for key, value in state.items()]
    if isinstance(state, t.Table):
        return [tuple(row) for row in rows_of(state)]
    if is_dataclass(state):
        return {one.name: shown(getattr(state, one.name)) for one in fields(state)}
    if isinstance(state, dict):
        return [(key, shown(value)) for key, value in state.items()]
    if isinstance(state, list | tuple | deque):
        return [shown(one) for one in state]
    return state


def rows_of(table: t.Table) -> Iterator[list[int]]:
    """The keys and the content of a table, in its order."""
    for row in table.rows():
        yield [*table.words[row : row + t.NEXT], *table.words[row + t.DATA : row + t.DATA + table.width]]


def chains(state: Sequences) -> Any:
    """The sequences of each queue manager, the one used longest ago first, and of each scope in their order."""
    words, its = state.views.words, state.currents.words
    found = []
    for view in state.views.rows():
        both = []
        for chain in (view, view + t.CHAIN):
            row, count, last, one = words[chain + t.FIRST], words[chain + t.LENGTH], -1, []
            for _ in range(count):
                one.append(
                    [
                        *its[row : row + t.NEXT],
                        *its[row + t.DATA : row + t.FOLLOWING],
                        *its[row + t.HOSTS_0 : row + t.HOSTS_1 + 1],
                    ]
                )
                last, row = row, its[row + t.FOLLOWING]
            assert row == -1 and last == words[chain + t.LAST]
            both.append(one)
        found.append((list(words[view : view + t.NEXT]), words[view + t.FOLLOWED], words[view + t.FAILED], both))
    assert sum(len(one) for *_, both in found for one in both) == len(state.currents)
    return found


def same_state(ours: ColumnSessions, judge: SessionJudge) -> None:
    """Both remember the same, and will forget it in the same order."""
    mine: Any = ours.tables
    its: Any = judge.tables
    same_table(mine.messages.known, its.messages.known)
    for one, other in (
        (mine.lifetimes, its.lifetimes), (mine.transactions.sent, its.transactions.sent),
        (mine.transactions.groups, its.transactions.groups), (mine.transactions.sequences, its.transactions.sequences),
    ):  # fmt: skip
        assert shown(one) == shown(other)
    assert mine.transactions.resends.passes == its.transactions.resends.passes
    assert shown(mine.transactions.paths) == shown(its.transactions.paths)
    assert list(mine.sessions) == list(its.sessions)
    for number, session in its.sessions.items():
        same_session(mine.sessions[number], session)
    state = mine.registers
    count = state.shared[registers.SPARE]
    for session in mine.sessions.values():
        ends = [session.flow.connection.end(side) for side in registers.ENDS]
        count += sum(end.under_way + (end.misses or 0) for end in ends)
    assert count == len(state.nodes) // registers.NODE, "a message under way is lost"


def same_session(mine: Any, its: Any) -> None:
    assert shown(mine.flow) == shown(its.flow)


_PLACES = (registers.MISSING, registers.FIRST, registers.LAST, *range(registers.MANAGED, registers.PATH + 1))
APART = {registers.QUIET, registers.SETTLED, registers.PASSED, registers.SAID} | {
    side + place for side in registers.SIDES for place in _PLACES
}
"""Registers whose numbers are places, or that compiled code alone needs."""


def numbers_of(connection: registers.Connection) -> Any:
    """The registers of a connection."""
    row = connection.registers.rows[connection.base : connection.base + registers.WIDTH]
    numbers = [number for place, number in enumerate(row) if place not in APART]
    return numbers, [list(connection.end(side).messages()) for side in registers.ENDS]


def numbers_of_path(path: registers.TransactionalPath) -> Any:
    """The registers of a path and of its sequences, without the places of others."""
    rows = path.block.rows
    apart = {registers.STAMP, registers.SEQUENCE, registers.PROGRESS}
    numbers = [rows[path.base + place] for place in range(registers.PLACES) if place not in apart]
    sequences = [
        (sequence, list(rows[one.base + registers.HIGHEST : one.base + registers.WHOLE + 1]))
        for sequence, one in path.sequences.items()
    ]
    return numbers, path.newest, sequences


def same_table(mine: Any, its: Any) -> None:
    assert len(mine) == len(its)
    for key, value in its.items():
        found = mine.get(key)
        assert (found.frame, found.values, found.body) == (value.frame, value.values, value.body)
