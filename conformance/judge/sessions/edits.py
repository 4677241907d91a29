"""Edits of a captured session for mutations: fields rewritten, frames dropped, added, delayed and lost.

An edit maps the events of a capture to new ones; a mutation of a session rule is a list of edits.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from conformance.capture import Closed, Event, Frame, Hole, Opened, Trouble, read_capture
from conformance.resources import resource
from conformance.wire import dissect, rebuild

Edit = Callable[[list[Event]], list[Event]]
TroubleKind = Literal["packet-size", "no-header", "ended", "aborted", "not-captured"]


def captured(name: str) -> list[Event]:
    """Read the events of a fixture capture, given by its file name without ending."""
    return list(read_capture(resource(f"fixtures/captures/{name}.pcapng")))


def frame(events: list[Event], number: float) -> Frame:
    """Return the frame of this number."""
    return next(event for event in events if isinstance(event, Frame) and event.number == number)


def on(number: float, change: Callable[[Frame], Frame]) -> Edit:
    """Change one frame."""
    return lambda events: [
        change(event) if isinstance(event, Frame) and event.number == number else event for event in events
    ]


def put(number: float, key: str, value: int | bytes) -> Edit:
    """Overwrite a field in the bytes."""

    def change(old: Frame) -> Frame:
        offset, length = dissect(old.data, transport=old.transport).spans[key]
        raw = value.to_bytes(length, "little") if isinstance(value, int) else value
        return replace(old, data=old.data[:offset] + raw + old.data[offset + len(raw) :])

    return on(number, change)


def flip(number: float, key: str, mask: int) -> Edit:
    """Invert bits of a flags word."""

    def change(old: Frame) -> Frame:
        offset, length = dissect(old.data, transport=old.transport).spans[key]
        value = int.from_bytes(old.data[offset : offset + length], "little") ^ mask
        return replace(old, data=old.data[:offset] + value.to_bytes(length, "little") + old.data[offset + length :])

    return on(number, change)


def drop(*numbers: float) -> Edit:
    """Remove frames as if they had never been sent."""
    return lambda events: [event for event in events if not (isinstance(event, Frame) and event.number in numbers)]


def add(after: float, made: Callable[[list[Event]], Frame]) -> Edit:
    """Insert another frame behind one; its number lies in between."""

    def change(events: list[Event]) -> list[Event]:
        at = events.index(frame(events, after))
        between: Any = after + 0.5  # An edit can name this number, and no other frame has it.
        return [*events[: at + 1], replace(made(events), number=between), *events[at + 1 :]]

    return change


def copy(of: float, after: float, *edits: Edit, later_ns: int = 1) -> Edit:
    """Insert a copy of a frame, with edits of its own, behind another."""

    def made(events: list[Event]) -> Frame:
        base, place = frame(events, of), frame(events, after)
        one = replace(base, time_ns=place.time_ns + later_ns, offset=place.offset, number=-1)
        edited: list[Event] = [one]
        for edit in edits:
            edited = edit(edited)
        return frame(edited, -1)

    return add(after, made)


def delayed(number: float, milliseconds: float) -> Edit:
    """Move one frame in time, forward or (negative) back; its position in the order stays."""
    return on(number, lambda old: replace(old, time_ns=old.time_ns + int(milliseconds * 1_000_000)))


def later(number: float, milliseconds: float) -> Edit:
    """Move everything from this frame on to a later time."""

    def change(events: list[Event]) -> list[Event]:
        at = events.index(frame(events, number))
        shift = int(milliseconds * 1_000_000)
        moved = [
            replace(one, time_ns=one.time_ns + shift) if isinstance(one, Frame | Hole | Opened | Closed) else one
            for one in events[at:]
        ]
        return [*events[:at], *moved]

    return change


def swap(one: float, other: float) -> Edit:
    """Exchange the bytes of two frames of one direction."""

    def change(events: list[Event]) -> list[Event]:
        first, second = frame(events, one).data, frame(events, other).data
        return bytes_of(other, first)(bytes_of(one, second)(events))

    return change


def rebuilt(number: float, changes: Mapping[str, int | str | bytes]) -> Edit:
    """Encode a frame again with other values; sizes follow."""
    return on(number, lambda old: replace(old, data=rebuild(dissect(old.data), changes)))


def resized(number: float, length: int) -> Edit:
    """Cut a frame to this many bytes, or fill it up with zeros; PacketSize of a packet of a connection follows."""

    def change(old: Frame) -> Frame:
        data = old.data[:length].ljust(length, b"\0")
        return replace(old, data=data if old.transport == "udp" else data[:8] + struct.pack("<I", length) + data[12:])

    return on(number, change)


def bytes_of(number: float, data: bytes) -> Edit:
    """Give a frame other bytes."""
    return on(number, lambda old: replace(old, data=data))


def trouble(number: float, kind: TroubleKind) -> Edit:
    """Mark a frame as no whole packet."""
    return on(number, lambda old: replace(old, trouble=Trouble(kind, "an edit")))


def lost(number: int) -> Edit:
    """Lose a frame: a hole in its place, and a gap before the next frame of its direction."""

    def change(events: list[Event]) -> list[Event]:
        victim = frame(events, number)
        if victim.connection is None or victim.side is None:
            return [event for event in events if event is not victim]
        hole = Hole(victim.connection, victim.side, victim.time_ns, len(victim.data))
        kept: list[Event] = [hole if event is victim else event for event in events]
        for at, event in enumerate(kept):
            if not isinstance(event, Frame) or event.number <= number:
                continue
            if (event.connection, event.side) == (victim.connection, victim.side):
                kept[at] = replace(event, gap_before=event.gap_before + len(victim.data))
                return kept
        return kept

    return change
