"""The registers of connections: int64 rows that plain Python and machine code read and change in the same way."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, Final

from conformance.capture import Side

NONE: Final = -(1 << 63)
"""The absent number."""
ENDS: Final[tuple[Side, Side]] = ("initiator", "acceptor")

# A connection. COMPLETE: the capture has it from its first byte. RECOVERABLE_MS, EXPRESS_MS: the timers that
# ConnectionParameters packets named last. SAID: bits of the rules that were undecided here. Compiled code alone reads
# QUIET: packets other than an initiator's messages are no concern of its opening; SETTLED: none are; PASSED: bits of
# the sides from which a transactional message was sent.
COMPLETE, RECOVERABLE_MS, EXPRESS_MS, SAID, QUIET, SETTLED, PASSED = range(7)
# One side of it. KNOWN: the capture has all its packets. SENT, RECOVERABLE: how many messages it has sent. AHEAD,
# RECOVERABLE_AHEAD: by how much the last count that it stated itself was too high, modulo 2**16. MISCOUNTED: its last
# packet counts otherwise than it has sent, and not by as much as one before.
# ACK_COUNT, ACK_RECOVERABLE: its last acknowledgment, the count and the highest recoverable number. MISSING, MISSES:
# the recoverable numbers below that are not acknowledged, and how many, NONE when too many, or unknown.
# WINDOW: the largest it has announced. NAMED: that in its ConnectionParameters. BEFORE: the count it acknowledged last.
# PENDING: its acknowledgments that are not judged yet; LACKING: one of them leaves out a message that it names.
# FIRST to LENGTH: its messages under way. LATEST, LATEST_NS: its last packet, 0 without any. OLD: messages that may
# have been sent before. PAUSED_NS: since when it acknowledges nothing, 0 where it does.
# Compiled code alone reads MANAGED: the opening named the queue manager HIGH, LOW; and PATH: the row of the path from
# it.
SIDES: Final = (7, 33)
(
    KNOWN, SENT, RECOVERABLE, AHEAD, RECOVERABLE_AHEAD, MISCOUNTED, ACK_COUNT, ACK_RECOVERABLE, MISSING, MISSES, WINDOW,
    NAMED, BEFORE, PENDING, LACKING, FIRST, LAST, LENGTH, LATEST, LATEST_NS, OLD, PAUSED_NS, MANAGED, HIGH, LOW, PATH,
) = range(26)  # fmt: skip
WIDTH: Final = 59
# A node of a chain: a message under way, with its time, and its frame twice and one more if it is recoverable; or a
# recoverable number, in NODE_TIME.
NODE_NEXT, NODE_TIME, NODE_MESSAGE = range(3)
NODE: Final = 3
# What all connections share. FREE, SPARE: the first free node, and how many are free. DOUBTED_NS: the latest time
# before the clock of the recording was set. READS_WINDOW, READS_INCLUDED: bits of the accepted alternatives. COVERED_NS
# to COVERED_RECOVERABLE: the messages that the last acknowledgment covers: the times of the first one and of the first
# recoverable one, and how many recoverable ones there are. DECIDED: `out` has what was found of the packet that comes.
(
    FREE, SPARE, DOUBTED_NS, READS_WINDOW, READS_INCLUDED, COVERED_NS, COVERED_RECOVERABLE_NS, COVERED_RECOVERABLE,
    DECIDED,
) = range(9)  # fmt: skip
SHARED: Final = 9
MAX_OUT: Final = 1 + 4 * 32
"""Words of `out`, see `flow_steps`."""
MOST_MISSES: Final = 1_024
"""Recoverable numbers remembered as not acknowledged."""
MAX_UNDER_WAY: Final = 70_000
"""Remembered messages under way; more than the counts can distinguish."""
_ROOM = 1 << 12


class Registers:
    """The registers of all connections. Arrays are replaced by larger ones, so that they are looked up when needed."""

    def __init__(self) -> None:
        self.rows, self.nodes = array("q"), array("q")
        self.shared = array("q", [-1, *[0] * (SHARED - 1)])
        self.out = array("q", [0]) * MAX_OUT
        self._free: list[int] = []

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

    def open(self, *, complete: bool) -> Connection:
        """Begin a connection."""
        if not self._free:
            count = len(self.rows) // WIDTH
            more = max(16, count)
            self.rows = self.rows + array("q", [0]) * (WIDTH * more)
            self._free = list(range(WIDTH * count, WIDTH * (count + more), WIDTH))
        base = self._free.pop()
        row = [0] * WIDTH
        row[COMPLETE], row[RECOVERABLE_MS], row[EXPRESS_MS] = complete, NONE, NONE
        start = 0 if complete else NONE
        for side in SIDES:
            row[side + KNOWN], row[side + MISSING], row[side + MISSES] = complete, -1, start
            row[side + ACK_COUNT] = row[side + ACK_RECOVERABLE] = start
            row[side + WINDOW], row[side + NAMED], row[side + PATH] = NONE, NONE, -1
        self.rows[base : base + WIDTH] = array("q", row)
        return Connection(self, base)

    def close(self, connection: Connection) -> None:
        """End a connection, whose registers must not be used any more."""
        base = connection.base
        for side in SIDES:
            for head, count in ((FIRST, LENGTH), (MISSING, MISSES)):
                if self.rows[base + side + count] > 0:
                    self._release(self.rows[base + side + head], self.rows[base + side + count])
        self._free.append(base)

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
        number = self.registers.rows[self.base + place]
        return None if number == NONE else number

    def write(self: Any, number: int | None) -> None:
        self.registers.rows[self.base + place] = NONE if number is None else number

    return property(read, write)


class End:
    """The registers of one side of a connection, by their names."""

    __slots__ = ("base", "registers")

    def __init__(self, registers: Registers, base: int) -> None:
        self.registers, self.base = registers, base

    known, sent, recoverable = _number(KNOWN), _number(SENT), _number(RECOVERABLE)
    acknowledged, acknowledged_recoverable, misses = _number(ACK_COUNT), _number(ACK_RECOVERABLE), _number(MISSES)
    window, named = _number(WINDOW), _number(NAMED)
    latest, latest_ns, old, paused_ns = _number(LATEST), _number(LATEST_NS), _number(OLD), _number(PAUSED_NS)
    under_way, miscounted = _number(LENGTH), _number(MISCOUNTED)

    def messages(self) -> Iterator[tuple[int, int, bool]]:
        """Yield the time and the frame of each message under way, and whether it is recoverable, the oldest first."""
        rows, nodes = self.registers.rows, self.registers.nodes
        node = rows[self.base + FIRST]
        for _ in range(rows[self.base + LENGTH]):
            node, time_ns, message = nodes[NODE * node : NODE * node + NODE]
            yield time_ns, message >> 1, bool(message & 1)


class Connection:
    """The registers of one connection, by their names."""

    __slots__ = ("base", "registers")

    def __init__(self, registers: Registers, base: int) -> None:
        self.registers, self.base = registers, base

    complete, recoverable_ms, express_ms = _number(COMPLETE), _number(RECOVERABLE_MS), _number(EXPRESS_MS)

    def end(self, side: Side) -> End:
        """Return the registers of a side."""
        return End(self.registers, self.base + SIDES[side == "acceptor"])

    @property
    def whole(self) -> bool:
        """True when the capture has all packets of both sides."""
        return bool(self.complete and self.end("initiator").known and self.end("acceptor").known)

    def lose(self, side: Side) -> None:
        """Record that a packet of this side is missing from the capture, or was unintelligible."""
        self.end(side).known = 0

    def settled(self, side: Side) -> bool:
        """Tell whether a side has acknowledged everything that the other one has sent."""
        other = self.end("acceptor" if side == "initiator" else "initiator")
        return bool(self.end(side).acknowledged == other.sent & 0xFFFF)
