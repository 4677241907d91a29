"""Maps pages of a mapped file before they are read: page faults for a few pages each take twice as long."""

from __future__ import annotations

import ctypes
import mmap
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from conformance.capture.columns import places as p
from conformance.capture.columns.arrays import Arrays, give_back, lend
from conformance.capture.columns.code import walk
from conformance.capture.columns.handover import Lending
from conformance.capture.connections import MSMQ_PORT
from conformance.capture.events import Cut, Ended, Endpoint, Event, Frame, Opened, Passed, SetBack
from conformance.capture.files import open_file
from conformance.capture.network import Fragment, Fragments, Segment, decode, transport
from conformance.capture.reader import CaptureReading, _datagram, short
from conformance.capture.reader import Numbers as Numbered
from conformance.capture.records import FILE_HEADER, MAGICS, MAX_RECORD, Layout, Mapped, Record, nonsense, search

STEP = 8 << 20
_POPULATE_READ = 22  # MADV_POPULATE_READ of Linux 5.14
_PAGE = mmap.PAGESIZE


class Pages:
    """The pages of one file. address: of its first byte."""

    def __init__(self, mapped: mmap.mmap, address: int) -> None:
        self._map, self._address = mapped, address
        self._done = 0

    def reach(self, position: int, stop: int) -> None:
        """Map the next pages from `position` on, as far as `stop`, if they are in memory.

        Other pages are left to page faults: while one waits for the disk, the system reads ahead.
        """
        if position + STEP // 2 < self._done or stop <= position:
            return
        begin = max(position & -_PAGE, self._done if self._done <= position + STEP else 0)
        end = min(begin + 2 * STEP, stop)
        if begin >= end:
            return
        self._done = end
        if _in_memory(self._address + ((end - 1) & -_PAGE)):
            with suppress(OSError):  # Older systems lack it; errors of the file appear when it is read.
                self._map.madvise(_POPULATE_READ, begin, end - begin)


@cache
def _mincore() -> Any:
    with suppress(OSError, AttributeError):
        found = ctypes.CDLL(None).mincore
        found.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
        return found
    return None


def _in_memory(address: int) -> bool:
    """Return True when the page at this address need not be read from the disk."""
    mincore, resident = _mincore(), ctypes.c_ubyte()
    return mincore is not None and mincore(address, _PAGE, ctypes.addressof(resident)) == 0 and bool(resident.value & 1)


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
    """Counts of records. skipped: records without MSMQ by reason. slow: segments that the walk left to the other
    code; joined: packets from more than one segment; repeated, reordered: segments."""

    records: int = 0
    slow: int = 0
    joined: int = 0
    repeated: int = 0
    reordered: int = 0
    skipped: Counter[str] = field(default_factory=Counter)


class Numbers(Iterator[int]):
    """Numbers of packets, shared with the walk."""

    def __init__(self) -> None:
        self.cursor: Any = None

    def __next__(self) -> int:
        number = int(self.cursor[p.NUMBER])
        self.cursor[p.NUMBER] = number + 1
        return number


def _seen_from(mapped: Any) -> Any:
    """View the bytes as an array of the usual type: numba compiles code anew for each array type.

    The array must not be written to, and the map must outlive it.
    """
    return np.ctypeslib.as_array((ctypes.c_uint8 * len(mapped)).from_address(mapped.ctypes.data))


def _arguments(base: int, arrays: Arrays) -> tuple[Any, ...]:
    """Return the arguments of `walk` for the file at an address."""
    return (
        base, arrays.spare_at, arrays.cursor, arrays.flows, arrays.nodes, arrays.arena, arrays.places[0],
        arrays.meta[0], arrays.places[1], arrays.meta[1], arrays.told,
    )  # fmt: skip


@cache
def warm(tell: Callable[[str], object] | None = None) -> None:
    """Make sure that the machine code of the walk exists; report the time if it had to be compiled."""
    say = tell if tell is not None else lambda text: print(text, file=sys.stderr)
    nothing = lend()
    arguments = _arguments(0, nothing)
    if not walk.wanted(*arguments).is_kept():
        began = time.perf_counter()
        walk.bound(*arguments)
        say(f"Compiled the walk over captures in {time.perf_counter() - began:.1f} s; this is done once.")
    give_back(nothing)


def _layout(head: bytes) -> Layout:
    """Return the layout of a file by its header. Raises ValueError for a file that the walk cannot read."""
    if head[:4] not in MAGICS or len(head) < FILE_HEADER:
        raise ValueError("no classic capture")
    how = Layout.of(head)
    if how.link not in p.LINKS:
        raise ValueError(f"link type {how.link}")
    return how


class FastCapture:
    """A classic pcap file that the walk can read, of this machine or in a store. version: the one that is meant.

    Raises OSError, ChangedError for another version, and ValueError for a file of another kind.
    """

    def __init__(self, path: str | Path, version: str | None = None) -> None:
        file = open_file(path, version)
        try:
            how = _layout(file.read_at(0, FILE_HEADER))
            self._held = file.held()
        except (OSError, ValueError):
            file.close()
            raise
        self._map = self._held.map
        self.link, self.rule = how.link, how.rule
        self.path = str(path)
        self.bytes = _seen_from(np.frombuffer(self._map, np.uint8))
        self.view = memoryview(self._map)
        self.size = len(self.bytes)
        self.order, self.unit, self.header = how.order, how.unit, how.header
        self.told = Told()
        self.before = 0
        self.left: CaptureReading | None = None
        self.cut: str | None = None
        self.position = FILE_HEADER
        """The end of the last batch: behind a record, or at a damaged one."""
        self.time_ns = 0
        """The time of the last record of the last batch."""
        self.ends: dict[int, tuple[Endpoint, Endpoint]] = {}
        """The ends of each connection met so far, initiator first."""
        self.begun = False
        """True once batches were read: until then, nothing of the state to continue is used up."""

    def intact(self) -> None:
        """Check that the file is still the one that was opened, for who reads `bytes`. Raises ChangedError."""
        self._held.need(0, 0)
        self._held.intact()

    def batches(
        self,
        start: int = FILE_HEADER,
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
            start = self._found(start) or self.size
        last = self.size if stop is None else min(stop, self.size)
        if start < last:  # The last record may end behind the range.
            self._held.need(start, min(last + self.header + MAX_RECORD, self.size))
        self.begun = True
        arrays = lend()
        yield from self._batches(arrays, start, stop, after, before, finish)
        give_back(arrays)  # Arrays of an unfinished walk are not given back, so that nobody gets them.

    def _batches(
        self, arrays: Arrays, start: int, stop: int | None, after: CaptureReading | None, before: int, finish: bool
    ) -> Iterator[Batch]:
        cursor = arrays.cursor
        cursor[p.POSITION], cursor[p.SIZE] = start, self.size
        cursor[p.STOP] = self.size if stop is None else min(stop, self.size)
        self.before = before
        course = _Course(self, arrays, after)
        base = self.bytes.ctypes.data
        pages = Pages(self._map, base)
        on = walk.bound(*_arguments(base, arrays))
        while True:
            self._held.need(0, 0)
            pages.reach(int(cursor[p.POSITION]), int(cursor[p.STOP]))
            status = on()
            if cursor[p.TOLD]:
                course.heed()
            if status == p.FULL or len(course.events) >= _MAX_EVENTS:
                self.position = int(cursor[p.POSITION])
                yield course.batch()
                course.reset()
            if status == p.ENDED:
                break
            if status != p.FULL:
                course.answers[status]()
            if course.over:
                break
        self.position, self.time_ns = int(cursor[p.AT if status == p.DAMAGED else p.POSITION]), int(cursor[p.TIME])
        if finish:
            course.end()
        else:
            self.left = course.left()
        yield course.batch()
        self._held.intact()

    def record(self, cursor: Any) -> Record:
        at, kept = int(cursor[p.AT]), int(cursor[p.KEPT])
        order = "little" if self.order == "<" else "big"
        length = int.from_bytes(self.view[at - self.header + 12 : at - self.header + 16], order)  # type: ignore[arg-type]
        data = bytes(self.view[at : at + kept])
        return Record(int(cursor[p.RECORD]) + 1, int(cursor[p.TIME]), self.link, data, max(length, kept))

    def damage(self, cursor: Any) -> tuple[str, bool, int | None]:
        """Return the problem, whether the file ends there, and where records begin again; as `pcap.walked`."""
        problem, ends = self._problem(cursor)
        return problem, ends, self._found(int(cursor[p.AT]) + 1)

    def _found(self, start: int) -> int | None:
        """Return the first offset from `start` on where records begin; None without any."""
        ahead = Mapped(self._map, min(start, self.size), need=self._held.need)
        _, found = search(ahead, self.rule)
        return ahead.at if found else None

    def _problem(self, cursor: Any) -> tuple[str, bool]:
        number, at = int(cursor[p.RECORD]) - self.before + 1, int(cursor[p.AT])
        if at + self.header > self.size:
            return f"the file ends within the header of record {number}", True
        order = "little" if self.order == "<" else "big"
        kept = int.from_bytes(self.view[at + 8 : at + 12], order)  # type: ignore[arg-type]
        problem = nonsense(number, kept, int.from_bytes(self.view[at + 12 : at + 16], order))  # type: ignore[arg-type]
        if problem is not None:
            return problem, False
        left = self.size - at - self.header
        return f"the file ends within record {number} ({left} of {kept} bytes)", True

    def count(self, cursor: Any) -> None:
        told = self.told
        told.records = int(cursor[p.RECORD])
        told.joined, told.repeated, told.reordered = (int(cursor[at]) for at in (p.JOINED, p.REPEATED, p.REORDERED))
        for words, at in (("other ports", p.OTHER_PORTS), ("not IP", p.NOT_IP), ("neither TCP nor UDP", p.NEITHER)):
            if cursor[at]:
                told.skipped[words] += int(cursor[at])


class _Course:
    """One reading of a capture: the state beside the walk, and what follows each of its answers."""

    def __init__(self, capture: FastCapture, arrays: Arrays, after: CaptureReading | None) -> None:
        self.capture = capture
        self.arrays = arrays
        self.numbered = Numbers()
        self.connections = Lending(self.numbered, capture.view, arrays)
        self.events: list[tuple[int, Event]] = []
        self.over = False
        self.fragments = Fragments() if after is None else after.fragments
        self.answers: Mapping[int, Callable[[], None]] = {
            p.SLOW: self._slow,
            p.REST: self._rest,
            p.TICK: self._tick,
            p.BACK: self._back,
            p.DAMAGED: self._damaged,
        }
        cursor = self.cursor = self.numbered.cursor = arrays.cursor
        cursor[p.NUMBER] = 1 if after is None else after.numbers.last + 1
        cursor[p.RECORD] = 0 if after is None else after.records
        cursor[p.NEWEST], cursor[p.DOUBTED] = (0, 0) if after is None else (after.latest_ns, after.doubted_ns)
        cursor[p.SWAPPED], cursor[p.UNIT], cursor[p.HEADER] = capture.order == ">", capture.unit, capture.header
        cursor[p.LINK] = p.LINKS[capture.link]
        if after is not None:
            capture.ends = dict(after.connections.ends())
            capture.told.skipped = Counter(after.skipped)  # It may be the one told of the range before.
            self.connections.adopt(after.connections)

    def note(self, found: Iterable[Event]) -> None:
        for event in found:
            self._note(event.number if isinstance(event, Frame) else int(self.cursor[p.NUMBER]), event)

    def heed(self) -> None:
        """Note the events that the walk has left."""
        for number, event in self.connections.tell():
            self._note(number, event)

    def _note(self, number: int, event: Event) -> None:
        if isinstance(event, Opened):
            self.capture.ends[event.connection] = (event.initiator, event.acceptor)
        self.events.append((number, event))

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
        record = self.capture.record(cursor)
        self.note(self.connections.tick(record.time_ns))
        self.note(self._events(record))
        cursor[p.RECORD] = record.number
        cursor[p.POSITION] = cursor[p.AT] + cursor[p.KEPT]

    def _tick(self) -> None:
        self.note(self.connections.tick(int(self.cursor[p.TIME])))
        self.connections.refresh()

    def _back(self) -> None:
        self.note([SetBack(int(self.cursor[p.RECORD]) + 1, int(self.cursor[p.DOUBTED]))])

    def _damaged(self) -> None:
        cursor, capture = self.cursor, self.capture
        problem, ends, found = capture.damage(cursor)
        passed = (capture.size if found is None else found) - int(cursor[p.AT])
        if found is not None or not ends:
            self.note([Passed(int(cursor[p.RECORD]) + 1, passed)])
        if found is None:
            capture.cut, self.over = problem, True
        else:
            cursor[p.POSITION] = found

    def left(self) -> CaptureReading:
        """Return the state for the records that follow."""
        cursor, told = self.cursor, self.capture.told
        self.capture.count(cursor)
        left = CaptureReading(told.records, told.skipped, Numbered(int(cursor[p.NUMBER]) - 1), self.fragments)
        left.latest_ns, left.doubted_ns = int(cursor[p.NEWEST]), int(cursor[p.DOUBTED])
        left.connections = self.connections.release(left.numbers)
        return left

    def end(self) -> None:
        """Note the end of all connections and of the capture."""
        told, cut = self.capture.told, self.capture.cut
        self.note(self.connections.end())
        if cut is not None:
            self.note([Cut(int(self.cursor[p.RECORD]) + 1, cut)])
        self.capture.count(self.cursor)
        self.fragments.end()
        if self.fragments.given_up:
            told.skipped["IP fragment"] += self.fragments.given_up
        self.note([Ended(told.records, tuple(sorted(told.skipped.items())))])

    def _events(self, record: Record) -> Iterator[Event]:
        """Process a record that the walk left alone, as `read_capture` does."""
        found = decode(record)
        if isinstance(found, Fragment):
            whole = self.fragments.add(record.time_ns, found)
            if whole is None:
                return
            found = transport(found, whole)
        yield from short(record, found)
        if isinstance(found, str):
            self.capture.told.skipped[found] += 1
        elif isinstance(found, Segment) and MSMQ_PORT in (found.source[1], found.destination[1]):
            yield from self.connections.take(record.number, record.time_ns, found)
        elif not isinstance(found, Segment) and p.PING_PORT in (found.source[1], found.destination[1]):
            yield _datagram(next(self.numbered), record.number, record.time_ns, found)
        else:
            self.capture.told.skipped["other ports"] += 1

    def _rest(self) -> None:
        """Process the part of a segment that the walk did not take in."""
        cursor = self.cursor
        self.capture.told.slow += 1
        side, slot = int(cursor[p.SIDE]), int(cursor[p.SLOT])
        row = self.connections.flows[slot]
        source, destination = self.capture.ends[int(row[p.CONNECTION])][:: -1 if side else 1]
        at, count = int(cursor[p.REST_AT]), int(cursor[p.REST_LENGTH])
        rest = Segment(
            (source.address, source.port),
            (destination.address, destination.port),
            int(row[p.SIDES[side] + p.EXPECTED]),
            int(cursor[p.ACKNOWLEDGED]),
            int(cursor[p.FLAGS]),
            bytes(self.capture.view[at : at + count]),
            0,
        )
        self.note(self.connections.take(int(cursor[p.RECORD]), int(cursor[p.TIME]), rest))
