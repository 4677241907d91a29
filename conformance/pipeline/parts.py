"""Read the packets of a byte range: those whose first byte is in the range, up to their ends after it.

The records before the range are unknown. A packet that began there belongs to the range that has its beginning, and the
first packet of each connection is found by its header. `pipeline ingest` does not use this module: it reassembles
connections over all ranges.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conformance.capture import Event, Frame, Side
from conformance.capture.columns.places import OF_CONNECTION, OF_OFFSET, OF_SIDE
from conformance.capture.columns.reader import Batch, FastCapture, Rows
from conformance.capture.pcap import FILE_HEADER
from conformance.capture.ranges import layout, read_range, size_of
from conformance.capture.reader import CaptureReading
from conformance.capture.records import RecordWalk, read_records
from conformance.captures.batches import SIDES, gathered

BEHIND = 8 << 20
"""Bytes read after a range for the rest of its packets: two packets of the largest size."""
Open = dict[tuple[int, Side], int]
"""By connection and side, the offset in its stream up to which packets belong to a range."""


def events_of(path: str, start: int, stop: int) -> Iterator[Event]:
    """Yield the packets of a range of a pcap file, or of a whole file of any format, and the events between them.

    Raises CaptureError.
    """
    reading, walk = CaptureReading(), RecordWalk()
    size = size_of(path) if layout(path) is not None else 0
    if not size or (start <= FILE_HEADER and stop >= size):
        for record in read_records(path, walk):
            yield from reading.record(record)
        yield from reading.end(walk.cut)
        return
    for record in read_range(path, start, stop, walk):
        yield from reading.record(record)
    if stop >= size or walk.end is None:
        yield from reading.end(walk.cut)
        return
    open_at: Open = dict(reading.connections.unfinished())
    behind = RecordWalk(records=walk.records)
    for record in read_range(path, walk.end, min(walk.end + BEHIND, size), behind):
        if not open_at:
            return
        for event in reading.record(record):
            if not isinstance(event, Frame) or _belongs(event, open_at, open_at):
                yield event


def batches_of(path: str, start: int, stop: int) -> Iterator[Batch]:
    """Yield the same packets in batches, found by compiled code where it can walk the file. Raises CaptureError."""
    try:
        capture = FastCapture(path)
    except (OSError, ValueError):  # Another kind of file, or none: then the other way tells why.
        yield from gathered(events_of(path, start, stop))
        return
    aligned = start <= FILE_HEADER
    last = stop >= capture.size
    yield from capture.batches(FILE_HEADER if aligned else start, stop, finish=last, align=not aligned)
    left = capture.left
    if last or left is None:
        return
    open_at: Open = dict(left.connections.unfinished())
    end = capture.position
    if open_at:
        for batch in capture.batches(end, end + BEHIND, after=left, finish=False, align=True):
            yield _rest(batch, open_at)
            if not open_at:
                return


def _belongs(frame: Frame, limits: Open, open_at: Open) -> bool:
    """Tell whether a packet behind a range begins before the limit of its side; one that reaches it ends that side."""
    if frame.connection is None or frame.side is None:
        return False
    key = (frame.connection, frame.side)
    limit = limits.get(key, 0)
    if frame.offset + len(frame.data) >= limit:
        open_at.pop(key, None)
    return frame.offset < limit


def _rest(batch: Batch, open_at: Open) -> Batch:
    """Return what belongs to a range of a batch behind it, and remove the sides that end in the batch."""
    limits = dict(open_at)
    in_file, in_arena = (_some(rows, limits, open_at) for rows in (batch.in_file, batch.in_arena))
    events = [
        (at, event) for at, event in batch.events if not isinstance(event, Frame) or _belongs(event, limits, open_at)
    ]
    return Batch(in_file, in_arena, events)


def _some(rows: Rows, limits: Open, open_at: Open) -> Rows:
    """Return the packets that begin before the limit of their side, and remove the sides that end among them."""
    meta = rows.meta
    whose = 2 * meta[:, OF_CONNECTION] + meta[:, OF_SIDE]
    before = np.zeros(len(meta), np.int64)
    for (connection, side), limit in limits.items():
        here = whose == 2 * connection + SIDES.index(side)
        before[here] = limit
        if (meta[here, OF_OFFSET] + rows.lengths[here] >= limit).any():
            open_at.pop((connection, side), None)
    wanted = meta[:, OF_OFFSET] < before
    return Rows(rows.buffer, rows.offsets[wanted], rows.lengths[wanted], meta[wanted])
