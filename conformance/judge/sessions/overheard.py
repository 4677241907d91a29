"""Events of connections that others judge, as far as they change what is said of those judged here.

A server's connections share the server's host and queue manager. What the rules keep by these is changed by few
packets: pings, the openings of connections, and messages that are younger, by their sender's clock, than all before
them. Who judges some of a server's connections takes notice of those packets of the others, and says nothing of them.

What else crosses a server's connections is not overheard. `Overhearing.unsure` tells of openings that need more, and
`columns.parts` of what else would have to be known.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from conformance.capture import Closed, Event, Frame, Hole, Lost, Opened
from conformance.judge.sessions import shared
from conformance.judge.sessions.context import MAX_REMEMBERED, MESSAGES, Notes, Readings, Seen
from conformance.judge.sessions.judge import Tables
from conformance.judge.sessions.messages import Known
from conformance.judge.sessions.opening import Opening
from conformance.wire import dissect


@dataclass(frozen=True, slots=True)
class Recalled:
    """A message that others judge and remember, and that the next message here follows."""

    frame: Frame


@dataclass(frozen=True, slots=True)
class Greeted:
    """A usual opening, or the part of it that matters elsewhere: a host was named.

    stamp, time_ns: TimeStamp of its request and when that came; opened: its connection, None if the other end asked.
    """

    host: str
    manager: str
    stamp: int
    time_ns: int
    opened: Opened | None


@dataclass(frozen=True, slots=True)
class Left:
    """The end of a connection with a usual opening. host, manager: as that has named them."""

    host: str
    manager: str


@dataclass(frozen=True, slots=True)
class Refuted:
    """Scopes of the sequences of a queue manager that the packet of this number, which others judge, refutes."""

    source: str
    scopes: tuple[str, ...]
    number: int


@dataclass(slots=True)
class Overhearing:
    """Takes notice of events in their order among those judged here. tables: the state of the judge.

    unsure: the ping and the response of an acceptor differ, which its messages decide, or a time cannot be right.
    recalled: messages by queue manager and number.
    """

    tables: Tables
    notes: Notes
    unsure: bool = False
    openings: dict[int, Opening] = field(default_factory=dict)
    recalled: OrderedDict[tuple[str, int], Known] = field(default_factory=OrderedDict)

    @classmethod
    def by(cls, tables: Tables, readings: Readings) -> Overhearing:
        """Make one for the judge with these tables."""
        return cls(tables, Notes(readings, kinds=[]))

    def hear(self, event: Event | Greeted | Left) -> None:
        """Take notice of an event, or of what became of some."""
        if isinstance(event, Greeted):
            if event.opened is not None:
                self.tables.clocks.take((event.manager, event.host), event.stamp, event.time_ns, event.opened)
            self.tables.origins.name(event.manager, event.host)
            self.tables.pings.name(event.host, event.manager)
            return
        if isinstance(event, Left):
            self.tables.pings.forget(event.host, event.manager)
            return
        opening = self.openings.get(getattr(event, "connection", None) or 0)
        if isinstance(event, Frame):
            self._packet(Seen(event, dissect(event.data, transport=event.transport)), opening)
        elif isinstance(event, Opened):
            opening = self.openings[event.connection] = Opening(event, known=event.complete)
            if not event.complete:
                opening.lose()
        elif isinstance(event, Hole | Lost) and opening is not None:
            opening.lose()
        elif isinstance(event, Closed) and opening is not None:
            del self.openings[event.connection]
            shared.closed(event, opening, self.tables, self.notes)
        self.notes.take()

    def recall(self, event: Recalled) -> None:
        """Remember a message as its part does, if it does."""
        frame = event.frame
        seen = Seen(frame, dissect(frame.data, transport=frame.transport))
        source, number = seen.text("UserHeader.SourceQueueManager"), seen.number("UserHeader.MessageID")
        if source is None or number is None or not seen.whole or seen.trouble is not None or seen.kind not in MESSAGES:
            return
        self.recalled[source, number] = Known.of(seen)
        while len(self.recalled) > MAX_REMEMBERED:
            self.recalled.popitem(last=False)

    def _packet(self, seen: Seen, opening: Opening | None) -> None:
        tables, notes = self.tables, self.notes
        if seen.connection is None or seen.side is None:
            shared.judge_datagram(seen, tables, notes)
        elif opening is not None:
            shared.judge_opening(seen, opening, tables, notes)
            self.unsure = self.unsure or opening.doubted is not None
        if seen.kind in MESSAGES and seen.trouble is None and not tables.lifetimes.overhear(seen):
            self.unsure = True
