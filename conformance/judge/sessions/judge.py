"""Judges MS-MQQB by a capture: events of connections and pings in, verdicts out. No I/O and no clock.

Each group of rules has a module of its own; this one distributes the events, to the rules that need only a connection
(`connection`) and to those whose state crosses connections (`shared`). A part that the capture lacks makes a verdict
inconclusive, never a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.capture import Closed, Ended, Event, Frame, Hole, Lost, Opened, SetBack, Side
from conformance.judge.sessions import context, shared
from conformance.judge.sessions.clocks import Clocks
from conformance.judge.sessions.connection import judge_connection
from conformance.judge.sessions.context import Kind, Notes, Path, Readings, Said, Seen
from conformance.judge.sessions.counts import Counts
from conformance.judge.sessions.flow import Flow
from conformance.judge.sessions.lifetimes import Lifetimes
from conformance.judge.sessions.messages import Messages
from conformance.judge.sessions.opening import Opening
from conformance.judge.sessions.origins import Origins
from conformance.judge.sessions.pings import Pings
from conformance.judge.sessions.remembered import Unopened
from conformance.judge.sessions.senders import sender_name
from conformance.judge.sessions.sequences import READING_SCOPE
from conformance.judge.sessions.transactions import Transactions
from conformance.verdict import Verdict
from conformance.wire import Packet, dissect


@dataclass(slots=True)
class Session:
    """The state of one connection."""

    opening: Opening
    counts: Counts
    flow: Flow


@dataclass(slots=True)
class Tables:
    """The state of all rules of a capture, and of each open connection by its number."""

    messages: Messages
    lifetimes: Lifetimes
    transactions: Transactions
    pings: Pings = field(default_factory=Pings)
    sessions: dict[int, Session] = field(default_factory=dict)
    origins: Origins = field(default_factory=Origins)
    clocks: Clocks = field(default_factory=Clocks)

    @classmethod
    def begin(cls, scopes: tuple[str, ...]) -> Tables:
        """Make empty ones. scopes: of `Transactions`."""
        return cls(Messages(), Lifetimes(), Transactions(scopes))

    def forget(self, number: int) -> None:
        """Forget the messages and transactions that came too long before the packet of this number."""
        oldest = number - context.MAX_REMEMBERED
        tables: tuple[Any, ...] = (self.messages.known, self.transactions.sent, self.transactions.groups.groups)
        for table in tables:
            if isinstance(table, Unopened):
                table.forget(oldest)
                continue
            while table and next(iter(table.values())).frame <= oldest:
                table.popitem(last=False)

    def open(self, event: Opened) -> None:
        """Begin the state of a connection."""
        counts = Counts.begin(complete=event.complete)
        self.sessions[event.connection] = Session(Opening(event, known=event.complete), counts, Flow(counts))


class SessionJudge:
    """Judges the sessions of one capture, event by event, in the order `read_capture` yields them.

    readings: reading id to accepted alternatives, the default first. counting: `said` and `see` report a further pass
    of a kind as its index in `kinds`. Memory is bounded by the open connections and by fixed tables. Verdicts on
    should-level requirements are failures like others: the caller knows the level.
    """

    def __init__(self, readings: Readings, *, counting: bool = False, tables: Tables | None = None) -> None:
        self._notes = Notes(readings, kinds=[] if counting else None)
        self.single = False
        """True when the last result has a verdict, not only numbers."""
        self.reached = 0
        """The number of the last packet of the capture, judged here or not."""
        self.tables = Tables.begin(self._notes.accepted(READING_SCOPE)) if tables is None else tables

    def moved(self, tables: Tables, path: Callable[[Path], Path]) -> SessionJudge:
        """Return a judge that goes on in place of this one, with other tables. path: gives a path its new form."""
        made = SessionJudge(self._notes.readings, tables=tables)
        made._notes, made.reached = self._notes, self.reached
        self._notes.move(path)
        return made

    @property
    def kinds(self) -> Sequence[Kind]:
        """The kinds of verdicts that are reported by number."""
        return self._notes.kinds or ()

    @property
    def open_notes(self) -> Notes:
        """What was said and suspected so far."""
        return self._notes

    @property
    def due_ns(self) -> int:
        """The time of the first packet that decides about an earlier one."""
        return self._notes.due_ns

    @property
    def suspected(self) -> int:
        """The number of failures so far that stood, or stand, to be withdrawn."""
        return self._notes.suspected

    def undecided(self, connection: int, requirements: Sequence[str]) -> int:
        """Return a bit for each of these requirements, set if it was reported as undecided on this connection."""
        said = self._notes.has_said
        return sum(1 << at for at, requirement in enumerate(requirements) if said(requirement, connection))

    def count_all(self) -> None:
        """Report other outcomes by number, too, from now on."""
        self._notes.full = True

    def feed(self, event: Event, packet: Packet | None = None) -> list[Verdict]:
        """Return the verdicts that this event allows. packet: the dissected frame, if the caller has it already."""
        return [one for one in self.said(event, packet) if isinstance(one, Verdict)]

    def said(self, event: Event, packet: Packet | None = None) -> list[Said]:
        """Return the results of `feed`, including the numbers of counted verdicts."""
        if isinstance(event, Frame):
            return self.see(Seen(event, packet or dissect(event.data, transport=event.transport)))
        tables, notes = self.tables, self._notes
        if isinstance(event, Opened):
            tables.open(event)
            if not event.complete:
                self._lose(event.connection, "initiator")
                self._lose(event.connection, "acceptor")
        elif isinstance(event, Hole | Lost):
            self._lose(event.connection, event.side)
        elif isinstance(event, Closed):
            session = tables.sessions.pop(event.connection, None)
            if session is not None:
                shared.closed(event, session.opening, tables, notes)
        elif isinstance(event, SetBack):
            notes.doubted_ns = event.latest_ns
            tables.lifetimes.forget()
        elif isinstance(event, Ended):
            shared.ended(self.reached, tables, notes)
        return self._taken()

    def see(self, seen: Seen) -> list[Said]:
        """Judge one packet and return the verdicts that it allows."""
        notes, tables = self._notes, self.tables
        self.reached = seen.frame_number
        if notes.suspicions:
            notes.resolve(seen.time_ns)
        if seen.connection is None or seen.side is None:
            shared.judge_datagram(seen, tables, notes)
            return self._taken()
        session = tables.sessions[seen.connection]
        shared.judge_place(seen, session.opening, tables, notes)
        counted = judge_connection(seen, notes, session.counts, session.flow)
        if seen.trouble is None:
            shared.judge_message(seen, session.opening, tables, notes, counted)
        return self._taken()

    def _taken(self) -> list[Said]:
        notes = self._notes
        self.single = notes.single
        taken, notes.verdicts, notes.single = notes.verdicts, [], False
        return taken

    def sender(self, frame: Frame, packet: Packet) -> str:
        """Return the sender of a packet, as `sender_of`."""
        return self.sender_of(Seen(frame, packet))

    def sender_of(self, seen: Seen) -> str:
        """Return the sender of a packet, as `senders.sender_name`."""
        connection, side = seen.connection, seen.side
        manager = None if connection is None or side is None else self.manager(connection, side)
        return sender_name(seen, manager)

    def manager(self, connection: int, side: Side) -> str | None:
        """Return the GUID of the queue manager on one side of an open connection, if initialization named it."""
        session = self.tables.sessions.get(connection)
        return session.opening.manager(side) if session is not None else None

    def _lose(self, connection: int, side: Side) -> None:
        session = self.tables.sessions.get(connection)
        if session is not None:
            session.counts.lose(side)
            shared.lost(session.opening, side, self.tables)


def judge_sessions(events: Iterable[Event], *, readings: Readings) -> Iterator[Verdict]:
    """Yield the verdicts of a whole capture, in the order they become possible."""
    judge = SessionJudge(readings)
    for event in events:
        yield from judge.feed(event)
