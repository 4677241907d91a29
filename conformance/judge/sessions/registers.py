"""The registers of connections: int64 rows that plain Python and machine code read and change in the same way."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, Final

from conformance.capture import Side

NONE: Final = -(1 << 63)
"""The absent number."""
ENDS: Final[tuple[Side, Side]] = ("initiator", "acceptor")

# A connection. COMPLETE: the capture has it from its first byte. OPENED_NS: its first record. RECOVERABLE_MS,
# EXPRESS_MS: the timers that ConnectionParameters packets named last. SAID: bits of the rules that were undecided here.
# Compiled code alone reads QUIET: packets other than an initiator's messages are no concern of its opening; SETTLED:
# none are; PASSED: bits of the sides from which a transactional message was sent.
COMPLETE, CONNECTION, OPENED_NS, RECOVERABLE_MS, EXPRESS_MS, SAID, QUIET, SETTLED, PASSED = range(9)
# One side of it. KNOWN: the capture has all its packets. SENT, RECOVERABLE: how many messages it has sent. AHEAD,
# RECOVERABLE_AHEAD: by how much the last count that it stated itself was too high, modulo 2**16. MISCOUNTED: its last
# packet counts otherwise than it has sent, and not by as much as one before.
# ACK_COUNT, ACK_RECOVERABLE: its last acknowledgment, the count and the highest recoverable number. MISSING, MISSES:
# the recoverable numbers below that are not acknowledged, and how many, NONE when too many, or unknown.
# WINDOW: the largest it has announced. NAMED: that in its ConnectionParameters. BEFORE: the count it acknowledged last.
# PENDING: its acknowledgments that are not judged yet; LACKING: one of them leaves out a message that it names.
# FIRST to LENGTH: its messages under way, of which STORED are recoverable. LATEST, LATEST_NS: its last packet, 0
# without any. OLD: messages that may have been sent before. PAUSED_NS: since when it acknowledges nothing, 0 where it
# does.
# ACK_END, ACK_FRAME: where its last acknowledgment ends in its bytes, and the first message of the other side that it
# leaves out. SURE: such a message of this side, after it had received the acknowledgment: it is done with all before.
# REPEATED_NS: when TCP last sent its bytes once more.
# Compiled code alone reads MANAGED: the opening named the queue manager HIGH, LOW; and PATH: the row of the path from
# it.
SIDES: Final = (9, 41)
(
    KNOWN, SENT, RECOVERABLE, AHEAD, RECOVERABLE_AHEAD, MISCOUNTED, ACK_COUNT, ACK_RECOVERABLE, MISSING, MISSES, WINDOW,
    NAMED, BEFORE, PENDING, LACKING, FIRST, LAST, LENGTH, LATEST, LATEST_NS, OLD, PAUSED_NS, MANAGED, HIGH, LOW, PATH,
    PATH_STAMP, ACK_END, ACK_FRAME, SURE, STORED, REPEATED_NS,
) = range(32)  # fmt: skip
WIDTH: Final = 73
# A row of PLACES registers of a path or of one of its sequences begins with a number that no other row has had.
STAMP: Final = 0
# A path, the transactional traffic from one host to another. GENERATION: grows with every loss. DIRECT, INDIRECT:
# transactional messages went to direct names, and to others; NAMED_DIRECT: any message went to one. ANSWERS: an
# OrderAck has come back. BEGUN_NS: when the first message after the last OrderAck came. SENT_NS, SENT_ON: when and on
# which connection the last transactional message came. ANSWERED_NS, ANSWERED_ON: when the last OrderAck did, 0 before,
# and the connection of what it was for. AGAIN_NS: when the last message was sent again. GAP_NS: how long no OrderAck
# had come before the next message, where that is too long. REFUSAL: a FinalAck has come that refuses a message.
# SEQUENCES of it are remembered; compiled code finds the one that was asked for last, SEQUENCE, in the row PROGRESS.
# HOSTS_0, HOSTS_1: the words of its hosts.
(
    GENERATION, DIRECT, INDIRECT, NAMED_DIRECT, ANSWERS, BEGUN_NS, SENT_NS, SENT_ON, ANSWERED_NS, AGAIN_NS,
    GAP_NS, REFUSAL, SEQUENCES, SEQUENCE, PROGRESS, HOSTS_0, HOSTS_1, ANSWERED_ON,
) = range(1, 19)  # fmt: skip
# The progress of a sequence. HIGHEST, DONE: the highest number sent, and acknowledged, 0 while there is none. ACCEPTED:
# that reached by a receiver that takes messages only in order, in the generation ACCEPTED_IN; NONE while nothing was
# seen. NUMBER: that of the last message, accepted or not. WAITS_NS: when the first message after the last OrderAck
# came. UNENDED: transactions whose last message has not come. OVER: all of it is acknowledged, also by the session.
# WHOLE: the first message of it that came has number 1. NUMBER_NS, NUMBER_ON: when the message NUMBER came, and on
# which connection.
(
    HIGHEST, DONE, ACCEPTED, ACCEPTED_IN, NUMBER, WAITS_NS, UNENDED, OVER, WHOLE, NUMBER_NS, NUMBER_ON,
) = range(1, 12)  # fmt: skip
PLACES: Final = 19
# A node of a chain: a message under way, with its time, and its frame twice and one more if it is recoverable; or a
# recoverable number, in NODE_TIME.
NODE_NEXT, NODE_TIME, NODE_MESSAGE = range(3)
NODE: Final = 3
# What all connections share. FREE, SPARE: the first free node, and how many are free. DOUBTED_NS: the latest time
# before the clock of the recording was set. READS_WINDOW to READS_REJECTED: bits of the accepted alternatives.
# COVERED_NS to COVERED_RECOVERABLE: the messages that the last acknowledgment covers: the times of the first one and of
# the first recoverable one, and how many recoverable ones there are. DECIDED: what was found of the packet
# that comes stands in the outs.
(
    FREE, SPARE, DOUBTED_NS, READS_WINDOW, READS_INCLUDED, READS_SEQUENCE, READS_REJECTED, READS_SCOPE, COVERED_NS,
    COVERED_RECOVERABLE_NS, COVERED_RECOVERABLE, DECIDED,
) = range(12)  # fmt: skip
SHARED: Final = 12
MAX_OUT: Final = 1 + 4 * 32
"""Words of `out` and of the other outs, see `flow_steps`."""
MOST_MISSES: Final = 1_024
"""Recoverable numbers remembered as not acknowledged."""
MAX_UNDER_WAY: Final = 70_000
"""Remembered messages under way; more than the counts can distinguish."""
_ROOM = 1 << 12


class Block:
    """Rows of registers. The array is replaced by a larger one, so that it is looked up when needed."""

    def __init__(self, width: int) -> None:
        self.rows, self._width = array("q"), width
        self._free: list[int] = []

    def open(self, row: Iterable[int]) -> int:
        """Begin a row; return its place."""
        if not self._free:
            end, more = len(self.rows), max(16 * self._width, len(self.rows))
            self.rows = self.rows + array("q", [0]) * more  # Compiled code may have the old array: it cannot grow then.
            self._free = list(range(end, end + more, self._width))
        base = self._free.pop()
        content = array("q", row)
        self.rows[base : base + len(content)] = content
        return base

    def close(self, base: int) -> None:
        """End a row."""
        self.rows[base] = 0
        self._free.append(base)


class Registers:
    """The registers of all connections and paths."""

    def __init__(self) -> None:
        self.connections, self.paths, self.nodes = Block(WIDTH), Block(PLACES), array("q")
        self.shared = array("q", [-1, *[0] * (SHARED - 1)])
        self.out, self.time_out, self.order_out = (array("q", [0]) * MAX_OUT for _ in range(3))
        self.scope_outs = array("q", [0]) * MAX_OUT, array("q", [0]) * MAX_OUT
        self._stamp = 0

    def stamp(self) -> int:
        """Return a number that no row of a path or a sequence has had."""
        self._stamp += 1
        return self._stamp

    def ensure(self, count: int) -> None:
        """Make room for so many more messages under way, and as many numbers as one packet can leave out."""
        while self.shared[SPARE] < count + MOST_MISSES:
            first, more = len(self.nodes) // NODE, max(_ROOM, len(self.nodes) // NODE)
            chain = array("q", [0]) * (NODE * more)
            for at in range(more):
                chain[NODE * at + NODE_NEXT] = first + at + 1
            chain[NODE * (more - 1) + NODE_NEXT] = self.shared[FREE]
            self.nodes = self.nodes + chain  # Compiled code may have the old array, which cannot be extended then.
            self.shared[FREE] = first
            self.shared[SPARE] += more

    def open(self, number: int, time_ns: int, *, complete: bool) -> Connection:
        """Begin a connection. number, time_ns: of its first record."""
        row = [0] * WIDTH
        row[COMPLETE], row[CONNECTION], row[OPENED_NS] = complete, number, time_ns
        row[RECOVERABLE_MS] = row[EXPRESS_MS] = NONE
        start = 0 if complete else NONE
        for side in SIDES:
            row[side + KNOWN], row[side + MISSING], row[side + MISSES] = complete, -1, start
            row[side + ACK_COUNT] = row[side + ACK_RECOVERABLE] = start
            row[side + WINDOW], row[side + NAMED], row[side + PATH] = NONE, NONE, -1
        return Connection(self, self.connections.open(row))

    def close(self, connection: Connection) -> None:
        """End a connection, whose registers must not be used any more."""
        base, rows = connection.base, self.connections.rows
        for side in SIDES:
            for head, count in ((FIRST, LENGTH), (MISSING, MISSES)):
                if rows[base + side + count] > 0:
                    self._release(rows[base + side + head], rows[base + side + count])
        self.connections.close(base)

    def take(self, base: int, end: int, messages: Iterable[tuple[int, int, bool]], misses: Iterable[int]) -> None:
        """Fill the chains of one side, which are empty: its messages under way, and the numbers that are missing."""
        rows = self.connections.rows
        chains = (
            (FIRST, LENGTH, [(time_ns, frame << 1 | recoverable) for time_ns, frame, recoverable in messages]),
            (MISSING, MISSES, [(number, 0) for number in misses]),
        )
        for first, count, chain in chains:
            last, known = -1, rows[base + end + count] != NONE
            for number in reversed(chain) if known else ():
                self.ensure(1)
                node = self.shared[FREE]
                self.shared[FREE] = self.nodes[NODE * node + NODE_NEXT]
                self.shared[SPARE] -= 1
                self.nodes[NODE * node : NODE * node + NODE] = array("q", (last, *number))
                if first == FIRST and last < 0:
                    rows[base + end + LAST] = node
                last = node
            rows[base + end + first], rows[base + end + count] = last, len(chain) if known else NONE
        rows[base + end + STORED] = sum(message & 1 for _, message in chains[0][2])

    def _release(self, first: int, count: int) -> None:
        last = first
        for _ in range(count - 1):
            last = self.nodes[NODE * last + NODE_NEXT]
        self.nodes[NODE * last + NODE_NEXT] = self.shared[FREE]
        self.shared[FREE] = first
        self.shared[SPARE] += count


def _number(place: int) -> Any:
    """Return an attribute that is a number of a row, None where it is absent."""

    def read(self: Any) -> int | None:
        number = self.block.rows[self.base + place]
        return None if number == NONE else number

    def write(self: Any, number: int | None) -> None:
        self.block.rows[self.base + place] = NONE if number is None else number

    return property(read, write)


class End:
    """The registers of one side of a connection, by their names."""

    __slots__ = ("base", "block", "registers")

    def __init__(self, registers: Registers, base: int) -> None:
        self.registers, self.block, self.base = registers, registers.connections, base

    known, sent, recoverable = _number(KNOWN), _number(SENT), _number(RECOVERABLE)
    acknowledged, acknowledged_recoverable, misses = _number(ACK_COUNT), _number(ACK_RECOVERABLE), _number(MISSES)
    window, named = _number(WINDOW), _number(NAMED)
    sure = _number(SURE)
    latest, latest_ns, old, paused_ns = _number(LATEST), _number(LATEST_NS), _number(OLD), _number(PAUSED_NS)
    under_way, miscounted = _number(LENGTH), _number(MISCOUNTED)

    def messages(self) -> Iterator[tuple[int, int, bool]]:
        """Yield the time and the frame of each message under way, and whether it is recoverable, the oldest first."""
        for time_ns, message in self._chain(FIRST, LENGTH):
            yield time_ns, message >> 1, bool(message & 1)

    def missing(self) -> Iterator[int]:
        """Yield the recoverable numbers that are not acknowledged."""
        for number, _ in self._chain(MISSING, MISSES):
            yield number

    def _chain(self, first: int, count: int) -> Iterator[tuple[int, int]]:
        rows, nodes = self.block.rows, self.registers.nodes
        node = rows[self.base + first]
        for _ in range(rows[self.base + count]):
            node, number, other = nodes[NODE * node : NODE * node + NODE]
            yield number, other


class Connection:
    """The registers of one connection, by their names."""

    __slots__ = ("base", "block", "registers")

    def __init__(self, registers: Registers, base: int) -> None:
        self.registers, self.block, self.base = registers, registers.connections, base

    complete, opened_ns, recoverable_ms, express_ms = (
        _number(place) for place in (COMPLETE, OPENED_NS, RECOVERABLE_MS, EXPRESS_MS)
    )

    def end(self, side: Side) -> End:
        """Return the registers of a side."""
        return End(self.registers, self.base + SIDES[side == "acceptor"])

    def move(self, registers: Registers) -> None:
        """Go on in other registers, with nothing that a stranger could have put into these.

        Raises ValueError, TypeError or LookupError for what is no state of a connection.
        """
        row = self.block.rows[self.base : self.base + WIDTH]
        base = registers.connections.open(row)
        rows = registers.connections.rows
        if len(row) != WIDTH or rows[base + COMPLETE] not in (0, 1):
            raise ValueError("the registers of a connection are cut")
        for side in ENDS:
            end = self.end(side)
            if not (0 <= end.under_way <= MAX_UNDER_WAY and (end.misses or 0) <= MOST_MISSES):
                raise ValueError("a chain is too long")
            registers.take(base, SIDES[side == "acceptor"], list(end.messages()), list(end.missing()))
            rows[base + SIDES[side == "acceptor"] + PATH] = -1
        self.registers, self.block, self.base = registers, registers.connections, base

    @property
    def whole(self) -> bool:
        """True when the capture has all packets of both sides."""
        return bool(self.complete and self.end("initiator").known and self.end("acceptor").known)

    def lose(self, side: Side) -> None:
        """Record that a packet of this side is missing from the capture, or was unintelligible."""
        self.end(side).known = 0

    def repeat(self, side: Side, time_ns: int) -> None:
        """Let what this side has under way count from here: until TCP sent it again, it may not have come."""
        registers, end = self.registers, self.base + SIDES[side == "acceptor"]
        rows, nodes, paths = self.block.rows, registers.nodes, registers.paths.rows
        rows[end + REPEATED_NS] = time_ns
        node = rows[end + FIRST]
        for _ in range(rows[end + LENGTH]):
            nodes[NODE * node + NODE_TIME] = max(nodes[NODE * node + NODE_TIME], time_ns)
            node = nodes[NODE * node + NODE_NEXT]
        path = rows[end + PATH]
        if path >= 0 and paths[path] == rows[end + PATH_STAMP]:
            for place in (SENT_NS, AGAIN_NS):
                paths[path + place] = max(paths[path + place], time_ns)

    def settled(self, side: Side) -> bool:
        """Tell whether a side has acknowledged everything that the other one has sent."""
        other = self.end("acceptor" if side == "initiator" else "initiator")
        return bool(self.end(side).acknowledged == other.sent & 0xFFFF)


def signed(number: int) -> int:
    """Return a number of 64 bits as an int64."""
    return number - (1 << 64) if number >> 63 else number


def unsigned(number: int) -> int:
    """Return an int64 as a number of 64 bits."""
    return number & 0xFFFFFFFF_FFFFFFFF


class Progress:
    """The registers of a sequence, by their names."""

    __slots__ = ("base", "block")

    def __init__(self, block: Block, base: int) -> None:
        self.block, self.base = block, base

    highest, acknowledged, first_ns = _number(HIGHEST), _number(DONE), _number(WAITS_NS)
    unended, over = _number(UNENDED), _number(OVER)


class TransactionalPath:
    """The registers of a path, by their names. newest: the newest sequence. sequences: those seen, or acknowledged."""

    __slots__ = ("base", "block", "newest", "registers", "sequences")

    def __init__(self, registers: Registers, hosts: tuple[int, int]) -> None:
        row = [0] * PLACES
        row[STAMP], row[HOSTS_0], row[HOSTS_1] = registers.stamp(), *hosts
        row[BEGUN_NS], row[GAP_NS], row[PROGRESS] = NONE, NONE, -1
        self.registers, self.block, self.base = registers, registers.paths, registers.paths.open(row)
        self.newest: int | None = None
        self.sequences: OrderedDict[int, Progress] = OrderedDict()

    generation, indirect, named_direct = (_number(place) for place in (GENERATION, INDIRECT, NAMED_DIRECT))
    latest_ns, answered_ns, again_ns, refusal = (_number(place) for place in (SENT_NS, ANSWERED_NS, AGAIN_NS, REFUSAL))

    def progress(self, sequence: int) -> Progress | None:
        """Return the progress of a sequence, None of an unknown one."""
        found = self.sequences.get(sequence)
        if found is not None:
            self.block.rows[self.base + SEQUENCE] = signed(sequence)
            self.block.rows[self.base + PROGRESS] = found.base
        return found

    def begin(self, sequence: int, *, whole: bool = False) -> Progress:
        """Return the progress of a sequence, a new one of an unknown one. whole: its first message has number 1."""
        found = self.progress(sequence)
        if found is None:
            row = (self.registers.stamp(), 0, 0, NONE, 0, 0, NONE, 0, 0, whole)
            self.sequences[sequence] = Progress(self.block, self.block.open(row))
            self.block.rows[self.base + SEQUENCES] = len(self.sequences)
            found = self.progress(sequence)
            assert found is not None
        return found

    def bound(self, most: int) -> None:
        """Forget the first sequences beyond so many."""
        while len(self.sequences) > most:
            _, first = self.sequences.popitem(last=False)
            self.block.close(first.base)
            rows = self.block.rows
            rows[self.base + SEQUENCES] = len(self.sequences)
            if rows[self.base + PROGRESS] == first.base:
                rows[self.base + PROGRESS] = -1

    def move(self, registers: Registers) -> None:
        """Go on in other registers, see `Connection.move`."""
        every: list[TransactionalPath | Progress] = [self, *self.sequences.values()]
        rows = [(one, one.block.rows[one.base : one.base + PLACES]) for one in every]
        if not all(len(row) == PLACES for _, row in rows):
            raise ValueError("the registers of a path are cut")
        for one, row in rows:
            row[STAMP] = registers.stamp()
            one.block, one.base = registers.paths, registers.paths.open(row)
        self.registers = registers
        self.block.rows[self.base + PROGRESS], self.block.rows[self.base + SEQUENCES] = -1, len(self.sequences)

    def close(self) -> None:
        """Forget the path; what still refers to it has its last state."""
        own, rows = Block(PLACES), self.block.rows
        self.bound(0)
        base = own.open(rows[self.base : self.base + PLACES])
        self.block.close(self.base)
        self.block, self.base = own, base
