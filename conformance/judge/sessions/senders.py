"""Who sent a packet: its queue manager where that is known, else its address."""

from __future__ import annotations

from typing import Final

from conformance.judge.sessions.context import Seen
from conformance.judge.sessions.opening import NULL_GUID

HOPS: Final = "UserHeader.Flags.RC"
MANAGER: Final = "UserHeader.SourceQueueManager"
PINGED: Final = "Ping.QMGuid"


def sender_name(seen: Seen, manager: str | None) -> str:
    """Return the sender of a packet: its queue manager's GUID where known, else its address.

    manager: what the initialization of the session named on this side, None before. The initialization and a ping name
    the queue manager; so does a message that was not passed on.
    """
    if seen.connection is None or seen.side is None:
        return seen.text(PINGED) or seen.hosts[0]
    if manager is None and seen.number(HOPS) == 0:
        manager = seen.text(MANAGER)
    return seen.hosts[0] if manager is None or manager == NULL_GUID else manager
