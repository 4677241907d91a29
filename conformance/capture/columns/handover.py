"""Hands connections over to the walk while they go their usual way, and takes them back when they do not.

`Connections` stays the authority: it opens and closes connections and handles everything unusual. A handover transfers
the whole state, so that either of the two may process a segment.
"""

from __future__ import annotations

import heapq
import ipaddress
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from conformance.capture import connections
from conformance.capture.columns import places as p
from conformance.capture.columns.arrays import Arrays
from conformance.capture.columns.code import place
from conformance.capture.connections import HOLD_NS, SIDES, Connections, _Connection, _Half
from conformance.capture.events import Closed, Endpoint, Event, Opened
from conformance.capture.framing import Framer, Stream, _lengths
from conformance.capture.network import Segment
from conformance.wire import frame_length

Key = frozenset[tuple[str, int]]
_MOST_LENT = p.TABLE // 3


class Lending(Connections):
    """All connections of a capture; those that are lent have their state in the rows of the walk."""

    def __init__(self, numbered: Iterator[int], file: memoryview, arrays: Arrays) -> None:
        super().__init__(numbered)
        self.cursor, self.flows, self.nodes = arrays.cursor, arrays.flows, arrays.nodes
        self.told, self.spare, self._used = arrays.told, arrays.spare, arrays.used
        self.cursor[p.DEADLINE] = p.NEVER
        self.cursor[p.TICKED] = -1
        self.cursor[p.ROOM] = min(connections.MAX_CONNECTIONS, _MOST_LENT)
        self._spare_used = 0
        self._file = file
        self._lent: dict[Key, int] = {}
        self._of_slot: dict[int, Key] = {}
        self._gone = 0
        self._record = 0
        self._seen: dict[Key, int] = {}  # The last record of each connection that was handled here.
        self._ages: list[tuple[int, int, Key]] = []  # A heap; its entries may be out of date.
        self._in_ages: set[Key] = set()
        self._serial = 0

    def take(self, record: int, time_ns: int, segment: Segment) -> Iterator[Event]:
        """Process a segment of any connection, as `segment`; then lend the connection if possible."""
        key = frozenset((segment.source, segment.destination))
        self.recall(key)
        self._record = record
        if key in self._table:
            self._seen[key] = record
        yield from self.segment(record, time_ns, segment)
        self.lend(key)
        self.refresh()

    def refresh(self) -> None:
        """Update the cursor with the state of the connections here."""
        self.cursor[p.ELSEWHERE] = self._buffered
        deadline = p.NEVER
        for key in list(self._stalled):
            connection = self._table.get(key)
            held = [half.held[0][1] for half in connection.halves if half.held] if connection else []
            if held:
                deadline = min(held) + HOLD_NS
                break
            del self._stalled[key]
        self.cursor[p.DEADLINE] = deadline
        self.cursor[p.OPENED] = self._count
        # The walk would open a connection that is followed here a second time.
        room = min(connections.MAX_CONNECTIONS - len(self._table), _MOST_LENT - len(self._lent))
        self.cursor[p.ROOM] = room if len(self._lent) == len(self._table) else 0

    def lend(self, key: Key) -> bool:
        """Lend a connection to the walk, if it goes its usual way; return True when it was lent."""
        connection = self._table.get(key)
        if connection is None or len(key) < 2 or len(self._lent) >= _MOST_LENT or not _usual(connection):
            return False
        if self._spare_used + sum(half.framer.buffered for half in connection.halves) > p.SPARE:
            if any(self.flows[slot, side + p.PENDING] for slot in self._of_slot for side in p.SIDES):
                return False
            self._spare_used = 0
        if self._gone > p.TABLE // 4:
            self._sweep()
        words, flip = _words(connection)
        slot = int(place(self.flows, *words))
        self._used.append(slot)
        row = self.flows[slot]
        row[p.FINISHED] = sum(half.finished << at for at, half in enumerate(connection.halves))
        row[p.FIRST_END] = 1 + SIDES.index(connection.first_end) if connection.first_end else 0
        row[p.FLIP : p.CONNECTION + 1] = flip, connection.record, connection.time_ns, connection.number
        self._buffered -= connection.buffered
        if connection.closed:
            row[p.STATE] = p.OVER
            for side in p.SIDES:
                row[side + p.PENDING] = 0
        else:
            for side, half in zip(p.SIDES, connection.halves, strict=True):
                self._give(row, side, half)
            row[p.ARRIVED : p.ARRIVED + 8] = *connection.halves[0].arrived, *connection.halves[1].arrived
        self._lent[key] = slot
        self._of_slot[slot] = key
        return True

    def recall(self, key: Key) -> None:
        """Take a connection back, if it is lent."""
        slot = self._lent.pop(key, None)
        if slot is None:
            return
        del self._of_slot[slot]
        connection, row = self._table[key], self.flows[slot]
        self._seen[key] = max(self._seen[key], int(row[p.LAST]))
        if not connection.closed:
            if row[p.FIRST_END]:
                connection.first_end = SIDES[int(row[p.FIRST_END]) - 1]
            for at, (side, half) in enumerate(zip(p.SIDES, connection.halves, strict=True)):
                self._take_back(row, side, half)
                record, time_ns, heard, upto = row[p.ARRIVED + 4 * at : p.ARRIVED + 4 * at + 4].tolist()
                half.arrived = record, time_ns, heard, upto
                if int(row[p.FINISHED]) >> at & 1:
                    half.finished, half.stream.ended = True, half.stream.offset
        connection.record, connection.time_ns = int(row[p.LAST]), int(row[p.LATEST])
        self._buffered += connection.buffered
        row[p.STATE] = p.GONE
        self._gone += 1

    def tell(self) -> Iterator[tuple[int, Event]]:
        """Yield the events of connections on the walk, each with the number of the next packet."""
        count = int(self.cursor[p.TOLD])
        self.cursor[p.TOLD] = 0
        told = self.told[:count]
        rows = self.flows[told[:, p.AT_SLOT], : p.FLIP + 1].tolist()
        for (what, number, slot, record, time_ns, sequence, _, _), row in zip(told.tolist(), rows, strict=True):
            if what == p.OPENS:
                connection = self._opened_at(slot, row, record, time_ns, sequence)
                yield number, Opened(connection.number, time_ns, *connection.ends, complete=True)
            else:
                connection = self._table[self._of_slot[slot]]
                connection.closed, connection.first_end = True, SIDES[int(self.flows[slot, p.FIRST_END]) - 1]
                yield number, Closed(connection.number, time_ns, connection.first_end, "fin")

    def _opened_at(self, slot: int, row: list[int], record: int, time_ns: int, sequence: int) -> _Connection:
        """Open a connection by a SYN that the walk has met, as `_open`. row: its row, as far as the ends."""
        _, _, one, _, other, ports, flip = row
        source, destination = (_text(one), ports >> 16), (_text(other), ports & 0xFFFF)
        if flip:
            source, destination = destination, source
        key = frozenset((source, destination))
        self._count += 1
        self._table[key] = connection = _Connection(
            self._count,
            (_end(*source), _end(*destination)),
            (_Half(Stream(), Framer(found=True)), _Half(Stream(), Framer(found=True))),
            sequence,
            time_ns=time_ns,
        )
        self._seen[key] = record
        if key not in self._in_ages:
            self._aged(record, key)
        self._used.append(slot)
        self._lent[key] = slot
        self._of_slot[slot] = key
        return connection

    def recall_all(self) -> None:
        """Take everything back, the connection silent longest first."""
        last = {key: self._last(key) for key in self._table}
        for key in list(self._lent):
            self.recall(key)
        for key in sorted(self._table, key=lambda one: last[one]):
            self._table.move_to_end(key)

    def adopt(self, before: Connections) -> None:
        """Take over the connections of `before`, which must not be used any more."""
        self._table, self._stalled = before._table, before._stalled
        self._count, self._buffered = before._count, before._buffered
        for key, connection in self._table.items():
            self._seen[key] = connection.record
            self._aged(connection.record, key)
        for key in list(self._table):
            self.lend(key)
        self.refresh()

    def release(self, numbered: Iterator[int]) -> Connections:
        """Return all connections in their present state, for another reader. numbered: yields packet numbers."""
        self.recall_all()
        after = Connections(numbered)
        after._table, after._stalled = self._table, self._stalled
        after._count, after._buffered = self._count, self._buffered
        return after

    def end(self) -> Iterator[Event]:
        """End all connections as `Connections.end`, the one silent longest first; most have no events left."""
        rows = dict(zip(self._lent, self.flows[list(self._lent.values())].tolist(), strict=True))
        last = {key: max(seen, rows[key][p.LAST]) if key in rows else seen for key, seen in self._seen.items()}
        for key in sorted(self._table, key=lambda one: last[one]):
            connection, row = self._table[key], rows.get(key)
            if row is None or any(row[side + p.PENDING] or row[side + p.WAITING] >= 0 for side in p.SIDES):
                self.recall(key)
                yield from self._close(connection, connection.first_end, "fin" if connection.first_end else "end")
            elif not connection.closed:
                first = SIDES[row[p.FIRST_END] - 1] if row[p.FIRST_END] else None
                yield Closed(connection.number, row[p.LATEST], first, "fin" if first else "end")
        self._table.clear()
        self._lent.clear()

    @property
    def _held(self) -> int:
        return self._buffered + int(self.cursor[p.HELD_BYTES])

    def _open(self, key: Key, time_ns: int, segment: Segment) -> _Connection:
        self._seen[key] = self._record
        if key not in self._in_ages:
            self._aged(self._record, key)
        return super()._open(key, time_ns, segment)

    def _forget(self, key: Key) -> None:
        super()._forget(key)
        del self._seen[key]

    def _silent_longest(self) -> Key:
        while True:
            age, _, key = heapq.heappop(self._ages)
            self._in_ages.discard(key)
            if key not in self._table:
                continue
            last = self._last(key)
            if last <= age:
                self.recall(key)
                return key
            self._aged(last, key)

    def _aged(self, record: int, key: Key) -> None:
        self._serial += 1
        heapq.heappush(self._ages, (record, self._serial, key))
        self._in_ages.add(key)

    def _last(self, key: Key) -> int:
        slot = self._lent.get(key)
        return max(self._seen[key], 0 if slot is None else int(self.flows[slot, p.LAST]))

    def _give(self, row: Any, side: int, half: _Half) -> None:
        buffered, node = bytes(half.framer._buffer), -1
        need, length, short = p.BASE_SIZE, 0, 0
        if buffered:
            at, self._spare_used = self._spare_used, self._spare_used + len(buffered)
            self.spare[at : self._spare_used] = np.frombuffer(buffered, np.uint8)
            node = self._node()
            self.nodes[node] = (0, -1 - at, len(buffered), -1)
            self.cursor[p.HELD_BYTES] += len(buffered)
        if len(buffered) >= p.BASE_SIZE:
            lengths = _lengths(half.framer._buffer, frame_length(buffered[: p.BASE_SIZE]).lengths)
            need = length = max(lengths)
            if len(lengths) > 1:
                short, need = min(lengths), min(lengths) + p.TELLING
        # EXPECTED, OFFSET, PENDING, HEAD, TAIL, NEED, LENGTH, SHORT, WAITING, WAITING_BYTES, WAITING_COUNT
        stream = half.stream
        expected = -1 if stream.expected is None else stream.expected
        row[side : side + 11] = (
            expected, stream.offset, len(buffered), node, node, need, length, short, -1, 0, 0,
        )  # fmt: skip

    def _take_back(self, row: Any, side: int, half: _Half) -> None:
        expected, offset, pending, head, _, _, _, _, waiting, _, _ = row[side : side + 11].tolist()
        stream = half.stream
        stream.expected, stream.offset = None if expected < 0 else expected, offset
        half.framer.offset = stream.offset - pending
        half.framer._buffer = bytearray()
        if pending:
            for _, data in self._drained(head):
                half.framer._buffer += data
        if waiting >= 0:
            for at, data in self._drained(waiting):
                stream._waiting[at] = data
                stream._order.append(at)  # In order, and so a heap.
                stream.waiting_bytes += len(data)

    def _node(self) -> int:
        node = int(self.cursor[p.FREE])
        self.cursor[p.FREE] = self.nodes[node, p.NEXT]
        self.cursor[p.FREE_COUNT] -= 1
        return node

    def _drained(self, node: int) -> Iterator[tuple[int, bytes]]:
        """Yield the bytes of a chain with their stream offsets; free its nodes."""
        while node >= 0:
            stream_at, at, count, following = map(int, self.nodes[node])
            yield (
                stream_at,
                bytes(self._file[at : at + count]) if at >= 0 else self.spare[-1 - at : -1 - at + count].tobytes(),
            )
            self.nodes[node, p.NEXT] = self.cursor[p.FREE]
            self.cursor[p.FREE] = node
            self.cursor[p.FREE_COUNT] += 1
            self.cursor[p.HELD_BYTES] -= count
            node = following

    def _sweep(self) -> None:
        """Clear the rows of connections that were taken back."""
        rows = {key: self.flows[slot].copy() for key, slot in self._lent.items()}
        self.flows[self._used] = 0
        self._used.clear()
        self._of_slot.clear()
        for key, row in rows.items():
            slot = int(place(self.flows, *(int(row[at]) for at in range(p.A_HIGH, p.PORTS + 1))))
            self._used.append(slot)
            self.flows[slot] = row
            self._lent[key] = slot
            self._of_slot[slot] = key
        self._gone = 0


def _usual(connection: _Connection) -> bool:
    """Return True when no state exists that only `Connections` can hold."""
    if connection.closed:
        return True
    if connection.halves[0].stream.expected is None:
        return False
    return all(
        half.stream.ended == (half.stream.offset if half.finished else None)
        and not half.stream._order
        and not half.held
        and half.framer.found
        and half.framer.gap == 0
        and half.framer._trouble is None
        and not half.framer.waits
        for half in connection.halves
    )


def _words(connection: _Connection) -> tuple[tuple[int, int, int, int, int], int]:
    """Return the key of a connection's row, and 1 when its smaller end is the acceptor."""
    ends = [(*_address(end.address), end.port) for end in connection.ends]
    flip = int(ends[0] > ends[1])
    one, other = sorted(ends)
    return (one[0], one[1], other[0], other[1], one[2] << 16 | other[2]), flip


@lru_cache(maxsize=4096)
def _address(text: str) -> tuple[int, int]:
    """Return an address as the walk loads it: two signed 64-bit numbers."""
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv4Address):
        return 0, 0xFFFF_0000_0000 | int(address)
    return _signed(int(address) >> 64), _signed(int(address) & (1 << 64) - 1)


@lru_cache(maxsize=4096)
def _text(word: int) -> str:
    """Return the text of an IPv4 address that the walk loaded."""
    return ".".join(map(str, (word & 0xFFFFFFFF).to_bytes(4, "big")))


@lru_cache(maxsize=4096)
def _end(address: str, port: int) -> Endpoint:
    return Endpoint(address, port)


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number
