"""What a capture shows of MS-MQQB: events of connections and pings in, verdicts out. No I/O and no clock.

Each rule stands in a module of its own; this one shares out the events. What the capture lacks makes a verdict
inconclusive, never a fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from conformance.capture import Closed, Ended, Event, Frame, Hole, Lost, Opened, Side
from conformance.judge.session_context import MESSAGES, Kind, Notes, Readings, Said, Seen
from conformance.judge.session_counts import Counts
from conformance.judge.session_flow import Flow
from conformance.judge.session_keys import FREQUENT
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

    readings: reading id to accepted alternatives, the default first. counting: `said` and `see` tell passes of a kind
    that was told once as a number, the place of it in `kinds`. Memory is bounded by the connections that are
    open and by fixed tables. Verdicts of should-level demands are fails like others: the caller knows the level.
    """

    def __init__(self, readings: Readings, *, counting: bool = False) -> None:
        self._notes = Notes(readings, kinds=[] if counting else None)
        self.single = False
        """Whether there is a verdict in what was said last, and not only numbers."""
        self._sessions: dict[int, _Session] = {}
        self._pings = Pings()
        self._messages = Messages()
        self._lifetimes = Lifetimes()
        self._transactions = Transactions.under(self._notes)

    @property
    def kinds(self) -> Sequence[Kind]:
        """The kinds of verdicts that are told by number."""
        return self._notes.kinds or ()

    def count_all(self) -> None:
        """From now on tell other outcomes by number, too."""
        self._notes.full = True

    def feed(self, event: Event, packet: Packet | None = None) -> list[Verdict]:
        """The verdicts this event allows. packet: the dissected frame, if the caller has it already."""
        return [one for one in self.said(event, packet) if isinstance(one, Verdict)]

    def said(self, event: Event, packet: Packet | None = None) -> list[Said]:
        """As `feed`, with the numbers of what is counted."""
        if isinstance(event, Frame):
            return self.see(Seen(event, packet or dissect(event.data, transport=event.transport)))
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
        elif isinstance(event, Ended):
            self._notes.resolve(None)
        return self._taken()

    def see(self, seen: Seen) -> list[Said]:
        """What a packet allows to say."""
        notes = self._notes
        if notes.suspicions:
            notes.resolve(seen.time_ns)
        connection, side = seen.connection, seen.side
        if connection is None or side is None:
            self._datagram(seen)
            return self._taken()
        if seen.gap_before:
            self._lose(connection, side)
        session = self._sessions[connection]
        opening = session.opening
        kind, trouble = seen.kind, seen.trouble
        if trouble is not None or kind not in FREQUENT or not opening.settled:
            opening.see(seen, notes, self._pings)
        if trouble is not None:
            self._lose(connection, side)
            return self._taken()
        if kind != "UserMessage":
            judge_alone(seen, notes)
        session.counts.see(seen, notes)
        session.flow.see(seen, notes)
        if kind in MESSAGES:
            source = seen.text("UserHeader.SourceQueueManager")
            new = self._messages.see(seen, notes, source, seen.number("UserHeader.MessageID"))
            manager = opening.manager(side)
            # A router only passes on (MS-MQQB 3.1.1.5).
            original = source == manager if manager is not None else seen.number("UserHeader.Flags.RC") == 0
            if source is not None:
                self._lifetimes.see(seen, notes, source, new=new, original=original)
            self._transactions.see(seen, notes, session.counts, original=original)
        return self._taken()

    def _taken(self) -> list[Said]:
        notes = self._notes
        self.single = notes.single
        taken, notes.verdicts, notes.single = notes.verdicts, [], False
        return taken

    def _datagram(self, seen: Seen) -> None:
        if seen.trouble is None:
            judge_alone(seen, self._notes)
            self._pings.see(seen, self._notes)

    def sender(self, frame: Frame, packet: Packet) -> str:
        """Who sent a packet: its queue manager where that is known, as a GUID, else its address.

        The initialization of a session tells it, as does a ping; a message that was not passed on tells it itself.
        """
        return self.sender_of(Seen(frame, packet))

    def sender_of(self, seen: Seen) -> str:
        """As `sender`."""
        connection, side = seen.connection, seen.side
        if connection is None or side is None:
            return seen.text("Ping.QMGuid") or seen.hosts[0]
        session = self._sessions.get(connection)
        manager = session.opening.manager(side) if session is not None else None
        if manager is None and seen.number("UserHeader.Flags.RC") == 0:
            manager = seen.text("UserHeader.SourceQueueManager")
        return seen.hosts[0] if manager is None or manager == NULL_GUID else manager

    def manager(self, connection: int, side: Side) -> str | None:
        """The queue manager on one side of an open connection, where its initialization told it, as a GUID."""
        session = self._sessions.get(connection)
        return session.opening.manager(side) if session is not None else None

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
