"""The state of `ColumnSessions` as that of a `SessionJudge`, and back: both go on with exactly the same results."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from operator import is_
from typing import Any, Final

import numpy as np

from conformance.capture import Event, Opened, Side
from conformance.capture.columns.places import OF_NUMBER
from conformance.judge.sessions import context, messages
from conformance.judge.sessions import registers as state
from conformance.judge.sessions.columns import layout as at
from conformance.judge.sessions.columns import tables
from conformance.judge.sessions.columns.tables import Index, Rows
from conformance.judge.sessions.columns.views import (
    GroupsView,
    KnownView,
    LastView,
    Passes,
    SentView,
    SmallestView,
    Sources,
    ViewsView,
    known_in,
)
from conformance.judge.sessions.context import Kind, Readings, Said, Seen
from conformance.judge.sessions.flow_steps import KINDS
from conformance.judge.sessions.judge import SessionJudge, Tables
from conformance.judge.sessions.keys import ASKED, Patterns, guid_words
from conformance.judge.sessions.message_memory import Unopened
from conformance.judge.sessions.messages import REMEMBERED, Lifetimes, Messages
from conformance.judge.sessions.opening import OPEN
from conformance.judge.sessions.packets import RULES
from conformance.judge.sessions.registers import Connection, Registers
from conformance.judge.sessions.sequences import READING_SCOPE, Resends, Sequences
from conformance.judge.sessions.transactions import Groups, Transactions
from conformance.wire.columns.arrays import Compiled
from conformance.wire.columns.shapes import Sort
from conformance.wire.columns.table import Column, ColumnSet

_ROOM = "conformance.judge.sessions.columns"
_USES = (
    f"{_ROOM}.layout",
    f"{_ROOM}.tables",
    "conformance.judge.sessions.registers",
    "conformance.judge.sessions.flow_steps",
    "conformance.judge.sessions.order_steps",
    "conformance.judge.sessions.fates",
    "conformance.judge.sessions.keys",
    "conformance.judge.sessions.messages",
    "conformance.judge.sessions.transactions",
    "conformance.capture.columns.places",
    "conformance.capture.services",
    "conformance.wire.columns.intrinsics",
    "conformance.wire.columns.lowering",
)

run = Compiled(f"{_ROOM}.kernel", "run", _USES)
"""See `kernel.run`."""

_CLASSES = 1 << 12
ALONE: Final = {
    "OrderAck": (
        "UserHeader.Flags.DM", "UserHeader.Flags.DQ", "UserHeader.DestinationQueue.PrivateQueueIdentifier",
        "UserHeader.DestinationQueue.DirectFormatName", "MessagePropertiesHeader.Label", "OrderAckBody.Reserved",
        "UserHeader.QueueManagerAddress", "UserHeader.SourceQueueManager", "BaseHeader.Flags",
    ),
    "FinalAck": ("MessagePropertiesHeader.MessageClass", "BaseHeader.Flags"),
}  # fmt: skip
"""Fields that `judge_alone` reads besides those of `RULES`, by kind."""
_NUMBERED = ("OrderAckBody.TxSequenceNumber",)  # Different in each packet: compared by compiled code itself.

ACCOUNTED: Final = frozenset(
    (
        *at.KEYS, *REMEMBERED, *(key for keys in ALONE.values() for key in keys),
        *(rule.field for rules in RULES.values() for rule in rules),
    )
)  # fmt: skip
"""The keys that compiled code compares, takes into the class of a packet, or keeps for the rules."""


class DisagreementError(RuntimeError):
    """Raised when compiled code took two packets for alike of which the rules say different things."""


@dataclass(frozen=True, slots=True)
class Part:
    """The packets of one buffer, decoded. columns: int64[width, n or more]. slow: uint8, not 0 for those undecoded."""

    buffer: Any
    columns: Any
    meta: Any
    slow: Any
    offsets: Any
    lengths: Any


class ColumnSessions:
    """Judges the sessions of one capture like `SessionJudge`, of which it is a faster form.

    columns: those of the packets, with all `layout.KEYS`. patterns: what the numbers in `means` stand for.
    """

    def __init__(self, readings: Readings, columns: ColumnSet) -> None:
        self.patterns = Patterns()
        self.cursor = np.zeros(at.CURSOR, np.int64)
        self.cursor[[at.DUE, at.CLASS]] = (1 << 63) - 1, -1
        self.index = Index()
        self.known, self.sent, self.groups = (
            Rows(most * context.MAX_REMEMBERED, width)
            for most, width in ((1, at.KNOWN_WIDTH), (1, at.SENT_WIDTH), (2, at.GROUP_WIDTH))
        )
        self.classes = Rows(_CLASSES, at.CLASS_WIDTH)
        self.slots = np.full(64, -1, np.int32)
        self.places = _places(columns)
        self.strangers = frozenset(ASKED) - ACCOUNTED
        """Keys that the rules read and compiled code knows nothing of: while there are any, it judges no packet."""
        self.alone = _alone(columns)
        self.sources = Sources(self.index, self.cursor)
        self.messages = KnownView(self.known)
        passes = Passes()
        passes.forgotten = self._pass_gone
        registers = Registers()
        made: Any = Transactions(readings[READING_SCOPE], registers)
        made.views, made.groups = ViewsView(self.sources), Groups(GroupsView(self.groups))  # type: ignore[arg-type]
        made.resends, made.sent = Resends(passes), SentView(self.sent)
        times: Any = Lifetimes(SmallestView(self.sources), LastView(self.index))  # type: ignore[arg-type]
        messages: Any = Messages(self.messages)  # type: ignore[arg-type]
        self.tables = _Tables(messages, times, made, registers)
        self.tables.columns = self
        self.sessions = SessionJudge(readings, counting=True, tables=self.tables)
        self._learned: dict[int, tuple[int, ...]] = {}
        self._parts: tuple[Part, Part] | None = None
        self._bound: Callable[[], int] | None = None
        self._arrays: tuple[Any, ...] = ()
        self.means = np.zeros(0, np.int32)
        self.order = np.zeros(0, np.int64)
        self.entered = np.zeros(0, np.int64)
        self._words = np.zeros(2, np.int64)
        self._suspects = False

    @property
    def kinds(self) -> Sequence[Kind]:
        """See `SessionJudge.kinds`."""
        return self.sessions.kinds

    @property
    def single(self) -> bool:
        """See `SessionJudge.single`."""
        return self.sessions.single

    def count_all(self) -> None:
        """See `SessionJudge.count_all`."""
        self.sessions.count_all()
        self.cursor[at.FULL] = 1

    def sender_of(self, seen: Seen) -> str:
        """See `SessionJudge.sender_of`."""
        return self.sessions.sender_of(seen)

    def manager(self, connection: int, side: Side) -> str | None:
        """See `SessionJudge.manager`."""
        return self.sessions.manager(connection, side)

    # --- one by one

    def see(self, seen: Seen) -> list[Said]:
        """Judge one packet by the rules, like `SessionJudge.see`."""
        suspected = self.sessions.suspected
        said = self.sessions.see(seen)
        self.tables.registers.shared[state.DECIDED] = 0
        self._suspects = self.sessions.suspected != suspected
        if seen.connection is not None:
            self._refresh(seen.connection)
            source = seen.text("UserHeader.SourceQueueManager") if seen.trouble is None else None
            if source is not None:
                self.sources.tell(source)
        self._due()
        return said

    def said(self, event: Event) -> list[Said]:
        """Judge an event other than a packet, like `SessionJudge.said`."""
        said = self.sessions.said(event)
        connection = getattr(event, "connection", None)
        if connection is not None:
            self._refresh(connection)
        self._due()
        return said

    def refresh(self) -> None:
        """Tell compiled code of a state that was made by others."""
        for connection in self.tables.sessions:
            self._refresh(connection)
        for source in self.sources.views:
            self.sources.tell(source)
        self._due()

    def settle(self) -> None:
        """Remember by their bytes the messages that are remembered by their place, before the capture goes."""
        self.messages.settle()
        self.leave()

    def leave(self) -> None:
        """Let go of all bytes, since nothing more is judged."""
        self.messages.leave()
        self._parts = self._bound = None
        self._arrays = ()

    # --- many

    def begin(self, parts: tuple[Part, Part], order: Any, owner: object) -> None:
        """Take packets that follow. order: their places in the order of their numbers, the first part's first.

        owner: as long as it lives, the bytes of the first part stay in their place; without one they go like the second
        part's.
        """
        self._parts, self.order = parts, order
        count = len(order)
        if len(self.means) < count:
            self.means, self.entered = np.zeros(count, np.int32), np.zeros(count, np.int64)
        self.means[:count] = self.entered[:count] = -1
        if len(parts[0].meta):
            self.messages.read_from(parts[0].buffer, int(parts[0].meta[0, OF_NUMBER]), owner)
        self.tables.registers.ensure(count)

    def go(self, begin: int, end: int) -> int:
        """Judge the packets from `begin` to `end` of the order until one is to be judged by the rules; return it."""
        assert self._parts is not None
        self.cursor[at.AT], self.cursor[at.STOP] = begin, end
        if self.strangers:
            return begin
        self._binding()()
        stopped = int(self.cursor[at.AT])
        if stopped > begin:
            last, first = int(self.order[stopped - 1]), len(self._parts[0].meta)
            meta = self._parts[last >= first].meta
            self.sessions.reached = int(meta[last - first * (last >= first), OF_NUMBER])
        self._keep(begin, stopped)
        return stopped

    def learn(self, said: Sequence[Said]) -> None:
        """Learn what the rules say of the packet at which the last run stopped; `see` was called with it."""
        row = int(self.cursor[at.CLASS])
        self.cursor[at.CLASS] = -1
        if row < 0:
            return
        means = int(self.classes.rows[row, at.MEANS])
        known = self._learned.get(means)
        numbers = None if self.sessions.single or self._suspects else tuple(one for one in said if isinstance(one, int))
        if known is not None and numbers != known:
            raise DisagreementError(f"class {self.classes.rows[row].tolist()}: {said}, not {known}")
        if known is None and numbers is not None:
            means = self.classes.rows[row, at.MEANS] = self.patterns.number(numbers)
            self._learned[int(means)] = numbers

    def warm(self) -> None:
        """Compile what is missing of the machine code, or load it."""
        wide, long = np.zeros((1, 1), np.int64), np.zeros(0, np.int64)
        nothing = Part(np.zeros(0, np.uint8), wide, wide[:0], np.zeros(0, np.uint8), long, long)
        self.begin((nothing, nothing), long, None)
        self._binding()
        self.leave()

    # --- inside

    def _binding(self) -> Callable[[], int]:
        assert self._parts is not None
        one, other = self._parts
        tables = (self.index, self.known, self.sent, self.groups, self.classes)
        registers = self.tables.registers
        its = (
            registers.connections.rows, registers.paths.rows, registers.nodes, registers.shared, registers.out,
            registers.order_out,
        )  # fmt: skip
        arrays = (
            one.columns, other.columns, one.buffer, other.buffer, one.meta, other.meta, one.slow, other.slow,
            one.offsets, one.lengths, other.lengths, self.order, self.places, self.alone, self.cursor, self.slots,
            *its,
            *(words for table in tables for words in (table.ends, table.heads, table.rows)),
            self.means, self.entered, self._words,
        )  # fmt: skip
        if self._bound is None or not all(map(is_, arrays, self._arrays)):
            given = [np.frombuffer(one, np.int64) if isinstance(one, array) else one for one in arrays]
            given[2:4] = one.buffer.ctypes.data, other.buffer.ctypes.data
            self._arrays, self._bound = arrays, run.bound(*given)
        return self._bound

    def _keep(self, begin: int, end: int) -> None:
        """Keep the messages whose bytes will go."""
        assert self._parts is not None
        first = len(self._parts[0].meta)
        body = self.places[at.F_BODY].tolist()
        for number, part in enumerate(self._parts):
            if not len(part.meta) or (number == 0 and self.messages.owner is not None):
                continue
            places = self.order[begin:end]
            places = places[(places >= first) == number]
            for place, row in zip(places.tolist(), self.entered[places].tolist(), strict=True):
                which = place - first * number
                if row < 0 or self.known.rows[row, at.FRAME] != part.meta[which, OF_NUMBER]:
                    continue
                start, size = int(part.offsets[which]), int(part.lengths[which])
                there = int(part.columns[body[0], which]) >> body[1] & 1
                body_at, body_size = part.columns[body[2] : body[2] + 2, which].tolist() if there else (start, 0)
                frame = int(part.meta[which, OF_NUMBER])
                self.messages.keep(row, known_in(part.buffer, frame, start, size, body_at, body_size))

    def _due(self) -> None:
        self.cursor[at.DUE] = self.sessions.due_ns

    def open(self, number: int, connection: Connection) -> None:
        """Tell compiled code of a new connection."""
        if number >= len(self.slots):
            wider = np.full(max(2 * len(self.slots), number + 1), -1, np.int32)
            wider[: len(self.slots)] = self.slots
            self.slots = wider
        self.slots[number] = connection.base // state.WIDTH

    def _refresh(self, connection: int) -> None:
        """Tell compiled code what it needs to know of the parts of a session that are no arrays."""
        session = self.tables.sessions.get(connection)
        if session is None:
            return
        opening, registers = session.opening, session.flow.connection
        row, base = registers.block.rows, registers.base
        settled = opening.settled
        usual = settled or (
            opening.known
            and opening.stage == OPEN
            and not opening.derailed
            and not opening.duties
            and opening.doubted is None
        )
        row[base + state.SETTLED], row[base + state.QUIET] = settled, usual
        passes, open_ = self.tables.transactions.resends.passes, self.tables.transactions.omissions
        row[base + state.PASSED] = sum(
            1 << number
            for number, side in enumerate(state.ENDS)
            if (connection, side) in passes and (connection, side) not in open_
        )
        if self.sessions.open_notes.has_said(messages.EXPIRED, connection):
            row[base + state.SAID] |= at.SAID_EXPIRED
        one, other = opening.opened.initiator.address, opening.opened.acceptor.address
        for side, first, hosts in zip(state.ENDS, state.SIDES, ((one, other), (other, one)), strict=True):
            end = base + first
            path = self.tables.transactions.paths.get(hosts)
            row[end + state.PATH] = -1 if path is None else path.base
            row[end + state.PATH_STAMP] = 0 if path is None else path.block.rows[path.base]
            manager = opening.manager(side)
            if manager is not None:  # A later packet may show that the first one has misnamed it.
                row[end + state.HIGH], row[end + state.LOW] = guid_words(manager)
                row[end + state.MANAGED] = 1

    def _pass_gone(self, way: tuple[int, Side]) -> None:
        session = self.tables.sessions.get(way[0])
        if session is not None:
            registers = session.flow.connection
            registers.block.rows[registers.base + state.PASSED] &= ~(1 << state.ENDS.index(way[1]))


class _Tables(Tables):
    """`Tables` whose sessions are in arrays."""

    columns: ColumnSessions

    def forget(self, number: int) -> None:
        """See `Tables.forget`."""
        found, oldest = self.columns, number - context.MAX_REMEMBERED
        for table, frame in ((found.known, at.FRAME), (found.sent, at.SENT_FRAME), (found.groups, at.GROUP_FRAME)):
            tables.forget(table.ends, table.heads, table.rows, frame, oldest)

    def open(self, event: Opened, reached: int) -> None:
        """See `Tables.open`."""
        super().open(event, reached)
        self.columns.open(event.connection, self.sessions[event.connection].flow.connection)

    def close(self, connection: int) -> None:
        """See `Tables.close`."""
        super().close(connection)
        self.columns.slots[connection] = -1


def _places(columns: ColumnSet) -> Any:
    found = [columns[key] for key in at.KEYS]
    return np.array([(one.flags, one.bit, one.at) for one in found], np.int64)


def _alone(columns: ColumnSet) -> Any:
    """Return by kind the number of columns that the rules on single packets read, the place of each, and behind all how
    many are texts."""
    fields = {
        kind: [
            columns[key]
            for key in OrderedDict.fromkeys((*(rule.field for rule in RULES.get(kind, ())), *ALONE.get(kind, ())))
            if key not in _NUMBERED
        ]
        for kind in KINDS
    }  # fmt: skip
    wide = np.zeros((len(fields), 2 + 6 * max(map(len, fields.values()))), np.int64)
    for row, found in zip(wide, fields.values(), strict=True):
        found.sort(key=_is_text)
        words = [(one, word) for one in found for word in range(1 + (one.place.sort is Sort.GUID))]
        places = [number for one, word in words for number in (one.flags, one.bit, one.at + word)]
        row[0], row[1 : 1 + len(places)], row[-1] = len(words), places, sum(map(_is_text, found))
    return wide


def _is_text(column: Column) -> bool:
    return column.place.sort in (Sort.TEXT, Sort.BYTES)


def plain(columns: ColumnSessions) -> SessionJudge:
    """Return a judge one by one in the state of this one, which must not be used any more."""
    mine = columns.tables
    found: Any = mine.transactions
    transactions: Any = Transactions(found.scopes, mine.registers)
    transactions.sent = Unopened((found.sent.packed(),))
    transactions.paths, transactions.omissions = found.paths, found.omissions
    transactions.groups = replace(found.groups, groups=Unopened((found.groups.groups.packed(),)))
    transactions.resends = Resends(OrderedDict(found.resends.passes))
    transactions.views = OrderedDict((source, [_view(one) for one in views]) for source, views in found.views.items())
    known: Any = Unopened((columns.messages.packed(),))
    times = mine.lifetimes
    smallest, last = OrderedDict(times.smallest.items()), OrderedDict(times.last.items())
    same = {one.name: getattr(mine, one.name) for one in fields(Tables)}
    tables = Tables(
        **{
            **same, "messages": Messages(known, mine.messages.fates),
            "lifetimes": Lifetimes(smallest, last, times.doubted), "transactions": transactions,
        }
    )  # fmt: skip
    columns.leave()
    return columns.sessions.moved(tables)


def in_columns(judge: SessionJudge, readings: Readings, columns: ColumnSet) -> ColumnSessions:
    """Return a compiled judge in the state of this one, which must not be used any more. columns: as there."""
    made = ColumnSessions(readings, columns)
    its, mine = judge.tables, made.tables
    for one in fields(Tables):
        if one.name not in ("messages", "lifetimes", "transactions"):
            setattr(mine, one.name, getattr(its, one.name))
    tables: Any = mine
    if not _taken(its.messages.known, tables.messages.known):
        for key, known in its.messages.known.items():
            tables.messages.known.setdefault(key, known)
    for name in ("smallest", "last"):
        for place, last in getattr(its.lifetimes, name).items():
            getattr(tables.lifetimes, name)[place] = last
    tables.lifetimes.doubted = its.lifetimes.doubted
    tables.messages.fates = its.messages.fates
    found, wanted = tables.transactions, its.transactions
    if not _taken(wanted.sent, found.sent):
        for key, sent in wanted.sent.items():
            found.sent[key] = sent
    if not _taken(wanted.groups.groups, found.groups.groups):
        for words, group in wanted.groups.groups.items():
            found.groups.groups[words] = group
    found.groups = replace(wanted.groups, groups=found.groups.groups)
    found.resends.passes.update(wanted.resends.passes)
    found.paths, found.registers, found.omissions = wanted.paths, wanted.registers, wanted.omissions
    for source, views in wanted.views.items():
        currents = [one.current for one in views]
        found.views[source] = [replace(one) for one in views]
        for view, current in zip(found.views.get(source), currents, strict=True):
            for queue, sequence in current.items():
                view.current[queue] = sequence
    made.sessions = judge.moved(mine)
    for number, session in its.sessions.items():
        made.open(number, session.flow.connection)
    made.refresh()
    return made


def _taken(its: Any, mine: Any) -> bool:
    """Take over a table of which no entry was asked for; return False for another one."""
    if not isinstance(its, Unopened) or its.parts is None:
        return False
    mine.take(its.parts, its.forgotten)
    return True


def _view(view: Sequences) -> Sequences:
    return Sequences(view.scope, view.failed, OrderedDict(view.current.items()))
