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
from conformance.judge.session_messages import Messages
from conformance.judge.session_opening import Opening
from conformance.judge.session_packets import judge_alone
from conformance.judge.session_pings import Pings
from conformance.judge.session_transactions import Transactions
from conformance.verdict import Verdict
from conformance.wire import Packet, dissect


@dataclass(slots=True)
class _Session:
    opening: Opening
    counts: Counts


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
        self._transactions = Transactions.under(self._notes)

    def feed(self, event: Event, packet: Packet | None = None) -> list[Verdict]:
        """The verdicts this event allows. packet: the dissected frame, if the caller has it already."""
        if isinstance(event, Opened):
            self._sessions[event.connection] = _Session(Opening(event, known=event.complete), Counts(event.complete))
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
        if seen.packet.kind in MESSAGES:
            self._messages.see(seen, notes)
            self._transactions.see(seen, notes, original=_original(seen, session.opening, frame.side))

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
