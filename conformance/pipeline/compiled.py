"""Judge the packet rules alone, with compiled code, in ranges of a capture or rotated set that can run in parallel.

First a walk reads the stream from end to end without judging, which is a small part of the work. At the border of each
range it saves the state of all connections. Then any core can judge each range from its border, with the same result
as if everything before it had been judged too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conformance.capture import Frame, Opened
from conformance.capture.columns.places import OF_CONNECTION, OF_SIDE
from conformance.capture.columns.reader import Batch, FastCapture
from conformance.capture.columns.reader import Rows as Found
from conformance.capture.reader import CaptureReading
from conformance.captures.columns import Judging, RangeResult
from conformance.captures.engine import CaptureSummary, Replay, destination
from conformance.captures.verdict_counts import Key, Meaning, key_of
from conformance.judge.columns.kernel import Chunk, ColumnJudge, column_judge
from conformance.judge.sessions.opening import Opening
from conformance.pipeline.counted import NEVER
from conformance.pipeline.deviating import ByQueue
from conformance.pipeline.packet_columns import PacketColumns
from conformance.pipeline.rows import plain
from conformance.pipeline.rows_writer import Teller, Whose, packet_row
from conformance.pipeline.texts import KEYS, Numbers
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import Outcome, Verdict
from conformance.wire import Packet

Readings = Mapping[str, tuple[str, ...]]
Follow = dict[str, tuple[int, dict[Key, tuple[int, int]]]]
"""By sender: its last packet, and where each kind of verdict that assumed a reading came first."""


@dataclass(frozen=True, slots=True)
class End:
    """The state of an open connection. opening: its initialization so far. named: the managers found by it."""

    opened: Opened
    opening: Opening | None
    named: tuple[str, str]


@dataclass(slots=True)
class Carry:
    """The state of a stream at a border: its connections and their senders."""

    reading: CaptureReading = field(default_factory=CaptureReading)
    ends: dict[int, End] = field(default_factory=dict)

    @property
    def records(self) -> int:
        """Records so far."""
        return self.reading.records


@dataclass(slots=True)
class Span:
    """The progress of a walk over a range. position: where the next range begins."""

    position: int = 0
    records: int = 0
    cut: str | None = None
    time_ns: int = 0
    joined: int = 0


EACH = 10
"""Verdicts other than pass of one kind (requirement, outcome, readings) that always have a row of their own."""


class _Ranged(Judging):
    """The judging of a range that goes on from the state at its border."""

    def __init__(self, path: str, profile: str, readings: Readings, level: str, keep: int) -> None:
        self.single: list[Verdict] = []
        replay = Replay(on_verdict=lambda *told: self.single.append(told[1]))
        result = RangeResult(path, 0, None, False, replay, CaptureSummary(path))
        replay.captures.append(result.summary)
        super().__init__(result, profile, readings, level, keep, column_judge(KEYS), None)
        self.sums.each = EACH

    def take(self, carry: Carry) -> None:
        """Continue the connections of this state."""
        for number, end in carry.ends.items():
            self.open(end.opened)
            self.openings.pop(number, None)
            self.unsettled[number] = 0
            if end.opening is not None:
                self.openings[number], self.unsettled[number] = end.opening, 1
            for side, name in enumerate(end.named):
                self.named[2 * number + side] = self.name(name) if name else 0

    def carried(self, reading: CaptureReading) -> Carry:
        """Return the state for the next range."""
        ends = {}
        for number, opened in self.opened.items():
            named = (self.names[self.named[2 * number]], self.names[self.named[2 * number + 1]])
            ends[number] = End(opened, self.openings.get(number), named)
        return Carry(reading, ends)


class Walker(_Ranged):
    """Reads only what identifies the senders of a connection, and judges nothing."""

    def __init__(self, path: str, readings: Readings) -> None:
        super().__init__(path, DEFAULT_PROFILE, readings, "must", 0)
        self.code = _Silent(self.code.chunks, self.code.code)

    def one(self, frame: Frame, packet: Packet) -> None:
        """Note the packet's sender without judging it."""
        self.see(frame, packet)


class _Silent(ColumnJudge):
    """A rule set that returns no verdict on any packet."""

    def judge(self, buffer: Any, chunk: Chunk, n: int, counts: Any) -> int:
        """Clear the results of the chunk."""
        chunk.results[:n] = -1
        chunk.slow[:n] = 0
        return 0


class RangeJudge(_Ranged):
    """Judges a range, and writes its rows."""

    def __init__(self, path: str, profile: str, readings: Readings, level: str, keep: int, teller: Teller) -> None:
        super().__init__(path, profile, readings, level, keep)
        self.teller = teller
        self.ports = np.zeros(64, np.int32)
        self.packets: PacketColumns | None = None
        if teller.every_packet:
            self.packets = PacketColumns(self.code.chunks.columns, teller.capture, teller.stream)
        self.by_queue = ByQueue(Numbers(self.code.chunks.columns))
        # By outcome: 1 if a verdict in it is not pass. The last place is for packets without an outcome.
        self.deviates = np.zeros(len(self.look), np.uint8)
        self.looked: dict[int, tuple[Frame, Packet, str]] = {}
        self.alone = False
        self.singled: Counter[tuple[str, str | None, Key]] = Counter()

    def sender(self, frame: Frame, packet: Packet) -> str:
        """Return the sender, and remember the packet until its batch is over."""
        name = super().sender(frame, packet)
        self.looked[frame.number] = (frame, packet, name)
        return name

    def batch(self, batch: Batch) -> None:
        """Judge a batch, and write the verdicts that have rows of their own."""
        try:
            super().batch(batch)
        finally:
            self.write()

    def write(self) -> None:
        """Write the verdicts that have rows of their own."""
        said: dict[int | None, list[Verdict]] = {}
        for verdict in self.single:
            said.setdefault(verdict.frame, []).append(verdict)
        self.single.clear()
        for frame, packet, name in self.looked.values() if said else ():
            verdicts = said.get(frame.number, [])
            whose = Whose(frame.time_ns, frame.number, name, destination(packet))
            queue = plain(whose.queue) if whose.queue else None
            for verdict in verdicts:
                self.singled[name, queue, key_of(verdict)] += 1
                self.teller.verdict(verdict, whose)
            if verdicts and self.packets is None:
                self.teller.packet_row(packet_row(frame, packet, verdicts), name)
        self.looked.clear()

    def open(self, event: Opened) -> None:
        """Open a connection, and store its ports."""
        super().open(event)
        while len(self.ports) < len(self.addresses):
            self.ports = np.concatenate((self.ports, np.zeros_like(self.ports)))
        at = 2 * event.connection
        self.ports[at : at + 2] = event.initiator.port, event.acceptor.port

    def one(self, frame: Frame, packet: Packet) -> None:
        """Judge one packet by itself; it becomes a row by itself."""
        self.alone = True
        super().one(frame, packet)
        self.alone = False

    def told(self, frame: Frame, packet: Packet, verdicts: list[Verdict]) -> None:
        """Write and count the verdicts on a packet that was judged by itself."""
        if not self.alone:
            return
        name = self.looked[frame.number][2]
        if self.packets is not None:
            self.teller.packet_row(packet_row(frame, packet, verdicts), name)
        keys = [key_of(verdict) for verdict in verdicts if verdict.outcome is not Outcome.PASS]
        if keys:
            queue = destination(packet)
            self.teller.counts.note(name, plain(queue) if queue else None, keys, 1, frame.number)

    def told_of(self, outcome: int, meaning: Meaning) -> None:
        """Store an outcome, and whether a verdict in it is not pass."""
        super().told_of(outcome, meaning)
        self.deviates[outcome] = bool(meaning.deviating)

    def combine(self, at: int, rows: Found) -> None:
        """Combine the rows of a chunk with their outcomes, and write the packets as rows."""
        super().combine(at, rows)
        chunk, count = self.chunks[at], len(rows)
        results, given = chunk.results[:count], self.given[at][:count]
        noted = np.flatnonzero(self.deviates[results])
        if len(noted):
            columns = chunk.columns[:, noted]
            senders = self.senders_of(columns, rows.meta[noted], given[noted])
            self.by_queue.add(rows, noted, columns, results[noted], senders, self.names)
        if self.packets is None or not count:
            return
        columns = chunk.columns[:, :count]
        senders = self.senders_of(columns, rows.meta, given)
        table = self.packets.table(
            rows, columns, results, senders, self.names, self.addresses, self.ports, self.meanings
        )
        self.teller.rows.add_table("packets", self.teller.date, table, stream=self.teller.part)

    def senders_of(self, columns: Any, meta: Any, given: Any) -> Any:
        """Return the number of each row's sender name, -1 for the queue manager that made it (as `senders.combine`)."""
        whose = 2 * meta[:, OF_CONNECTION] + meta[:, OF_SIDE]
        known = np.where(given != 0, given, self.named[whose])
        flags, bits, hops, manager = self.whose
        made = (columns[flags] & bits == bits) & (columns[hops] == 0) & ((columns[manager] | columns[manager + 1]) != 0)
        return np.where(known != 0, known, np.where(made, -1, self.addresses[whose]))

    def flush(self) -> None:
        """Move the table of senders and outcomes to the counts, and empty it."""
        counts = self.teller.counts
        for name, meaning, count, first, last in self.counted():
            counts.meant(name, meaning, count, first)
            self.sums.follow(name, first, last, meaning.read)
        self.senders[:] = 0

    def close(self, first_ns: int, last_ns: int) -> Follow:
        """Move all counts to the teller, and return the senders' readings."""
        self.flush()
        counts = self.teller.counts
        for name, key, count, first in self.sums.apart():
            if key[1] is Outcome.PASS:
                counts.more(name, key, count, first)
        for one in self.by_queue.known.values():
            counts.note(one.sender, one.queue, self.meanings[one.outcome].deviating, one.count, one.first)
        for (name, queue, key), count in self.singled.items():
            counts.note(name, queue, [key], -count, NEVER)
        counts.seen(first_ns, last_ns)
        if counts.full:
            self.teller.write_counts()
        return {name: (one.last, one.seen) for name, one in self.sums.followed.items()}


def spans(
    path: str, start: int, stop: int, carry: Carry, before: int, into: _Ranged, span: Span, *, finish: bool = False
) -> None:
    """Read the records of a range that begins at a record, and skip damage.

    carry: the state before the range; it is used up, and its `reading` is replaced by that after the range. before:
    number of records in files before this one. finish: end the stream instead of reading records.
    """
    into.take(carry)
    capture = FastCapture(path)
    for batch in capture.batches(start, stop, after=carry.reading, before=before, finish=finish):
        into.batch(batch)
    span.joined += capture.told.joined
    if finish:
        return
    assert capture.left is not None
    span.records, span.position, span.cut = capture.left.records, capture.position, capture.cut
    span.time_ns = capture.time_ns or span.time_ns
    carry.reading = capture.left
    carry.ends = into.carried(carry.reading).ends


def warm() -> None:
    """Compile missing code in this process, with a message, before the workers need it."""
    column_judge(KEYS).warm()


def walkable(path: str) -> bool:
    """Tell whether the walk can read a file in place."""
    try:
        FastCapture(path)
    except (OSError, ValueError):
        return False
    return True
