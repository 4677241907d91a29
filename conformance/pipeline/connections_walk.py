"""Plan to judge the connections of one stream on several cores: a walk finds who must be judged together.

The walk reads the stream once, in order, without judging: a small part of the work. For each range it writes down where
its packets are, and the events between them.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conformance.capture import CaptureError, Event, Frame
from conformance.capture.columns.reader import Batch, FastCapture
from conformance.capture.pcap import FILE_HEADER
from conformance.capture.reader import CaptureReading
from conformance.pipeline.connections_groups import Buckets, Groups, concerns_only_its_connection, times_of
from conformance.pipeline.connections_openings import Openings
from conformance.pipeline.connections_server import Overheard, Server
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.identity import Probe
from conformance.pipeline.lake import Target
from conformance.pipeline.memory import freeze, packed, unpacked
from conformance.pipeline.streams import HOLD_NS, SILENT_NS, How

MOST_OF_ONE = 0.8
"""The share of the largest group from which several cores gain too little for a second walk."""
MOST_NODES = 1 << 18
"""Hosts and queue managers of a stream, at most: the rules of connections remember far fewer, so that their tables
would be full.
"""
MOST_MET = 1 << 21
"""Connections of a stream with their queue managers, at most: each takes some 200 bytes, and may be as short as one
packet.
"""
MOST_CROSSING = 128
"""Queue managers that several parts meet, at most: each costs the second look about 14 ns a packet."""
_ENDED = (OSError, ValueError, CaptureError)


@dataclass(slots=True)
class Clocked:
    """An event in its place: the number of the packet that it precedes, or has.

    It may be an `Overheard` one. before_ns, after_ns: times of the last packet before it and of the next one in this
    capture, None without one.
    """

    number: int
    event: Any
    before_ns: int | None
    after_ns: int | None = None


@dataclass(frozen=True, slots=True)
class PartedTask:
    """A stream to be parted. at_most: bytes of a range. buckets: parts that are judged at once."""

    key: str
    captures: Sequence[Probe]
    keep: bool
    at_most: int
    buckets: int
    how: How
    target: Target


@dataclass(slots=True)
class CaptureRead:
    """What the walk has found of one capture. before: records of the stream before it.

    first_packet_ns, last_packet_ns: None without packets. last_ns: the time of its last record.
    """

    probe: Probe
    before: int
    records: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    cut: str | None = None
    last_ns: int | None = None
    first_packet_ns: int | None = None
    last_packet_ns: int | None = None
    ranges: int = 0


@dataclass(frozen=True, slots=True)
class FactsWork:
    """A range whose packets go to their buckets. stream: a place with the `Parting`. number: within the stream.

    capture: its index. carry: a place with its `Walked` batches; told: one with the packets that buckets overhear of
    each batch, none if they overhear nothing. next_ns: the time of the first packet behind it in its capture.
    """

    stream: str
    index: int
    number: int
    capture: int
    carry: str
    next_ns: int | None = None
    told: str = ""


@dataclass(slots=True)
class Walked:
    """A batch of the walk. in_file: offsets, lengths and meta of the packets in the file.

    arena: the bytes of the others, in_arena: their meta.
    """

    in_file: tuple[Any, Any, Any]
    arena: list[bytes]
    in_arena: Any
    events: list[Clocked]


@dataclass(slots=True)
class Parting:
    """A parted stream, as its tasks need it. expired, ended: what follows the last record, by bucket.

    met: a place with messages of queue managers that several buckets meet: `Sent.identifiers` as bytes, by name.
    sends: some of them send messages in sequences to several buckets.
    refuted: by queue manager and scope of its sequences, the packet that refutes it, as known so far.
    reading: the state to continue from, if it is kept. reached: the number of the last packet. end_ns: the time of the
    last event. last_ns: of the last record.
    """

    key: str
    captures: list[CaptureRead]
    how: How
    target: Target
    keep: bool
    buckets: Buckets
    met: str = ""
    sends: bool = False
    refuted: dict[tuple[str, str], int] = field(default_factory=dict)
    expired: dict[int, list[Clocked]] = field(default_factory=dict)
    ended: dict[int, list[Clocked]] = field(default_factory=dict)
    end_skipped: Counter[str] = field(default_factory=Counter)
    reached: int = 0
    end_ns: int = 0
    last_ns: int = 0
    ordered: bool = True

    @property
    def stream(self) -> str:
        """The name of the stream."""
        return str(self.captures[0].probe.capture)

    @property
    def path(self) -> str:
        """The path of its first capture."""
        return self.captures[0].probe.path


@dataclass(frozen=True, slots=True)
class Parted:
    """The plan for one stream. why: why it is judged in order by one core instead; then there is nothing else.

    place: where the `Parting` is; reading: where the state is that is kept.
    """

    key: str
    why: str | None = None
    place: str = ""
    reading: str = ""
    work: Sequence[FactsWork] = ()
    buckets: int = 0
    groups: int = 0
    largest: float = 0.0


def part_stream(task: PartedTask) -> Parted:
    """Walk over a stream and plan its parts."""
    try:
        return _parted(task)
    except _ENDED:
        return Parted(task.key, "a file cannot be read as it was")
    except PipelineError:
        raise
    except Exception as error:  # Judged in order, it costs no other stream anything.
        return Parted(task.key, f"the walk over it met a defect of mqconform ({type(error).__name__})")


def _parted(task: PartedTask) -> Parted:
    reading, groups = CaptureReading(), Groups()
    found: list[CaptureRead] = []
    work: list[list[Any]] = []
    stream, last_ns, last_packet = str(task.captures[0].capture), 0, None
    for at, probe in enumerate(task.captures):
        if probe.first_ns is None or probe.first_ns < last_ns - HOLD_NS:
            return Parted(task.key, "its files do not follow one another")
        capture = FastCapture(probe.path, probe.version)
        one = CaptureRead(probe, reading.records)
        found.append(one)
        skipped, start = Counter(reading.skipped), FILE_HEADER
        while start < capture.size and one.cut is None:
            stop = min(start + task.at_most, capture.size)
            range_first, before, out = None, last_packet, io.BytesIO()
            for batch in capture.batches(start, stop, after=reading, before=one.before, finish=False):
                frames = [event for _, event in batch.events if isinstance(event, Frame)]
                numbers, times = times_of(batch, frames)
                groups.batch(batch, times)
                if groups.nodes > MOST_NODES:
                    return Parted(task.key, "it has more hosts and queue managers than are remembered")
                if groups.met > MOST_MET:
                    return Parted(task.key, "it has more connections than parts are planned for")
                out.write(packed(_walked(batch, numbers, times, before)))
                if len(times):
                    range_first = int(times[0]) if range_first is None else range_first
                    one.first_packet_ns = int(times[0]) if one.first_packet_ns is None else one.first_packet_ns
                    one.last_packet_ns = before = int(times[-1])
            place = task.target.carry(f"{stream}-{len(work)}.walked", out.getvalue())
            work.append([at, place, range_first])
            last_packet = one.last_packet_ns if one.last_packet_ns is not None else last_packet
            assert capture.left is not None
            reading, one.cut = capture.left, capture.cut
            if reading.doubted_ns:  # What a time means depends on all records before it.
                return Parted(task.key, "the clock of the recording was set")
            one.last_ns = capture.time_ns or one.last_ns
            one.ranges += 1
            start = max(capture.position, start + 1)
        one.records, one.skipped = reading.records - one.before, reading.skipped - skipped
        last_ns = max(last_ns, one.last_ns or 0)
    buckets, told, met, sends = groups.buckets(task.buckets), [""] * len(work), "", False
    openings = None
    weight = max(1, sum(buckets.filled))
    if buckets.largest > MOST_OF_ONE * weight and task.buckets > 1:
        around = groups.around(task.buckets)
        if around is None or around.largest > MOST_OF_ONE * weight:
            largest = buckets.largest / weight
            return Parted(task.key, "most of it belongs together", groups=buckets.groups, largest=largest)
        if len(around.crossing) > MOST_CROSSING:
            why = "more queue managers are met in several parts than these can follow"
            return Parted(task.key, why, groups=buckets.groups, largest=buckets.largest / weight)
        buckets, server = around, Server(around)
        told = [_told(task, server, found[one[0]], one[1], f"{stream}-{at}.told") for at, one in enumerate(work)]
        sends, openings = server.sends, server.openings
        met = task.target.carry(f"{stream}.met", packed(server.end()))
        if server.why is not None:
            return Parted(task.key, server.why, groups=buckets.groups, largest=buckets.largest / weight)
    parting = Parting(task.key, found, task.how, task.target, task.keep, buckets, met, sends)
    parting.last_ns = parting.end_ns = last_ns
    place = _ended(task, parting, reading, groups, last_packet, openings)
    behind = [one.event for events in (parting.expired, parting.ended) for some in events.values() for one in some]
    if not all(concerns_only_its_connection(one) for one in behind if isinstance(one, Frame)):
        largest = buckets.largest / weight  # Nobody has met them when groups and what parts overhear were found.
        return Parted(task.key, "packets behind a hole come at its end", groups=buckets.groups, largest=largest)
    return Parted(
        task.key, None, task.target.carry(f"{stream}.parting", freeze(parting)), place, _works(work, told),
        task.buckets, buckets.groups, buckets.largest / weight,
    )  # fmt: skip


def _ended(
    task: PartedTask,
    parting: Parting,
    reading: CaptureReading,
    groups: Groups,
    last_packet: int | None,
    openings: Openings | None,
) -> str:
    """Add what follows the last record; return where the state of reading is that is kept."""
    place = ""
    if task.keep:
        expired = reading.connections.expire(parting.last_ns - SILENT_NS)
        last_packet = _behind(expired, parting, "expired", last_packet, openings)
        place = task.target.carry(f"{parting.stream}-left.reading", freeze(reading))
    skipped = Counter(reading.skipped)
    _behind(reading.end(), parting, "ended", last_packet, None)
    parting.end_skipped = reading.skipped - skipped
    parting.reached, parting.ordered = reading.numbers.last, groups.ordered
    return place


def _behind(
    events: Iterable[Event], parting: Parting, name: str, last_packet: int | None, openings: Openings | None
) -> int | None:
    """Spread events over the buckets; return the time of the last packet. openings: where buckets overhear them."""
    into = getattr(parting, name)
    before, number = last_packet, 1 << 62
    for event in events:
        after = event.time_ns if isinstance(event, Frame) else None
        parting.end_ns = getattr(event, "time_ns", parting.end_ns) if name == "ended" else parting.end_ns
        into.setdefault(parting.buckets.of(event), []).append(Clocked(number, event, before))
        for told in openings.event(number, event) if openings is not None else ():
            for other in (one for one in range(len(parting.buckets.filled)) if one != told.bucket):
                into.setdefault(other, []).append(Clocked(number, Overheard(told.event), None))
        before = after if after is not None else before
    return before


def _told(task: PartedTask, server: Server, read: CaptureRead, carry: str, name: str) -> str:
    """Find what buckets overhear of a range; return the place of it."""
    file, out = FastCapture(read.probe.path, read.probe.version), io.BytesIO()
    for one in unpacked(task.target.carried(carry)):
        events = [(clock.number, clock.event) for clock in one.events]
        file.intact()
        out.write(packed(server.batch(file, one.in_file, one.arena, one.in_arena, events)))
    file.intact()
    return str(task.target.carry(name, out.getvalue()))


def _works(found: Sequence[Sequence[Any]], told: Sequence[str]) -> list[FactsWork]:
    out: list[FactsWork] = []
    for number, (capture, carry, _) in enumerate(found):
        behind = (first for other, _, first in found[number + 1 :] if other == capture and first is not None)
        out.append(FactsWork("", 0, number, capture, carry, next(behind, None), told[number]))
    return out


def _walked(batch: Batch, numbers: Any, times: Any, before_ns: int | None) -> Walked:
    """Return a batch as it is written down.

    numbers, times: of its packets, in their order. before_ns: the time of the last one before it.
    """
    rows, others, events = batch.in_file, batch.in_arena, []
    for number, event in batch.events:
        at = int(np.searchsorted(numbers, number))
        behind = at + isinstance(event, Frame)
        before = int(times[at - 1]) if at else before_ns
        events.append(Clocked(number, event, before, int(times[behind]) if behind < len(times) else None))
    return Walked(
        (rows.offsets, rows.lengths, rows.meta), [others.data(row) for row in range(len(others))], others.meta, events,
    )  # fmt: skip
