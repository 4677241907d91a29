"""Reads a capture by the walk, which is lent the connections that go their usual way.

`Connections` stays the authority: it opens and closes connections and handles everything unusual."""

from __future__ import annotations

import heapq
import io
import ipaddress
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from conformance.capture import connections, records
from conformance.capture.columns import places as p
from conformance.capture.columns import streams, walk
from conformance.capture.connections import HOLD_NS, SIDES, Connections, _Connection, _Half, attempted
from conformance.capture.encapsulation import NO_IP
from conformance.capture.events import Closed, Endpoint, Event, Frame, Opened, Passed, SetBack
from conformance.capture.files import Pages, open_file
from conformance.capture.framing import TELLING, Framer, Stream, _lengths
from conformance.capture.network import NEITHER, Segment
from conformance.capture.reader import CaptureReading
from conformance.capture.services import TCP_PORTS, tcp_name
from conformance.wire import extents, frame_length
from conformance.wire.columns.lowering import lowered, source_of
from conformance.wire.columns.machine_code import Wanted
from conformance.wire.framing import BASE_SIZE

_MOST_KEPT = 2


class Arrays:
    """The arrays of one walk; `places` describes their content. used: the rows of connections to be cleared."""

    def __init__(self) -> None:
        self.cursor = np.zeros(p.CURSOR, np.int64)
        self.flows = np.zeros((p.TABLE, p.FLOW), np.int64)
        self.nodes = np.zeros((p.NODES, 4), np.int64)
        self.told = np.zeros((p.TELLINGS, 8), np.int64)
        self.spare = np.zeros(p.SPARE, np.uint8)
        self.arena = np.zeros(p.ARENA, np.uint8)
        self.places = [np.zeros((2, p.ROWS), np.int64) for _ in range(2)]
        self.meta = [np.zeros((p.ROWS, 8), np.int64) for _ in range(2)]
        self.address = int(self.cursor.ctypes.data)
        self.used: list[int] = []
        self.clear()

    def clear(self) -> None:
        """Reset the arrays; unreferenced parts of buffers keep their content."""
        free, count = self.cursor[[p.FREE, p.FREE_COUNT]].tolist()
        if count != p.NODES:
            self.nodes[:, p.NEXT] = (*range(1, p.NODES), -1)
            free = 0
        self.cursor[:] = 0
        self.cursor[p.FREE], self.cursor[p.FREE_COUNT] = free, p.NODES
        arrays: tuple[Any, ...] = self.spare, self.flows, self.nodes, self.arena, self.told, *self.places, *self.meta
        self.cursor[p.SPARE_AT : p.META_AT + 2] = [array.ctypes.data for array in arrays]
        self.flows[self.used] = 0
        self.used.clear()


_KEPT: list[Arrays] = []


def lend() -> Arrays:
    """Return arrays for one walk."""
    try:
        return _KEPT.pop()
    except IndexError:
        return Arrays()


def give_back(arrays: Arrays) -> None:
    """Take back arrays; neither they nor batches that point into them may be used any more."""
    if len(_KEPT) < _MOST_KEPT:
        arrays.clear()
        _KEPT.append(arrays)


Key = frozenset[tuple[str, int]]
_MOST_LENT = p.TABLE // 3


class Lending(Connections):
    """All connections of a capture; those that are lent have their state in the rows of the walk."""

    def __init__(self, numbered: Iterator[int], file: memoryview, arrays: Arrays) -> None:
        super().__init__(numbered)
        self.cursor, self.flows, self.nodes, self._address = arrays.cursor, arrays.flows, arrays.nodes, arrays.address
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

    def at(self, slot: int) -> _Connection:
        """Return the connection of a row."""
        return self._table[self._of_slot[slot]]

    def segment(self, record: int, time_ns: int, segment: Segment, stream: int | None = None) -> Iterator[Event]:
        """Process a segment of any connection; then lend the connection if possible."""
        key = frozenset((segment.source, segment.destination))
        self.recall(key)
        self._record = record
        if key in self._table:
            self._seen[key] = record
        yield from super().segment(record, time_ns, segment, stream)
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

    def lend(self, key: Key) -> None:
        """Lend a connection to the walk, if it goes its usual way."""
        connection = self._table.get(key)
        if connection is None or len(key) < 2 or len(self._lent) >= _MOST_LENT or not _usual(connection):
            return
        if self._spare_used + sum(half.framer.buffered for half in connection.halves) > p.SPARE:
            if any(self.flows[slot, side + p.PENDING] for slot in self._of_slot for side in p.SIDES):
                return
            self._spare_used = 0
        if self._gone > p.TABLE // 4:
            self._sweep()
        words, flip = _words(connection)
        self.cursor[p.ENDS + p.A_HIGH : p.ENDS + p.PORTS + 1] = words
        slot = placer()(self._address, self._address + 8 * p.ENDS)
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
            row[p.FRESH : p.FRESH + 2] = [half.fresh_ns for half in connection.halves]
        self._lent[key] = slot
        self._of_slot[slot] = key

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
                half.fresh_ns = int(row[p.FRESH + at])
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
                connection = self.at(slot)
                connection.closed, connection.first_end = True, SIDES[int(self.flows[slot, p.FIRST_END]) - 1]
                silent = not self.flows[slot, [side + p.OFFSET for side in p.SIDES]].any()
                attempt = attempted(connection, "fin") if silent else None
                yield number, Closed(connection.number, time_ns, connection.first_end, "fin", attempt, both=True)

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

    def release(self) -> Connections:
        """Return all connections in their present state, for another reader."""
        self.recall_all()
        after = Connections(self._numbered)
        after._table, after._stalled = self._table, self._stalled
        after._count, after._buffered = self._count, self._buffered
        return after

    def end(self) -> Iterator[Event]:
        """End all connections, the one silent longest first."""
        for key in sorted(self._table, key=self._last):
            self.recall(key)
            connection = self._table[key]
            yield from self._close(connection, connection.first_end, "fin" if connection.first_end else "end")
        self._table.clear()

    @property
    def _held(self) -> int:
        return self._buffered + int(self.cursor[p.HELD_BYTES])

    def _open(self, key: Key, time_ns: int, segment: Segment) -> _Connection:
        self._seen[key] = self._record
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
        if key not in self._in_ages:
            self._serial += 1
            heapq.heappush(self._ages, (record, self._serial, key))
            self._in_ages.add(key)

    def _last(self, key: Key) -> int:
        slot = self._lent.get(key)
        return max(self._seen[key], 0 if slot is None else int(self.flows[slot, p.LAST]))

    def _give(self, row: Any, side: int, half: _Half) -> None:
        buffered, node = bytes(half.framer._buffer), -1
        need, length, short = BASE_SIZE, 0, 0
        if buffered:
            at, self._spare_used = self._spare_used, self._spare_used + len(buffered)
            self.spare[at : self._spare_used] = np.frombuffer(buffered, np.uint8)
            node = self._node()
            self.nodes[node] = (0, -1 - at, len(buffered), -1)
            self.cursor[p.HELD_BYTES] += len(buffered)
        if len(buffered) >= BASE_SIZE:
            lengths = _lengths(half.framer._buffer, frame_length(buffered[:BASE_SIZE]).lengths)
            need = length = max(lengths)
            if len(lengths) > 1:
                short, need = min(lengths), min(lengths) + TELLING
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
            slot = placer()(self._address, row.ctypes.data)
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
    high, low = struct.unpack(">qq", ipaddress.ip_address(text).packed.rjust(16, b"\xff"))
    return (high, low) if ":" in text else (0, low & 0xFFFF_FFFF_FFFF)


@lru_cache(maxsize=4096)
def _text(word: int) -> str:
    """Return the text of an IPv4 address that the walk loaded."""
    return ".".join(map(str, (word & 0xFFFFFFFF).to_bytes(4, "big")))


_end = lru_cache(maxsize=4096)(Endpoint)


_MAX_EVENTS = 1 << 12


@dataclass(frozen=True, slots=True)
class Rows:
    """Packets in one buffer. It must not be used after its batch.

    buffer: uint8. offsets, lengths: int64. meta: int64[n, 8], see `places`.
    """

    buffer: Any
    offsets: Any
    lengths: Any
    meta: Any

    def __len__(self) -> int:
        return len(self.offsets)

    def data(self, row: int) -> bytes:
        """Return the bytes of one packet."""
        at = int(self.offsets[row])
        return bytes(self.buffer[at : at + int(self.lengths[row])])


@dataclass(frozen=True, slots=True)
class Batch:
    """Packets in a file, packets joined from several segments, and events, each with its place.

    events: (number, event); the event precedes the packet of that number. A Frame among them has its own number.
    """

    in_file: Rows
    in_arena: Rows
    events: list[tuple[int, Event]]


@dataclass(slots=True)
class Told:
    """Counts of records. slow: segments that the walk left to the other code; joined: packets from more than one
    segment; repeated, reordered: segments."""

    records: int = 0
    slow: int = 0
    joined: int = 0
    repeated: int = 0
    reordered: int = 0


def wanted(name: str, count: int) -> Wanted:
    """Return the machine code of a function of `walk` or `streams` with so many arguments, which may exist already."""
    return lowered(name, source_of(extents, streams, walk), name, count)


@cache
def walker() -> Callable[..., int]:
    """Return `walk.walk`, compiled."""
    return wanted("walk", 1).function()


@cache
def placer() -> Callable[..., int]:
    """Return `streams.place`, compiled."""
    return wanted("place", 2).function()


@cache
def warm(tell: Callable[[str], object] | None = None) -> None:
    """Make sure that the machine code of the walk exists; report the time if it had to be compiled."""
    say = tell if tell is not None else lambda text: print(text, file=sys.stderr)
    if not wanted("walk", 1).is_kept():
        began = time.perf_counter()
        walker()
        say(f"Compiled the walk over captures in {time.perf_counter() - began:.1f} s; this is done once.")


class FastCapture:
    """A classic pcap file that the walk can read, of this machine or in a store. version: the one that is meant.

    Raises OSError, ChangedError for another version, and ValueError for a file of another kind.
    """

    def __init__(self, path: str | Path, version: str | None = None) -> None:
        file = open_file(path, version)
        try:
            head = file.read_at(0, records.FILE_HEADER)
            if head[:4] not in records.MAGICS or len(head) < records.FILE_HEADER:
                raise ValueError("no classic capture")
            self.layout = records.Layout.of(head)
            if self.layout.link not in p.LINKS:
                raise ValueError(f"link type {self.layout.link}")
            self._held = file.held()
        except (OSError, ValueError):
            file.close()
            raise
        self._map = self._held.map
        self.path = str(path)
        self.bytes = np.frombuffer(self._map, np.uint8)
        self.view = memoryview(self._map)
        self.size = len(self.bytes)
        self.told = Told()
        self.left: CaptureReading | None = None
        self.cut: str | None = None
        self.position = records.FILE_HEADER
        """The end of the last batch: behind a record, or at a damaged one."""
        self.time_ns = 0
        """The time of the last record of the last batch."""
        self.begun = False
        """True once batches were read: until then, nothing of the state to continue is used up."""

    def intact(self) -> None:
        """Check that the file is still the one that was opened, for who reads `bytes`. Raises ChangedError."""
        self._held.need(0, 0)
        self._held.intact()

    def batches(
        self,
        start: int = records.FILE_HEADER,
        stop: int | None = None,
        *,
        after: CaptureReading | None = None,
        before: int = 0,
        finish: bool = True,
        align: bool = False,
    ) -> Iterator[Batch]:
        """Yield the packets of the records that begin in [start, stop).

        start: the offset of a record; with `align` it may lie within one, and the next record is the first. after: the
        state of reading so far, which this continues and uses up. before: its records of other files. finish: the
        capture ends behind these records; without it, their state is in `left`, and where and how the file is cut, if
        it is, in `cut`. Where the file stops making sense, reading goes on at the next record found (`Passed`). Raises
        UnavailableError before the first batch if the bytes cannot be had, and ChangedError at any time.
        """
        if align:
            start = self.found(start) or self.size
        last = self.size if stop is None else min(stop, self.size)
        if start < last:  # The last record may end behind the range.
            self._held.need(start, min(last + self.layout.header + records.MAX_RECORD, self.size))
        self.begun = True
        arrays = lend()
        cursor = arrays.cursor
        cursor[p.POSITION], cursor[p.STOP], cursor[p.SIZE] = start, last, self.size
        course = _Course(self, arrays, after or CaptureReading(), before)
        pages, on, status = Pages(self._map, self.bytes.ctypes.data), walker(), p.FULL
        while status != p.ENDED and not course.over:
            self._held.need(0, 0)
            pages.reach(int(cursor[p.POSITION]), last)
            status = on(arrays.address)
            course.events += course.connections.tell()
            if status == p.FULL or len(course.events) >= _MAX_EVENTS:
                self.position = int(cursor[p.POSITION])
                yield course.batch()
                course.reset()
            if status in course.answers:
                course.answers[status]()
        self.position, self.time_ns = int(cursor[p.POSITION]), int(cursor[p.TIME])
        if finish:
            course.end()
        else:
            self.left = course.left()
        yield course.batch()
        self._held.intact()
        give_back(arrays)  # Arrays of an unfinished walk are not given back, so that nobody gets them.

    def record(self, at: int, kept: int, number: int) -> tuple[records.Record | None, str, bool]:
        """Return the record at an offset that has so many bytes, or why there is none, as `records.record_ahead`."""
        data = self.view[at : at + self.layout.header + min(kept, records.MAX_RECORD)]
        return records.record_ahead(records.Source(io.BytesIO(data)), self.layout, number)

    def found(self, start: int) -> int | None:
        """Return the first offset from `start` on where records begin; None without any."""
        ahead = records.Mapped(self._map, min(start, self.size), need=self._held.need)
        _, found = records.search(ahead, self.layout.rule)
        return ahead.at if found else None


class _Course:
    """One reading of a capture: the state beside the walk, and what follows each of its answers."""

    def __init__(self, capture: FastCapture, arrays: Arrays, reading: CaptureReading, before: int) -> None:
        self.capture, self.arrays, self.reading, self.before = capture, arrays, reading, before
        self.events: list[tuple[int, Event]] = []
        self.over = False
        self.answers: Mapping[int, Callable[[], None]] = {
            p.SLOW: self._slow,
            p.REST: self._rest,
            p.TICK: self._tick,
            p.BACK: self._back,
            p.DAMAGED: self._damaged,
        }
        cursor, layout = arrays.cursor, capture.layout
        self.cursor = cursor
        cursor[p.NUMBER], cursor[p.RECORD] = reading.numbers.last + 1, reading.records
        cursor[p.NEWEST], cursor[p.DOUBTED] = reading.latest_ns, reading.doubted_ns
        cursor[p.SWAPPED], cursor[p.UNIT], cursor[p.HEADER] = layout.order == ">", layout.unit, layout.header
        cursor[p.LINK], cursor[p.BASE] = p.LINKS[layout.link], capture.bytes.ctypes.data
        self.connections = Lending(reading.numbers, capture.view, arrays)
        self.connections.adopt(reading.connections)
        reading.connections = self.connections

    def _note(self, found: Iterable[Event]) -> None:
        """Keep events with the number of the next packet; they may take numbers."""
        numbers = self.reading.numbers
        numbers.last = int(self.cursor[p.NUMBER]) - 1
        for event in found:
            self.events.append((event.number if isinstance(event, Frame) else numbers.last + 1, event))
        self.cursor[p.NUMBER] = numbers.last + 1

    def batch(self) -> Batch:
        """Return the packets and events since the last reset."""
        rows, places, meta = [], self.arrays.places, self.arrays.meta
        for at, buffer, used in ((0, self.capture.bytes, p.FILE_ROWS), (1, self.arrays.arena, p.ARENA_ROWS)):
            count = int(self.cursor[used])
            rows.append(Rows(buffer, places[at][0, :count], places[at][1, :count], meta[at][:count]))
        return Batch(rows[0], rows[1], list(self.events))

    def reset(self) -> None:
        self.cursor[p.FILE_ROWS] = self.cursor[p.ARENA_ROWS] = self.cursor[p.ARENA_USED] = 0
        self.events.clear()

    def _slow(self) -> None:
        cursor = self.cursor
        self.capture.told.slow += 1
        record, _, _ = self.capture.record(int(cursor[p.POSITION]), int(cursor[p.KEPT]), int(cursor[p.RECORD]) + 1)
        assert record is not None
        self._note(self.reading.content(record))
        cursor[p.RECORD] += 1
        cursor[p.POSITION] += cursor[p.HEADER] + cursor[p.KEPT]

    def _tick(self) -> None:
        self._note(self.connections.tick(int(self.cursor[p.TIME])))
        self.connections.refresh()

    def _back(self) -> None:
        self._note([SetBack(int(self.cursor[p.RECORD]) + 1, int(self.cursor[p.DOUBTED]))])

    def _damaged(self) -> None:
        cursor, capture = self.cursor, self.capture
        number, at = int(cursor[p.RECORD]) + 1, int(cursor[p.POSITION])
        _, problem, ends = capture.record(at, int(cursor[p.KEPT]), number - self.before)
        found = capture.found(at + 1)
        if found is not None or not ends:
            self._note([Passed(number, (capture.size if found is None else found) - at)])
        if found is None:
            capture.cut, self.over = problem, True
        else:
            cursor[p.POSITION] = found

    def _rest(self) -> None:
        """Process the part of a segment that the walk did not take in."""
        cursor = self.cursor
        self.capture.told.slow += 1
        side, slot, at = int(cursor[p.SIDE]), int(cursor[p.SLOT]), int(cursor[p.REST_AT])
        source, destination = self.connections.at(slot).ends[:: -1 if side else 1]
        rest = Segment(
            (source.address, source.port),
            (destination.address, destination.port),
            int(self.connections.flows[slot, p.SIDES[side] + p.EXPECTED]),
            int(cursor[p.ACKNOWLEDGED]),
            int(cursor[p.FLAGS]),
            bytes(self.capture.view[at : at + int(cursor[p.REST_LENGTH])]),
            0,
        )
        self._note(self.connections.segment(int(cursor[p.RECORD]), int(cursor[p.TIME]), rest))

    def _count(self) -> None:
        """Count what the walk has passed."""
        cursor, reading, told = self.cursor, self.reading, self.capture.told
        reading.records = told.records = int(cursor[p.RECORD])
        reading.latest_ns, reading.doubted_ns = int(cursor[p.NEWEST]), int(cursor[p.DOUBTED])
        told.joined, told.repeated, told.reordered = (int(cursor[at]) for at in (p.JOINED, p.REPEATED, p.REORDERED))
        for words, at in (("other ports", p.OTHER_PORTS), (NO_IP, p.NOT_IP), (NEITHER, p.NEITHER)):
            if cursor[at]:
                reading.skipped[words] += int(cursor[at])
        for at, port in enumerate(TCP_PORTS):
            number, size = cursor[p.SERVICES + 2 * at : p.SERVICES + 2 * at + 2].tolist()
            if number:
                reading.services.add(tcp_name(port), 0, number, size)

    def left(self) -> CaptureReading:
        """Return the state for the records that follow."""
        self._count()
        self.reading.numbers.last = int(self.cursor[p.NUMBER]) - 1
        self.reading.connections = self.connections.release()
        return self.reading

    def end(self) -> None:
        """Note the end of all connections and of the capture."""
        self._count()
        self._note(self.reading.end(self.capture.cut))
