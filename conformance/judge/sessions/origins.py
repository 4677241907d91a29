"""Judges who a message comes from: the queue manager at the end of the connection, or one whose messages it passes on.

A router raises the hop count of each message it passes on (MS-MQQB 3.1.5.8.2), so that a message without hops comes
from the queue manager that the initialization of the session has named.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Protocol

from conformance.capture import Side
from conformance.judge.sessions.context import MAX_HOSTS, Notes, Seen
from conformance.judge.sessions.opening import NULL_GUID
from conformance.spec.catalogue import requirement_id

_HOPS = requirement_id("MQQB-3.1.5.8.2.hop-count")
# A packet that a queue manager makes itself has no hops; of acknowledgments that is told with their other flags.
_ACKNOWLEDGES = {
    "OrderAck": requirement_id("MQQB-2.2.4.user-flags"),
    "FinalAck": requirement_id("MQQB-2.2.5.user-flags"),
}
_NAMED: dict[Side, str] = {
    "initiator": requirement_id("MQQB-3.1.5.2.3.client-guid"),
    "acceptor": requirement_id("MQQB-3.1.5.3.1.server-guid"),
}


_PRIVATE = 3  # UserHeader.Flags.DQ of a private queue of the addressee.
_ORDER_QUEUE = requirement_id("MQQB-3.1.7.17.private-name")


def judge_order_queue(seen: Seen, notes: Notes, own: str, other: str | None, *, direct: bool) -> None:
    """Judge whose private queue a transactional acknowledgment goes to. own, other: the managers at the two ends.

    direct: it is for a message of the other's own, so that no router passes it on.
    """
    named = seen.text("UserHeader.QueueManagerAddress")
    if named is None or seen.number("UserHeader.Flags.DQ") != _PRIVATE:
        return
    if named in (own, other) or (direct and other not in (None, NULL_GUID)):
        if not (named == other and notes.passed(_ORDER_QUEUE)):
            notes.judge(_ORDER_QUEUE, named == other, seen, other, named)
    else:
        notes.undecided(_ORDER_QUEUE, seen, "a router may pass it on")


class Makers(Protocol):
    """See `Lifetimes.smallest`."""

    def get(self, manager: str, /) -> int | None:
        """Return something if the queue manager has made a message, else None."""


@dataclass(slots=True)
class Origins:
    """The queue managers of a capture. hosts: the address each was last named at. doubted: ends already blamed."""

    hosts: OrderedDict[str, str] = field(default_factory=OrderedDict)
    doubted: OrderedDict[tuple[int | None, Side], None] = field(default_factory=OrderedDict)

    def name(self, manager: str, host: str) -> None:
        """Record that the initialization of a session has named the queue manager of a host."""
        self.hosts[manager] = host
        while len(self.hosts) > MAX_HOSTS:
            self.hosts.popitem(last=False)

    def see(self, seen: Seen, notes: Notes, source: str, manager: str, makers: Makers) -> None:
        """Judge a message. source: the queue manager that made it. manager: the one that sends it.

        makers: has the queue managers that have made messages so far.
        """
        side, hops = seen.side, seen.number("UserHeader.Flags.RC")
        if hops is None or side is None:
            return
        if (hops == 0) == (source == manager):
            if not notes.passed(_HOPS):
                notes.judge(_HOPS, True, seen, hops, hops)
            if hops == 0 and not notes.passed(_NAMED[side]):
                notes.judge(_NAMED[side], True, seen, source, manager)
            return
        if source == NULL_GUID:
            notes.undecided(_HOPS, seen, "the message names no queue manager that made it")
            return
        if source == manager and hops == 1:
            # It has come back over another one at the least, so that two have counted.
            notes.judge(_ACKNOWLEDGES.get(seen.kind, _HOPS), False, seen, {"not": 1}, hops)
            return
        if source == manager:
            notes.undecided(_HOPS, seen, "the message may have come back to its queue manager on its way")
            return
        at = self.hosts.get(source)
        elsewhere = at is not None and at != seen.hosts[0]
        if elsewhere or makers.get(manager) is not None:
            notes.judge(_HOPS, False, seen, {"from": 1}, hops)
            return
        key = (seen.connection, side)
        if key in self.doubted:
            notes.undecided(_NAMED[side], seen, "the queue manager at this end was named wrongly before")
            return
        self.doubted[key] = None
        while len(self.doubted) > MAX_HOSTS:
            self.doubted.popitem(last=False)
        notes.judge(_NAMED[side], False, seen, source, manager)
