"""What a capture shows of MS-MQQB: events of connections and pings in, verdicts out. No I/O and no clock.

Each rule stands in a module of its own; this one shares out the events. What the capture lacks makes a verdict
inconclusive, never a fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conformance.capture import Closed, Ended, Event, Frame, Hole, Lost, Opened, Side
from conformance.judge.session_context import MESSAGES, Notes, Readings, Seen
from conformance.judge.session_counts import Counts
from conformance.judge.session_flow import Flow
from conformance.judge.session_lifetimes import Lifetimes
from conformance.judge.session_messages import Messages
from conformance.judge.session_opening import NULL_GUID, Opening
from conformance.judge.session_packets import judge_alone
from conformance.judge.session_pings import Pings
from conformance.judge.session_transactions import Transactions
from conformance.verdict import Verdict
from conformance.wire import Packet, dissect


@dataclass(slots=True)
class _Session:
    opening: Opening
    counts: Counts
    flow: Flow


class SessionJudge:
    """Judges the sessions of one capture, event by event, in the order `read_capture` yields them.

    readings: reading id to accepted alternatives, the default first. Memory is bounded by the connections that are
    open and by fixed tables. Verdicts of should-level demands are fails like others: the caller knows the level.
    """

    def __init__(self, readings: Readings) -> None:
        self._notes = Notes(readings)
        self._sessions: dict[int, _Session] = {}
        self._pings = Pings()
        self._messages = Messages()
        self._lifetimes = Lifetimes()
        self._transactions = Transactions.under(self._notes)

    def feed(self, event: Event, packet: Packet | None = None) -> list[Verdict]:
        """The verdicts this event allows. packet: the dissected frame, if the caller has it already."""
        if isinstance(event, Opened):
            counts = Counts(event.complete)
            self._sessions[event.connection] = _Session(Opening(event, known=event.complete), counts, Flow(counts))
            if not event.complete:
                self._lose(event.connection, "initiator")
                self._lose(event.connection, "acceptor")
        elif isinstance(event, Hole | Lost):
            self._lose(event.connection, event.side)
        elif isinstance(event, Closed):
            session = self._sessions.pop(event.connection, None)
            if session is not None:
                session.opening.end(event, self._notes)
        elif isinstance(event, Frame):
            self._frame(Seen(event, packet or dissect(event.data, transport=event.transport)))
        elif isinstance(event, Ended):
            self._notes.resolve(None)
        return self._notes.take()

    def sender(self, frame: Frame, packet: Packet) -> str:
        """Who sent a packet: its queue manager where that is known, as a GUID, else its address.

        The initialization of a session tells it, as does a ping; a message that was not passed on tells it itself.
        """
        seen = Seen(frame, packet)
        if frame.connection is None or frame.side is None:
            return seen.text("Ping.QMGuid") or frame.source.address
        session = self._sessions.get(frame.connection)
        manager = session.opening.manager(frame.side) if session is not None else None
        if manager is None and seen.number("UserHeader.Flags.RC") == 0:
            manager = seen.text("UserHeader.SourceQueueManager")
        return manager if manager not in (None, NULL_GUID) else frame.source.address

    def manager(self, connection: int, side: Side) -> str | None:
        """The queue manager on one side of an open connection, where its initialization told it, as a GUID."""
        session = self._sessions.get(connection)
        return session.opening.manager(side) if session is not None else None

    def _frame(self, seen: Seen) -> None:
        frame, notes = seen.frame, self._notes
        notes.resolve(frame.time_ns)
        if frame.transport == "udp":
            if frame.trouble is None:
                judge_alone(seen, notes)
                self._pings.see(seen, notes)
            return
        assert frame.connection is not None and frame.side is not None
        if frame.gap_before:
            self._lose(frame.connection, frame.side)
        session = self._sessions[frame.connection]
        session.opening.see(seen, notes, self._pings)
        if frame.trouble is not None:
            self._lose(frame.connection, frame.side)
            return
        judge_alone(seen, notes)
        session.counts.see(seen, notes)
        session.flow.see(seen, notes)
        if seen.packet.kind in MESSAGES:
            new = self._messages.see(seen, notes)
            original = _original(seen, session.opening, frame.side)
            self._lifetimes.see(seen, notes, new=new, original=original)
            idle = session.counts.idle_before(frame.side)
            self._transactions.see(seen, notes, original=original, acknowledged=idle)

    def _lose(self, connection: int, side: Side) -> None:
        session = self._sessions.get(connection)
        if session is None:
            return
        session.counts.lose(side)
        session.opening.lose()
        ends = (session.opening.opened.initiator.address, session.opening.opened.acceptor.address)
        self._transactions.lose(ends if side == "initiator" else (ends[1], ends[0]))


def judge_sessions(events: Iterable[Event], *, readings: Readings) -> Iterator[Verdict]:
    """The verdicts of a whole capture, in the order they become possible."""
    judge = SessionJudge(readings)
    for event in events:
        yield from judge.feed(event)


def _original(seen: Seen, opening: Opening, side: Side) -> bool:
    """Whether the sender made this message itself: a router only passes on (MS-MQQB 3.1.1.5)."""
    source, manager = seen.text("UserHeader.SourceQueueManager"), opening.manager(side)
    return source == manager if manager is not None else seen.number("UserHeader.Flags.RC") == 0
