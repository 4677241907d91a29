"""Convert captures that compiled code cannot walk in place to batches like those it makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from conformance.capture import Event, Frame, Side, read_capture
from conformance.capture.columns.places import (
    OF_CONNECTION,
    OF_HEARD,
    OF_NUMBER,
    OF_OFFSET,
    OF_RECORD,
    OF_SIDE,
    OF_TIME,
    SLACK,
)
from conformance.capture.columns.reader import Batch, Rows
from conformance.captures.engine import OnProgress

SIDES: tuple[Side, Side] = ("initiator", "acceptor")
_BATCH, _BATCH_BYTES = 1 << 10, 8 << 20  # Packets, and bytes of them.


def read_through(path: str | Path, on_progress: OnProgress | None) -> Iterator[Batch]:
    """Read any capture record by record, and yield its whole packets in batches, to be judged like those in place."""

    def progress(read: int, total: int) -> None:
        if on_progress is not None:
            on_progress(str(path), read, total)

    return gathered(read_capture(path, on_progress=progress))


def gathered(found: Iterator[Event]) -> Iterator[Batch]:
    """Yield events in batches, with the whole packets among them as rows."""
    frames: list[Frame] = []
    events: list[tuple[int, Event]] = []
    number, size = 1, 0
    for event in found:
        if isinstance(event, Frame):
            number = event.number + 1
            size += len(event.data)
        if isinstance(event, Frame) and event.transport == "tcp" and event.trouble is None and not event.gap_before:
            frames.append(event)
        else:
            events.append((event.number if isinstance(event, Frame) else number, event))
        if len(frames) + len(events) >= _BATCH or size >= _BATCH_BYTES:
            yield Batch(_rows([]), _rows(frames), events)
            frames, events, size = [], [], 0
    yield Batch(_rows([]), _rows(frames), events)


def _rows(frames: Sequence[Frame]) -> Rows:
    """Copy packets into one buffer."""
    buffer = np.frombuffer(bytearray(b"".join([*(frame.data for frame in frames), bytes(SLACK)])), np.uint8)
    lengths = np.array([len(frame.data) for frame in frames], np.int64)
    meta = np.zeros((len(frames), 8), np.int64)
    for row, frame in enumerate(frames):
        assert frame.connection is not None and frame.side is not None
        meta[row, [OF_RECORD, OF_TIME, OF_CONNECTION, OF_SIDE, OF_OFFSET, OF_HEARD, OF_NUMBER]] = (
            frame.record, frame.time_ns, frame.connection, SIDES.index(frame.side), frame.offset, frame.heard,
            frame.number,
        )  # fmt: skip
    return Rows(buffer, np.cumsum(lengths) - lengths, lengths, meta)
