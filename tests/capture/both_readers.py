"""One capture read by both readers, the compiled and the other: they find the same frames and events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance.capture import Frame, read_capture
from conformance.capture.columns import places as p
from conformance.capture.columns.reader import FastCapture

SIDES = ("initiator", "acceptor")


def frame_of(frame: Frame) -> tuple[Any, ...]:
    return (
        frame.number, frame.record, frame.time_ns, frame.connection, frame.side, frame.offset, frame.heard,
        frame.gap_before, frame.trouble, frame.data,
    )  # fmt: skip


def one_by_one(path: Path) -> tuple[list[Any], list[Any]]:
    frames, events, number = [], [], 1
    for event in read_capture(path):
        if isinstance(event, Frame):
            frames.append(frame_of(event))
            number = event.number + 1
        else:
            events.append((number, event))
    return frames, events


def walked(path: Path) -> tuple[list[Any], list[Any], FastCapture]:
    capture = FastCapture(path)
    frames, events = [], []
    for batch in capture.batches():
        for rows in (batch.in_file, batch.in_arena):
            for row in range(len(rows)):
                meta = [int(word) for word in rows.meta[row]]
                frames.append((
                    meta[p.OF_NUMBER], meta[p.OF_RECORD], meta[p.OF_TIME], meta[p.OF_CONNECTION],
                    SIDES[meta[p.OF_SIDE]], meta[p.OF_OFFSET], meta[p.OF_HEARD], 0, None, rows.data(row),
                ))  # fmt: skip
        for number, event in batch.events:
            if isinstance(event, Frame):
                frames.append(frame_of(event))
            else:
                events.append((number, event))
    return sorted(frames, key=lambda frame: frame[0]), events, capture


def same(path: Path) -> FastCapture:
    frames, events, capture = walked(path)
    wanted_frames, wanted_events = one_by_one(path)
    assert frames == wanted_frames
    assert events == wanted_events
    return capture
