"""Who the senders of a range are, for compiled code: names by number, and the ends of each connection.

`ByOpenings` tells senders where packet rules are judged alone; `judge.BySessions` tells them otherwise. The rule itself
is `judge.sessions.senders.sender_name`; `sender_table` has it for packets that are only counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conformance.capture import Closed, Event, Frame, Hole, Lost, Opened
from conformance.capture.columns.places import OF_CONNECTION, OF_NUMBER
from conformance.capture.columns.reader import Rows
from conformance.captures.batches import SIDES
from conformance.judge.sessions.context import Notes, Readings, Seen
from conformance.judge.sessions.keys import sender_name
from conformance.judge.sessions.opening import NULL_GUID, Opening
from conformance.judge.sessions.packets import Pings

_FLAGS, _INTERNAL = 2, 0x08  # Of BaseHeader (MS-MQMQ 2.2.19.1).


def doubled(array: Any) -> Any:
    """Return the array followed by as many zeros."""
    return np.concatenate((array, np.zeros_like(array)))


@dataclass(slots=True)
class Ends:
    """The ends of connections. addresses, ports, named: by 2 * connection + side; named: 0 before it is known."""

    names: list[str] = field(default_factory=lambda: [""])
    numbers: dict[str, int] = field(default_factory=dict)
    opened: dict[int, Opened] = field(default_factory=dict)
    named: Any = field(default_factory=lambda: np.zeros(64, np.int32))
    addresses: Any = field(default_factory=lambda: np.zeros(64, np.int32))
    ports: Any = field(default_factory=lambda: np.zeros(64, np.int32))

    def name(self, text: str) -> int:
        """Return the number of a name."""
        number = self.numbers.get(text)
        if number is None:
            number = self.numbers[text] = len(self.names)
            self.names.append(text)
        return number

    def open(self, event: Opened) -> None:
        """Store the ends of a connection."""
        self.opened[event.connection] = event
        at = 2 * event.connection
        while at + 1 >= len(self.named):
            self.named, self.addresses, self.ports = map(doubled, (self.named, self.addresses, self.ports))
        for side, end in enumerate((event.initiator, event.acceptor)):
            self.addresses[at + side], self.ports[at + side] = self.name(end.address), end.port

    def manage(self, connection: int, side: int, manager: str | None) -> None:
        """Store the queue manager of an end. With a null GUID it stays unknown, whatever the messages hold."""
        at = 2 * connection + side
        if manager is not None:
            self.named[at] = self.addresses[at] if manager == NULL_GUID else self.name(manager)


@dataclass(frozen=True, slots=True)
class End:
    """The state of an open connection. opening: its initialization so far. named: the managers found by it."""

    opened: Opened
    opening: Opening | None
    named: tuple[str, str]


@dataclass(slots=True)
class ByOpenings:
    """Tells senders by how connections begin. unsettled: by connection, 1 while its packets must be looked at."""

    ends: Ends
    readings: Readings
    openings: dict[int, Opening] = field(default_factory=dict)
    unsettled: Any = field(default_factory=lambda: np.zeros(32, np.uint8))
    pings: Pings = field(default_factory=Pings)
    notes: Notes = field(init=False)

    def __post_init__(self) -> None:
        self.notes = Notes(self.readings)

    def take(self, ends: Mapping[int, End], pings: Pings) -> None:
        """Continue the connections of this state. pings: those before, to which others are added."""
        self.pings = pings
        for number, end in ends.items():
            self.open(end.opened, end.opening)
            for side, name in enumerate(end.named):
                self.ends.named[2 * number + side] = self.ends.name(name) if name else 0

    def left(self) -> dict[int, End]:
        """Return the state for the next range."""
        names, named = self.ends.names, self.ends.named
        return {
            number: End(opened, self.openings.get(number), (names[named[2 * number]], names[named[2 * number + 1]]))
            for number, opened in self.ends.opened.items()
        }

    def event(self, event: Event) -> None:
        """Take notice of an event that is no packet. Connections were opened before, with their batch."""
        if isinstance(event, Hole | Lost):
            self._lose(event.connection)
        elif isinstance(event, Closed):
            self.openings.pop(event.connection, None)

    def open(self, event: Opened, opening: Opening | None) -> None:
        """Begin or continue a connection. opening: None if it is settled who its ends are."""
        number = event.connection
        self.ends.open(event)
        while number >= len(self.unsettled):
            self.unsettled = doubled(self.unsettled)
        self.unsettled[number] = opening is not None
        if opening is not None:
            self.openings[number] = opening

    def _lose(self, connection: int) -> None:
        opening = self.openings.get(connection)
        if opening is not None:
            opening.lose()
            self._settle(connection, opening)

    def see(self, seen: Seen) -> None:
        """Note who the ends of the packet's connection are, or what a ping says of its host."""
        if seen.connection is None and seen.trouble is None:
            self.pings.see(seen, self.notes)
            self.notes.take()
        opening = self.openings.get(seen.connection) if seen.connection is not None else None
        if opening is None:
            return
        if seen.gap_before:
            opening.lose()
        opening.see(seen, self.notes, self.pings)
        self.notes.take()
        if seen.trouble is not None:
            opening.lose()
        self._settle(opening.opened.connection, opening)

    def of(self, seen: Seen) -> str:
        """Return the sender of a packet."""
        if seen.connection is None or seen.side is None:
            return sender_name(seen, None)
        opening = self.openings.get(seen.connection)
        if opening is not None:
            return sender_name(seen, opening.manager(seen.side))
        number = self.ends.named[2 * seen.connection + SIDES.index(seen.side)]
        return self.ends.names[number] if number else sender_name(seen, None)

    def managers(self, connection: int) -> tuple[str | None, str | None]:
        """Return nothing: who only judges packets does not report connections."""
        return None, None

    def begin(self, both: tuple[Rows, Rows], busy: set[int]) -> None:
        """Find the connections that begin with a message, before their packets are judged. busy: other connections."""
        if not self.openings:
            return
        first: dict[int, tuple[int, int, int]] = {}
        for at, rows in enumerate(both):
            connections = rows.meta[:, OF_CONNECTION]
            open_, where = np.unique(connections[self.unsettled[connections] != 0], return_index=True)
            found = np.flatnonzero(self.unsettled[connections])[where]
            for connection, row in zip(open_.tolist(), found.tolist(), strict=True):
                one = (int(rows.meta[row, OF_NUMBER]), at, row)
                first[connection] = min(first.get(connection, one), one)
        for connection, (_, at, row) in first.items():
            if connection not in busy:
                self.not_opened(connection, both[at], row)

    def not_opened(self, connection: int, rows: Rows, row: int) -> None:
        """Settle a connection that begins with a message, since nothing identifies its ends; decode nothing."""
        opening = self.openings.get(connection)
        if opening is None or opening.stage or rows.buffer[int(rows.offsets[row]) + _FLAGS] & _INTERNAL:
            return
        opening.derailed = True
        self._settle(connection, opening)

    def _settle(self, connection: int, opening: Opening) -> None:
        """Store who the ends are, as soon as nothing can change it any more."""
        if opening.known and not opening.derailed and opening.response is None:
            return
        for side, word in enumerate(SIDES):
            self.ends.manage(connection, side, opening.manager(word))
        self.unsettled[connection] = 0
        self.openings.pop(connection, None)


def busy_of(events: list[tuple[int, Event]]) -> set[int]:
    """Return the connections that have other events than their beginning and end, or packets out of the ordinary."""
    return {int(one.connection or 0) for _, one in events if isinstance(one, Frame | Hole | Lost)}
