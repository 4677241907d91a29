"""Random edits of a captured session: a field, a packet lost, repeated, exchanged or late."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from conformance.capture import Closed, Event, Frame, Hole, Opened
from conformance.judge.sessions.mutations import Edit, frame
from conformance.wire import dissect


def edit(
    events: list[Event], kind: str, which: int, other: int, number: int, fields: Collection[str] | None = None
) -> None:
    """Edit one packet: its kind of edit, which packet, which field or other packet, and the number for its value.

    fields: those that an edit of a field may change; None for all. `later` moves what follows too, `late` one packet.
    """
    places = [at for at, event in enumerate(events) if isinstance(event, Frame)]
    at = places[which % len(places)]
    one = events[at]
    assert isinstance(one, Frame)
    if kind == "field":
        spans = dissect(one.data, transport=one.transport).spans
        every = [key for key, (_, length) in spans.items() if "." in key and length]
        keys = every if fields is None else [key for key in fields if key in spans]
        if keys:
            start, length = spans[keys[other % len(keys)]]
            before = int.from_bytes(one.data[start : start + length], "little")
            value = (before + 1, before - 1, 0, number, before ^ 1 << number % 64)[number % 5] % (1 << 8 * length)
            data = one.data[:start] + value.to_bytes(length, "little") + one.data[start + length :]
            events[at] = replace(one, data=data)
    elif kind == "drop" and len(places) > 1:
        del events[at]
    elif kind == "again":
        events.insert(at + 1, replace(one, time_ns=one.time_ns + 1000))
    elif kind == "swap":
        its = [
            place
            for place in places
            if (events[place].connection, events[place].side) == (one.connection, one.side)  # type: ignore[union-attr]
        ]
        place = its[other % len(its)]
        events[at], events[place] = replace(one, data=events[place].data), replace(events[place], data=one.data)  # type: ignore[union-attr,type-var]
    elif kind in ("later", "late"):
        shift = (100, 1_000, 20_000, 31_000, 61_000)[number % 5] * 1_000_000
        end = len(events) if kind == "later" else at + 1
        events[at:end] = [
            replace(event, time_ns=event.time_ns + shift)
            if isinstance(event, Frame | Hole | Opened | Closed)
            else event
            for event in events[at:end]
        ]
    elif kind == "lost" and one.connection is not None and one.side is not None:
        events[at] = Hole(one.connection, one.side, one.time_ns, len(one.data))


def beginning_missing(number: int) -> Edit:
    """Make the capture begin with this frame."""

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
