"""Reads a capture file as a stream of events, and numbers its TCP streams as Wireshark does."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from conformance.capture.connections import MSMQ_PORT, Connections
from conformance.capture.events import (
    BACK_NS,
    FIRST_NS,
    CaptureError,
    Cut,
    Ended,
    Endpoint,
    Event,
    Frame,
    Passed,
    Renewed,
    SetBack,
    Short,
    Trouble,
)
from conformance.capture.files import Stop
from conformance.capture.network import (
    ACK,
    BROKEN_TCP,
    CUT_SHORT,
    INCOMPLETE,
    NEITHER,
    PING_PORT,
    SYN,
    Datagram,
    Fragments,
    Segment,
    quoted,
    whole,
)
from conformance.capture.records import Record, RecordWalk, read_records
from conformance.capture.services import Services

MAX_STREAMS = 1 << 17
"""Conversations that are remembered at once; the one silent longest is forgotten, and then new numbers are not told."""
_UNSET = -1


@dataclass(slots=True)
class _Stream:
    """number: None when it is not known. first: where the sequence numbers of each direction begin."""

    number: int | None
    first: list[int] = field(default_factory=lambda: [_UNSET, _UNSET])


class StreamNumbers:
    """The numbers of one capture, in the order of its records."""

    def __init__(self) -> None:
        self._streams: OrderedDict[str, _Stream] = OrderedDict()
        self._count = 0
        self._sure = True

    def of(self, segment: Segment, *, quoted: bool = False) -> int | None:
        """Return the number of a segment's stream, None when it is not known.

        quoted: an ICMP error quotes the segment; of those only an answered SYN tells where the numbers begin.
        """
        turned = segment.destination < segment.source
        one, other = (segment.destination, segment.source) if turned else (segment.source, segment.destination)
        key = f"{one[0]} {one[1]} {other[0]} {other[1]}"
        stream, side = self._streams.get(key), int(turned)
        syn = segment.flags & SYN
        if stream is not None and syn and not segment.flags & ACK and segment.sequence != stream.first[side] != _UNSET:
            stream = None
        if stream is None:
            stream = self._streams[key] = self._new()
        self._streams.move_to_end(key)
        first = stream.first
        if quoted:
            if syn and segment.flags & ACK and first[side] != _UNSET:
                first[side] = segment.sequence
        else:
            if syn or first[side] == _UNSET:
                first[side] = segment.sequence if syn else (segment.sequence - 1) & 0xFFFFFFFF
            if segment.flags & ACK and first[1 - side] == _UNSET:
                first[1 - side] = (segment.acknowledged - 1) & 0xFFFFFFFF
        return stream.number

    def lose(self) -> None:
        """Note a stream whose ends cannot be read: the numbers of those that begin later are not known."""
        self._sure = False

    def _new(self) -> _Stream:
        if len(self._streams) >= MAX_STREAMS:
            self._streams.popitem(last=False)
            self._sure = False
        self._count += 1
        return _Stream(self._count - 1 if self._sure else None)


@dataclass(slots=True)
class Numbers:
    """Frame numbers 1, 2, 3, ..., shared by connections and datagrams. last: the last one given."""

    last: int = 0

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        self.last += 1
        return self.last


@dataclass(slots=True)
class CaptureReading:
    """The state of reading a capture: records in, events out, in bounded memory. It holds values only, so it can be
    stored.

    records: their number so far. skipped: those without MSMQ, by reason. services: what of them MSMQ uses. streams: the
    numbers of TCP streams, None to leave them without. latest_ns: the latest time of a record; doubted_ns: what it was
    when the clock was set last, back or from a time before MSMQ.
    """

    records: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    numbers: Numbers = field(default_factory=Numbers)
    fragments: Fragments = field(default_factory=Fragments)
    services: Services = field(default_factory=Services)
    streams: StreamNumbers | None = None
    latest_ns: int = 0
    doubted_ns: int = 0
    connections: Connections = field(init=False)

    def __post_init__(self) -> None:
        self.connections = Connections(self.numbers)

    def record(self, record: Record) -> Iterator[Event]:
        """Process a record and yield its events."""
        self.records += 1
        if record.time_ns > self.latest_ns:
            before, self.latest_ns = self.latest_ns, record.time_ns
            if 0 < before < FIRST_NS <= record.time_ns:
                self.doubted_ns = before
                yield SetBack(record.number, before)
        elif record.time_ns < self.latest_ns - BACK_NS and self.latest_ns > self.doubted_ns:
            self.doubted_ns = self.latest_ns
            yield SetBack(record.number, self.latest_ns)
        yield from self.content(record)

    def content(self, record: Record) -> Iterator[Event]:
        """Process what a record has, which is counted already."""
        yield from self.connections.tick(record.time_ns)
        found = whole(record, self.fragments)
        if found is None:
            return
        yield from short(record, found)
        stream = None if self.streams is None else _stream(self.streams, record, found)
        if isinstance(found, str):
            self.skipped[found] += 1
            return
        if isinstance(found, Segment):
            if MSMQ_PORT in (found.source[1], found.destination[1]):
                yield from self.connections.segment(record.number, record.time_ns, found, stream)
                return
        elif PING_PORT in (found.source[1], found.destination[1]):
            yield _datagram(next(self.numbers), record.number, record.time_ns, found)
            return
        self.skipped["other ports"] += 1
        self.services.see(found)

    def end(self, cut: str | None = None, *, stopped: bool = False) -> Iterator[Event]:
        """End the capture. cut: where and how it ends within a record. stopped: its reader was stopped."""
        yield from self.connections.end()
        if cut is not None:
            yield Cut(self.records + 1, cut, stopped)
        self.fragments.end()
        if self.fragments.given_up:
            self.skipped[INCOMPLETE] += self.fragments.given_up
        yield Ended(self.records, tuple(sorted(self.skipped.items())), self.services.all)


def read_capture(
    path: str | Path,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    follow: Stop | None = None,
    walk: RecordWalk | None = None,
) -> Iterator[Event]:
    """Yield the events of a pcap or pcapng file, compressed or not, read forward once in bounded memory.

    path: `-` is standard input. Reads TCP port 1801 and UDP port 3527 (MS-MQQB 2.1). on_progress is called with (bytes
    read, bytes in all, 0 when unknown). follow: at the end of the file, wait for more until it is over. walk: tells
    meanwhile how far the reading is. The last event
    is `Ended`; a file cut within a record yields `Cut` before it. Reading goes on behind damage (`Passed`). Raises
    CaptureError when the file is not a capture.
    """
    reading, walk, passed = CaptureReading(streams=StreamNumbers()), walk or RecordWalk(), 0
    for record in _records(path, walk, on_progress, follow):
        if isinstance(record, Renewed):
            yield record
            continue
        if walk.damaged > passed:
            yield Passed(record.number, walk.damaged - passed)
            passed = walk.damaged
        yield from reading.record(record)
    if walk.damaged > passed:
        yield Passed(reading.records + 1, walk.damaged - passed)
    reading.skipped.update(walk.unused)
    yield from reading.end(walk.cut, stopped=follow is not None and follow.over)


def _records(
    path: str | Path, walk: RecordWalk, on_progress: Callable[[int, int], None] | None, follow: Stop | None
) -> Iterator[Record | Renewed]:
    """Yield the records of a file, and of those that take its place while it is followed."""
    yield from read_records(path, walk, on_progress=on_progress, follow=follow)
    while follow is not None and follow.renewed and not follow.over:
        yield Renewed(walk.records + 1, walk.cut)
        follow.renewed, walk.cut = False, None
        try:
            yield from read_records(path, walk, on_progress=on_progress, follow=follow)
        except CaptureError:
            if not follow.over:  # It is still empty.
                raise


def _stream(streams: StreamNumbers, record: Record, found: Segment | Datagram | str) -> int | None:
    """Count the stream of a record, and return its number."""
    if isinstance(found, Segment):
        return streams.of(found)
    if found == BROKEN_TCP:
        streams.lose()
    elif found == NEITHER and (about := quoted(record)) is not None:
        streams.of(about, quoted=True)
    return None


def short(record: Record, found: Segment | Datagram | str) -> Iterator[Event]:
    """Yield `Short` for a record that was captured in part, if the missing bytes are MSMQ or may be."""
    missing = record.length - len(record.data)
    if isinstance(found, str):
        if found == CUT_SHORT and missing:
            yield Short(record.number, missing)
    elif found.lost and _is_msmq(found):
        yield Short(record.number, found.lost)


def _is_msmq(found: Segment | Datagram) -> bool:
    return (MSMQ_PORT if isinstance(found, Segment) else PING_PORT) in (found.source[1], found.destination[1])


def _datagram(number: int, record: int, time_ns: int, found: Datagram) -> Frame:
    return Frame(
        number=number,
        record=record,
        time_ns=time_ns,
        source=Endpoint(*found.source),
        destination=Endpoint(*found.destination),
        transport="udp",
        data=found.payload,
        trouble=Trouble("not-captured", f"{found.lost} bytes of it were not captured") if found.lost else None,
    )
