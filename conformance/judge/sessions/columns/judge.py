"""Sessions judged by compiled code and by a `SessionJudge` in one state, so that either goes on after the other."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any, Final

import numpy as np

from conformance.capture import Event, Side
from conformance.capture.columns.places import OF_NUMBER
from conformance.judge.sessions import registers as state
from conformance.judge.sessions.columns import layout as at
from conformance.judge.sessions.columns.packet_row import ASKED
from conformance.judge.sessions.context import Kind, Readings, Said, Seen
from conformance.judge.sessions.flow_steps import KINDS
from conformance.judge.sessions.judge import SessionJudge
from conformance.judge.sessions.keys import Patterns, guid_words
from conformance.judge.sessions.message_memory import Bytes, Memory, known_in
from conformance.judge.sessions.messages import REMEMBERED
from conformance.judge.sessions.opening import OPEN
from conformance.judge.sessions.packets import RULES
from conformance.judge.sessions.tables import (
    DATA,
    ENDS,
    FILLED,
    FRAME,
    KNOWN_BODY_SIZE,
    KNOWN_SIZE,
    KNOWN_WHERE,
    OLDEST,
    SIZE,
    Table,
)
from conformance.wire.columns.arrays import Compiled
from conformance.wire.columns.shapes import Sort
from conformance.wire.columns.table import Column, ColumnSet

_ROOM = "conformance.judge.sessions.columns"
_USES = (
    f"{_ROOM}.layout",
    "conformance.judge.sessions.registers",
    "conformance.judge.sessions.flow_steps",
    "conformance.judge.sessions.order_steps",
    "conformance.judge.sessions.message_steps",
    "conformance.judge.sessions.tables",
    "conformance.judge.sessions.keys",
    "conformance.judge.sessions.transactions",
    "conformance.capture.columns.places",
    "conformance.capture.services",
    "conformance.wire.columns.intrinsics",
    "conformance.wire.columns.lowering",
)

run = Compiled(f"{_ROOM}.kernel", "run", _USES)
"""See `kernel.run`."""

_AHEAD = 4  # Room for the rows of so many batches.
COPIED: Final = 1024
"""Bytes of the longest body that is copied when the bytes of a capture go; of a longer one, its digest is kept."""
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


class Classes(Table):
    """The classes of packets that get the same verdicts, by all that decides about these."""

    most, width = 1 << 12, 2


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

    columns: those of the packets, with all `layout.KEYS`. judge: the one that goes on, in whose state this one begins.
    patterns: what the numbers in `means` stand for.
    """

    def __init__(self, readings: Readings, columns: ColumnSet, judge: SessionJudge | None = None) -> None:
        self.patterns = Patterns()
        self.cursor = np.zeros(at.CURSOR, np.int64)
        self.cursor[[at.DUE, at.CLASS]] = (1 << 63) - 1, -1
        self.classes = Classes()
        self.classes.ensure(self.classes.most)
        self.slots = np.full(64, -1, np.int32)
        self.places = _places(columns)
        self.strangers = frozenset(ASKED) - ACCOUNTED
        """Keys that the rules read and compiled code knows nothing of: while there are any, it judges no packet."""
        self.alone = _alone(columns)
        self.sessions = SessionJudge(readings, counting=True) if judge is None else judge
        self.tables = self.sessions.tables
        self.messages = self.tables.messages.known
        for connection in self.tables.sessions:
            self._refresh(connection)
        self._due()
        self._learned: dict[int, tuple[int, ...]] = {}
        self._parts: tuple[Part, Part] | None = None
        self._bound: Callable[[], int] | None = None
        self._arrays: tuple[Any, ...] = ()
        self.means = np.zeros(0, np.int32)
        self.order = np.zeros(0, np.int64)
        self.entered = np.zeros(0, np.int64)
        self._words = np.zeros(at.SCRATCH, np.int64)
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
        suspected, passes = self.sessions.suspected, self.tables.transactions.resends.passes
        first = next(iter(passes), None)
        said = self.sessions.see(seen)
        self.tables.registers.shared[state.DECIDED] = 0
        self._suspects = self.sessions.suspected != suspected
        if seen.connection is not None:
            self._refresh(seen.connection)
        if first is not None and first not in passes:
            self._refresh(first[0] or 0)
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

    def settle(self) -> None:
        """Remember by their bytes the messages that are remembered by their place, before the capture goes."""
        settle(self.messages)
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
        transactions = self.tables.transactions
        for table in (self.messages, transactions.sent, transactions.groups.groups):
            table.ensure(_AHEAD * count)

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
        row, words = int(self.cursor[at.CLASS]), self.classes.words
        self.cursor[at.CLASS] = -1
        if row < 0:
            return
        means = words[row + at.MEANS]
        known = self._learned.get(means)
        numbers = None if self.sessions.single or self._suspects else tuple(one for one in said if isinstance(one, int))
        if known is not None and numbers != known:
            raise DisagreementError(f"class {words[row : row + DATA].tolist()}: {said}, not {known}")
        if known is None and numbers is not None:
            means = words[row + at.MEANS] = self.patterns.number(numbers)
            self._learned[means] = numbers

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
        registers, transactions, times = self.tables.registers, self.tables.transactions, self.tables.lifetimes
        sequences = transactions.sequences
        tables: tuple[Table, ...] = (
            self.messages, transactions.sent, transactions.groups.groups, times.smallest, times.last, sequences.views,
            sequences.currents, self.classes,
        )  # fmt: skip
        its = (
            registers.connections.rows, registers.paths.rows, registers.nodes, registers.shared, registers.out,
            registers.time_out, registers.order_out, *registers.scope_outs,
        )  # fmt: skip
        arrays = (
            one.columns, other.columns, one.buffer, other.buffer, one.meta, other.meta, one.slow, other.slow,
            one.offsets, one.lengths, other.lengths, self.order, self.places, self.alone, self.cursor, self.slots,
            *its,
            *(table.words for table in tables),
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
                if row < 0 or self.messages.words[row + FRAME] != part.meta[which, OF_NUMBER]:
                    continue
                start, size = int(part.offsets[which]), int(part.lengths[which])
                there = int(part.columns[body[0], which]) >> body[1] & 1
                body_at, body_size = part.columns[body[2] : body[2] + 2, which].tolist() if there else (start, 0)
                frame = int(part.meta[which, OF_NUMBER])
                self.messages.keep(row, known_in(part.buffer, frame, start, size, body_at, body_size))

    def _due(self) -> None:
        self.cursor[at.DUE] = self.sessions.due_ns

    def _refresh(self, connection: int) -> None:
        """Tell compiled code what it needs to know of the parts of a session that are no arrays."""
        session = self.tables.sessions.get(connection)
        if connection >= len(self.slots):
            wider = np.full(max(2 * len(self.slots), connection + 1), -1, np.int32)
            wider[: len(self.slots)] = self.slots
            self.slots = wider
        self.slots[connection] = -1 if session is None else session.flow.connection.base // state.WIDTH
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


def settle(messages: Memory) -> None:
    """Copy all messages that are in the capture, because its bytes go."""
    words = np.frombuffer(messages.words, np.int64)
    capture, oldest = messages.capture, int(words[OLDEST])
    if capture is None or oldest < 0:
        return
    rows = words[ENDS : words[FILLED]].reshape(-1, words[SIZE])
    here = (rows[:, FRAME] >= max(capture.first, int(words[oldest + FRAME]))) & (rows[:, KNOWN_WHERE] >= 0)
    for row in np.flatnonzero(here & (rows[:, KNOWN_BODY_SIZE] > COPIED)).tolist():
        place = ENDS + row * int(words[SIZE])
        messages.keep(place, messages.known(place))
    short = here & (rows[:, KNOWN_BODY_SIZE] <= COPIED)
    begins, sizes = rows[short, KNOWN_WHERE], rows[short, KNOWN_SIZE]
    parts = [capture.view[begin:end] for begin, end in zip(begins.tolist(), (begins + sizes).tolist(), strict=True)]
    rows[short, KNOWN_WHERE] = np.cumsum(sizes) - sizes
    messages.copies.append(Bytes(capture.first, b"".join(parts)))


def plain(columns: ColumnSessions) -> SessionJudge:
    """Return a judge one by one in the state of this one, which must not be used any more."""
    transactions = columns.tables.transactions
    columns.messages.pack()
    for table in (columns.messages, transactions.sent, transactions.groups.groups):
        table.trim()
    columns.leave()
    return columns.sessions
