"""Judges transactional messages resent on their session: when, and in which order (MS-MQQB 3.1.6.5)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from conformance.judge.sessions.context import MAX_HOSTS, MAX_REMEMBERED, Notes, Path, Seen
from conformance.judge.sessions.sequences import Sent
from conformance.spec.catalogue import requirement_id

_INTERVAL = requirement_id("MQQB-3.1.6.5.resend-interval")
_ORDER = requirement_id("MQQB-3.1.6.5.resend-order")
_PREVIOUS = requirement_id("MQQB-3.1.7.1.3.resent-previous")
_SHORTEST_NS = 29_000_000_000  # The first entries of ResendTimerTable are 30 s; clocks that count seconds lose one.


@dataclass(slots=True)
class Pass:
    """One pass over all unacknowledged messages. since_ns: when it, or the first transmission before any, began."""

    since_ns: int
    resent: set[tuple[int, int]] = field(default_factory=set)
    last: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class Resends:
    """The connections of a capture on which transactional messages were sent."""

    passes: OrderedDict[int | None, Pass] = field(default_factory=OrderedDict)

    def see(self, seen: Seen, notes: Notes, before: Sent | None, path: Path, *, acknowledged: bool) -> None:
        """Judge a transactional message. before: its last transmission, if any.

        acknowledged: everything its sender sent before it on this session is acknowledged; unacknowledged messages may
        be resent with any acknowledgment (3.1.5.5.1).
        """
        connection, now = seen.connection, seen.time_ns
        running = self.passes.get(connection)
        if running is None:
            running = self.passes[connection] = Pass(now)
            while len(self.passes) > MAX_HOSTS:
                self.passes.popitem(last=False)
        if before is None or before.connection != connection:
            return
        previous = seen.number("TransactionHeader.PreviousTxSequenceNumber")
        numbers = (seen.number("TransactionHeader.TxSequenceID"), seen.number("TransactionHeader.TxSequenceNumber"))
        if numbers == (before.sequence, before.number):  # With another number, that is wrong.
            holds = previous is not None and previous <= before.previous
            notes.judge(_PREVIOUS, holds, seen, {"at most": before.previous}, previous)
        place = (before.sequence, before.number)
        begins = not running.resent or place in running.resent
        if not begins:
            notes.judge(_ORDER, place > running.last, seen, {"after number": running.last[1]}, place[1])
        elif path.generation:
            notes.undecided(_INTERVAL, seen, "messages before this one are not in the capture")
        elif acknowledged:
            least = {"at least, ms": 30_000}
            notes.interval(_INTERVAL, seen, running.since_ns, now, lambda waited: waited >= _SHORTEST_NS, least)
        if begins:
            running = self.passes[connection] = Pass(now)
        running.resent.add(place)
        running.last = max(running.last, place)
        if len(running.resent) > MAX_REMEMBERED:
            running.resent.clear()
