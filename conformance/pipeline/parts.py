"""The packets of a byte range by itself: those whose first byte the range has, to their ends behind it.

What goes before the range is not known: a packet that began there is left to the range that has its beginning, and the
first packet of each connection is found by its header. `pipeline ingest` needs none of this; it puts connections
together over all ranges.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.capture import Frame, Side
from conformance.capture.ranges import Walk, layout, read_range
from conformance.capture.reader import Reading
from conformance.pipeline.streams import records_of

BEHIND = 8 << 20
"""Bytes read behind a range for the rest of its packets: two packets of the largest size."""


def frames_of(path: str, start: int, stop: int) -> Iterator[Frame]:
    """The packets of a range of a pcap file, or of a whole file of any format. Raises CaptureError."""
    how = layout(path)
    reading, walk = Reading(), Walk()
    if how is None or (start <= 24 and stop >= how.size):
        for record in records_of(path, walk):
            yield from (event for event in reading.record(record) if isinstance(event, Frame))
        yield from (event for event in reading.end(walk.cut) if isinstance(event, Frame))
        return
    for record in read_range(path, start, stop, walk):
        yield from (event for event in reading.record(record) if isinstance(event, Frame))
    if stop >= how.size or walk.end is None:
        yield from (event for event in reading.end(walk.cut) if isinstance(event, Frame))
        return
    open_at: dict[tuple[int, Side], int] = dict(reading.connections.unfinished())
    behind = Walk()
    for record in read_range(path, walk.end, min(walk.end + BEHIND, how.size), behind):
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
