"""The consistent session as events, and edits that spoil it: fields rewritten, frames dropped, added and moved."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from conformance.capture import Closed, Event, Frame, Hole, Opened, Trouble, read_capture
from conformance.judge.sessions import judge_sessions
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect

FIXTURES = Path(__file__).parents[2] / "fixtures"
sys.path.insert(0, str(FIXTURES))

import build_captures  # noqa: E402
import build_packets  # noqa: E402

SEQUENCE = build_captures.SEQUENCE
STRANGER = uuid.UUID("0d9f1f5e-8e3b-4f0e-9f0a-4c5b6d7e8f90")
Edit = Callable[[list[Event]], list[Event]]

__all__ = ["SEQUENCE", "STRANGER", "build_captures", "build_packets"]


def consistent() -> list[Event]:
    return list(read_capture(FIXTURES / "captures" / "consistent-session.pcapng"))


def verdicts(events: list[Event], readings: str = "windows") -> list[Verdict]:
    return list(judge_sessions(events, readings=assignment(readings)))


def failed(events: list[Event], readings: str = "windows") -> set[str]:
    return {one.requirement for one in verdicts(events, readings) if one.outcome is Outcome.FAIL}


def frame(events: list[Event], number: float) -> Frame:
    return next(event for event in events if isinstance(event, Frame) and event.number == number)


def on(number: float, change: Callable[[Frame], Frame]) -> Edit:
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
    return lambda events: [event for event in events if not (isinstance(event, Frame) and event.number in numbers)]


def add(after: float, made: Callable[[list[Event]], Frame]) -> Edit:
    """Put another frame behind one; it gets the number in between."""

    def change(events: list[Event]) -> list[Event]:
        at = events.index(frame(events, after))
        return [*events[: at + 1], replace(made(events), number=after + 0.5), *events[at + 1 :]]

    return change


def copy(of: float, after: float, *edits: Edit, later_ns: int = 1) -> Edit:
    """Put a copy of a frame, with edits of its own, behind another."""

    def made(events: list[Event]) -> Frame:
        base, place = frame(events, of), frame(events, after)
        one = replace(base, time_ns=place.time_ns + later_ns, offset=place.offset, number=-1)
        for edit in edits:
            (one,) = edit([one])
        return one

    return add(after, made)


def bytes_of(number: float, data: bytes) -> Edit:
    return on(number, lambda old: replace(old, data=data))


def trouble(number: float, kind: str) -> Edit:
    return on(number, lambda old: replace(old, trouble=Trouble(kind, "an edit of a test")))


def lost(number: int) -> Edit:
    """As if the capture lacked this frame: a hole in its place, and a gap before the next of its direction."""

    def change(events: list[Event]) -> list[Event]:
        victim = frame(events, number)
        if victim.connection is None or victim.side is None:
            return [event for event in events if event is not victim]
        hole = Hole(victim.connection, victim.side, victim.time_ns, len(victim.data))
        kept: list[Event] = [hole if event is victim else event for event in events]
        for at, event in enumerate(kept):
            same = isinstance(event, Frame) and (event.connection, event.side) == (victim.connection, victim.side)
            if same and event.number > number:
                kept[at] = replace(event, gap_before=event.gap_before + len(victim.data))
                return kept
        return kept

    return change


def beginning_missing(number: int) -> Edit:
    """As if the capture began with this frame."""

    def change(events: list[Event]) -> list[Event]:
        at = events.index(frame(events, number))
        seen = {event.connection for event in events[at:] if isinstance(event, Frame)}
        opened = [
            replace(event, complete=False)
            for event in events[:at]
            if isinstance(event, Opened) and event.connection in seen
        ]
        gone = {event.connection for event in events[:at] if isinstance(event, Opened)} - seen
        rest = [event for event in events[at:] if not (isinstance(event, Closed) and event.connection in gone)]
        return [*opened, *rest]

    return change
