"""Read the packets of a byte range: those whose first byte is in the range, up to their ends after it.

The records before the range are unknown. A packet that began there belongs to the range that has its beginning, and the
first packet of each connection is found by its header. `pipeline ingest` does not use this module: it reassembles
connections over all ranges.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.capture import Frame, Side
from conformance.capture.ranges import layout, read_range, size_of
from conformance.capture.reader import CaptureReading
from conformance.capture.records import RecordWalk, read_records

BEHIND = 8 << 20
"""Bytes read after a range for the rest of its packets: two packets of the largest size."""


def frames_of(path: str, start: int, stop: int) -> Iterator[Frame]:
    """Yield the packets of a range of a pcap file, or of a whole file of any format. Raises CaptureError."""
    reading, walk = CaptureReading(), RecordWalk()
    size = size_of(path) if layout(path) is not None else 0
    if not size or (start <= 24 and stop >= size):
        for record in read_records(path, walk):
            yield from (event for event in reading.record(record) if isinstance(event, Frame))
        yield from (event for event in reading.end(walk.cut) if isinstance(event, Frame))
        return
    for record in read_range(path, start, stop, walk):
        yield from (event for event in reading.record(record) if isinstance(event, Frame))
    if stop >= size or walk.end is None:
        yield from (event for event in reading.end(walk.cut) if isinstance(event, Frame))
        return
    open_at: dict[tuple[int, Side], int] = dict(reading.connections.unfinished())
    behind = RecordWalk()
    for record in read_range(path, walk.end, min(walk.end + BEHIND, size), behind):
        if not open_at:
            return
        for event in reading.record(record):
            if not isinstance(event, Frame) or event.connection is None or event.side is None:
                continue
            key = (event.connection, event.side)
            if event.offset < open_at.get(key, 0):
                yield event
            if event.offset + len(event.data) >= open_at.get(key, 1 << 63):
                del open_at[key]
