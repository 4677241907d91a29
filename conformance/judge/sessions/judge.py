"""Judges MS-MQQB by a capture: events of connections and pings in, verdicts out. No I/O and no clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from conformance.capture import Closed, Ended, Event, Frame, Hole, Lost, Opened, Repeated, SetBack, Side
from conformance.judge.sessions import context
from conformance.judge.sessions.context import MESSAGES, Kind, Notes, Readings, Said, Seen
from conformance.judge.sessions.flow import Counted, Flow, judge_connection
from conformance.judge.sessions.keys import FREQUENT, sender_name
from conformance.judge.sessions.message_memory import Memory
from conformance.judge.sessions.messages import Lifetimes, Messages, Origins, judge_order_queue
from conformance.judge.sessions.opening import NULL_GUID, Clocks, Opening
from conformance.judge.sessions.packets import Pings, judge_alone
from conformance.judge.sessions.registers import COVERED_NS, DOUBTED_NS, Registers
from conformance.judge.sessions.reports import READING_SCOPE, READINGS, bits_of
from conformance.judge.sessions.sequences import Sequences
from conformance.judge.sessions.transactions import Transactions
from conformance.judge.sessions.waits import Ending, Pasts, judge_waits, life_ns
from conformance.verdict import Verdict
from conformance.wire import Packet, dissect

_OTHER: dict[Side, Side] = {"initiator": "acceptor", "acceptor": "initiator"}


def judge_datagram(seen: Seen, tables: Tables, notes: Notes) -> None:
    """Judge a packet of no connection."""
    if seen.trouble is None:
        judge_alone(seen, notes)
        tables.pings.see(seen, notes)


def judge_place(seen: Seen, opening: Opening, tables: Tables, notes: Notes) -> None:
    """Judge a packet before the rules of its connection do: its place in the opening."""
    assert seen.side is not None
    if seen.gap_before:
        lose_path(opening, seen.side, tables)
    judge_opening(seen, opening, tables, notes)
    if seen.trouble is not None:
        lose_path(opening, seen.side, tables)


def judge_opening(seen: Seen, opening: Opening, tables: Tables, notes: Notes) -> None:
    """Judge a packet's place in the opening of its connection, and take over what it says of its sender."""
    if seen.gap_before:
        opening.lose()
    if seen.trouble is not None or seen.kind not in FREQUENT or not opening.settled:
        opening.see(seen, notes, tables.pings)
        if seen.kind == "EstablishConnection":
            _named(seen, opening, tables, notes)
    if seen.trouble is not None:
        opening.lose()


def judge_message(seen: Seen, session: Session, tables: Tables, notes: Notes, counted: Counted) -> None:
    """Judge a packet that was intelligible after the rules of its connection did."""
    opening = session.opening
    if counted.miscounted:
        opening.miscounted(seen)
    if seen.kind not in MESSAGES:
        return
    side = seen.side
    assert side is not None
    tables.forget(seen.frame_number)
    if opening.doubted is not None and side == "acceptor":
        opening.decide(seen, notes, tables.pings)
    source = seen.text("UserHeader.SourceQueueManager")
    number, back = seen.number("UserHeader.MessageID"), tables.transactions.back
    first = tables.messages.see(seen, notes, source, number, back, tables.lifetimes.smallest)
    new, again = first == seen.frame_number, first is not None and first <= opening.began
    manager = opening.manager(side)
    # A router only passes messages on (MS-MQQB 3.1.1.5).
    original = source == manager if manager is not None else seen.number("UserHeader.Flags.RC") == 0
    if source is not None:
        if manager is not None and manager != NULL_GUID:
            most = None if new else _most_hops(seen, tables, source, number or 0)
            tables.origins.see(seen, notes, source, manager, tables.lifetimes.smallest, most)
            if seen.kind != "UserMessage" and source == manager:
                other = opening.manager(_OTHER[side])
                direct = tables.transactions.acknowledges(seen, other)
                judge_order_queue(seen, notes, manager, other, direct=direct)
        if first is not None and again:
            tables.pasts.sent_again(seen, notes, first)
        connection = session.flow.connection
        path = tables.transactions.paths.get(seen.hosts)
        whole = new and (path is None or not path.generation)
        tables.lifetimes.see(
            seen, notes, source, connection, new=new, first=new or again, original=original, whole=whole
        )
    known = tables.messages.known
    tables.transactions.see(
        seen,
        notes,
        known,
        new=new,
        original=original,
        idle=counted.idle,
        covered=not new and _is_covered(seen, tables, session, source, number),
        connection=session.flow.connection,
    )


def _most_hops(seen: Seen, tables: Tables, source: str, number: int) -> int | None:
    """Return the hop count of a message whose sender has it from its own queue manager; None where others may have.

    source, number: its identifier.
    """
    first, host = tables.messages.known.get((source, number)), tables.origins.hosts.get(source)
    if first is None or first.number("UserHeader.Flags.RC") or (seen.number("UserHeader.Flags.RC") or 0) <= 1:
        return None
    took = {
        hosts[1]
        for hosts, ended in tables.pasts.ended.items()
        if hosts[0] == host and any(one.began < first.frame <= one.ended for one in ended)
    }
    for session in tables.sessions.values():
        one, ends = session.opening, (session.opening.opened.initiator.address, session.opening.opened.acceptor.address)
        if one.began < first.frame:
            took |= {ends[1 - at] for at, side in enumerate(_OTHER) if one.manager(side) == source}
    return 1 if took == {seen.hosts[0]} else None


def _is_covered(seen: Seen, tables: Tables, session: Session, source: str | None, number: int | None) -> bool:
    """Tell whether a message that comes again was acknowledged by the session on which it was sent last."""
    if source is None or number is None or seen.side is None:
        return False
    before = tables.transactions.sent.get((source, number))
    if before is None:
        return False
    if before.connection != seen.connection:
        return tables.pasts.covers(seen.hosts, before.frame)
    under_way = next(session.flow.connection.end(seen.side).messages(), None)
    return under_way is not None and under_way[1] > before.frame


def lose_path(opening: Opening, side: Side, tables: Tables) -> None:
    """Record that something from this side of a connection to the other is missing, or was unintelligible."""
    ends = (opening.opened.initiator.address, opening.opened.acceptor.address)
    tables.transactions.lose(ends if side == "initiator" else (ends[1], ends[0]))


def lost(opening: Opening, side: Side, tables: Tables) -> None:
    """Record that something of one side of a connection is missing from the capture."""
    opening.lose()
    lose_path(opening, side, tables)


def closed(event: Closed, session: Session, tables: Tables, notes: Notes, reached: int) -> None:
    """Judge the end of a connection. reached: the number of the last packet."""
    opening = session.opening
    opening.end(event, notes)
    ends = {opening.opened.initiator.address, opening.opened.acceptor.address}

    def alone() -> bool:
        every = (one.opening.opened for one in tables.sessions.values())
        return sum({one.initiator.address, one.acceptor.address} == ends for one in every) == 1

    ending = Ending(opening, session.flow.connection, alone)
    judge_waits(ending, event, notes, tables.transactions, tables.messages.known, tables.pasts, reached)
    for side in _OTHER:
        tables.transactions.end_omission((opening.opened.connection, side), event.time_ns, notes)
    lives = {side: _life(event, side, session, tables) for side in _OTHER}
    messages = tables.messages
    messages.fates.close(opening.opened.connection, notes, lives, messages.known, opening.began)
    tables.pings.forget(opening.opened.initiator.address, opening.client)
    tables.pings.forget(opening.opened.acceptor.address, opening.server)


def _life(event: Closed, side: Side, session: Session, tables: Tables) -> int | None:
    """Return when a side lived last; None where something that it sends to the other is missing."""
    opened = session.opening.opened
    ends = (opened.initiator.address, opened.acceptor.address)
    path = tables.transactions.paths.get(ends if side == "initiator" else ends[::-1])
    whole = session.flow.connection.whole and (path is None or not path.generation)
    return life_ns(event, side, session.flow.connection.end(side)) if whole else None


def ended(reached: int, tables: Tables, notes: Notes) -> None:
    """Judge the end of the capture. reached: the number of its last packet."""
    notes.resolve(None)
    tables.forget(reached)
    tables.transactions.end(notes)
    tables.pasts.end(notes)


def _named(seen: Seen, opening: Opening, tables: Tables, notes: Notes) -> None:
    """Take over what an EstablishConnection packet that was in its turn says of its sender."""
    if opening.derailed or seen.side is None:
        return
    if seen.side == "initiator":
        tables.clocks.see(seen, notes, opening.opened)
    manager = opening.manager(seen.side)
    if manager is not None and manager != NULL_GUID:
        tables.origins.name(manager, seen.hosts[0])
        tables.pings.name(seen.hosts[0], manager)


@dataclass(slots=True)
class Session:
    """The state of one connection."""

    opening: Opening
    flow: Flow


@dataclass(slots=True)
class Tables:
    """The state of all rules of a capture, and of each open connection by its number."""

    messages: Messages
    lifetimes: Lifetimes
    transactions: Transactions
    registers: Registers
    pings: Pings = field(default_factory=Pings)
    sessions: dict[int, Session] = field(default_factory=dict)
    origins: Origins = field(default_factory=Origins)
    clocks: Clocks = field(default_factory=Clocks)
    pasts: Pasts = field(default_factory=Pasts)

    @classmethod
    def begin(cls, scope: str) -> Tables:
        """Make empty ones. scope: that of a sequence which is followed first."""
        registers = Registers()
        sequences = Sequences(registers, bits_of(READING_SCOPE, (scope,)) >> 1)
        return cls(Messages(Memory()), Lifetimes(), Transactions(registers, sequences), registers)

    def forget(self, number: int) -> None:
        """Forget the messages and transactions that came too long before the packet of this number."""
        oldest = number - context.MAX_REMEMBERED
        self.transactions.sent.forget(oldest)
        self.transactions.groups.groups.forget(oldest)
        self.messages.known.forget(oldest)

    def open(self, event: Opened, reached: int) -> None:
        """Begin the state of a connection. reached: the number of the last packet."""
        registers = self.registers.open(event.connection, event.time_ns, complete=event.complete)
        opening = Opening(event, known=event.complete, began=reached, registers=registers)
        self.sessions[event.connection] = Session(opening, Flow(registers))

    def close(self, connection: int) -> None:
        """End the state of a connection that has ended."""
        session = self.sessions.pop(connection, None)
        if session is not None:
            self.registers.close(session.flow.connection)


class SessionJudge:
    """Judges the sessions of one capture, event by event, in the order `read_capture` yields them.

    readings: reading id to accepted alternatives, the default first. counting: `said` and `see` report a further pass
    of a kind as its index in `kinds`. Memory is bounded by the open connections and by fixed tables. Verdicts on
    should-level requirements are failures like others: the caller knows the level.
    """

    def __init__(self, readings: Readings, *, counting: bool = False) -> None:
        self._notes = Notes(readings, kinds=[] if counting else None)
        self.single = False
        """True when the last result has a verdict, not only numbers."""
        self.reached = 0
        """The number of the last packet of the capture, judged here or not."""
        self.tables = Tables.begin(readings[READING_SCOPE][0])
        for place, reading in READINGS:
            self.tables.registers.shared[place] = bits_of(reading, self._notes.accepted(reading))

    def restore(self) -> None:
        """Take over the registers of a state that was stored.

        Raises ValueError, TypeError, AttributeError or LookupError for what is none.
        """
        tables, registers = self.tables, Registers()
        for place in range(DOUBTED_NS, COVERED_NS):
            registers.shared[place] = tables.registers.shared[place]
        for session in tables.sessions.values():
            session.flow.connection.move(registers)
            session.opening.registers = session.flow.connection
        for path in tables.transactions.paths.values():
            path.move(registers)
        for suspicion in self._notes.suspicions:
            for there, generation in suspicion.paths:
                if not (isinstance(there.generation, int) and isinstance(generation, int)):
                    raise TypeError("a suspicion depends on no path")
        transactions, lifetimes = tables.transactions, tables.lifetimes
        tables.registers = transactions.registers = registers
        transactions.sequences.renew(registers)
        for table in (
            tables.messages.known,
            transactions.sent,
            transactions.groups.groups,
            lifetimes.smallest,
            lifetimes.last,
        ):
            table.renew()

    @property
    def kinds(self) -> Sequence[Kind]:
        """The kinds of verdicts that are reported by number."""
        return self._notes.kinds or ()

    @property
    def due_ns(self) -> int:
        """The time of the first packet that decides about an earlier one."""
        return self._notes.due_ns

    @property
    def suspected(self) -> int:
        """The number of failures so far that stood, or stand, to be withdrawn."""
        return self._notes.suspected

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
            tables.pasts.retried(event.initiator.address, event.time_ns, notes)
            tables.open(event, self.reached)
            if not event.complete:
                self._lose(event.connection, "initiator")
                self._lose(event.connection, "acceptor")
        elif isinstance(event, Hole | Lost):
            self._lose(event.connection, event.side)
        elif isinstance(event, Closed):
            session = tables.sessions.get(event.connection)
            if session is not None:
                closed(event, session, tables, notes, self.reached)
                tables.close(event.connection)
        elif isinstance(event, Repeated):
            session = tables.sessions.get(event.connection)
            if session is not None:
                session.flow.connection.repeat(event.side, event.time_ns)
        elif isinstance(event, SetBack):
            notes.doubted_ns = tables.registers.shared[DOUBTED_NS] = event.latest_ns
            tables.lifetimes.forget()
        elif isinstance(event, Ended):
            ended(self.reached, tables, notes)
        return self._taken()

    def see(self, seen: Seen) -> list[Said]:
        """Judge one packet and return the verdicts that it allows."""
        notes, tables = self._notes, self.tables
        self.reached = seen.frame_number
        if notes.suspicions:
            notes.resolve(seen.time_ns)
        if seen.connection is None or seen.side is None:
            judge_datagram(seen, tables, notes)
            return self._taken()
        session = tables.sessions[seen.connection]
        judge_place(seen, session.opening, tables, notes)
        counted = judge_connection(seen, notes, session.flow)
        if seen.trouble is None:
            judge_message(seen, session, tables, notes, counted)
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
            session.flow.connection.lose(side)
            lost(session.opening, side, self.tables)


def judge_sessions(events: Iterable[Event], *, readings: Readings) -> Iterator[Verdict]:
    """Yield the verdicts of a whole capture, in the order they become possible."""
    judge = SessionJudge(readings)
    for event in events:
        yield from judge.feed(event)
