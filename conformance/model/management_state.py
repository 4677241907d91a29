"""The part of the state that management shows: the machine's connection, and each outgoing queue's session.

MS-MQDMPR 3.1.1.1 (ConnectionActive), 3.1.1.3 and 3.1.1.4; MS-MQQB 3.1.1.3.1 and 3.1.1.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from conformance.model.values import replace, value

Times: TypeAlias = tuple[int, int] | None
"""An interval of seconds since 1970, ends included; None: any time will do."""


@value
class Step:
    """An entry of a connection history. name: as in `management_rows.STATUSES`. at: when it was made."""

    name: str
    at: Times
    error: int
    addresses: tuple[str, ...]


@value
class Session:
    """The session between an outgoing queue and its destination, and what was transferred in it.

    state: the text of the queue's state while it is not on hold. hops: addresses of the next hop. steps: the connection
    history. sent: messages that were transferred and are in the queue still, in the order of their transfer. stored:
    those of them with a session acknowledgment. due: those to be transferred again, `why` since when. numbers: the
    transactional ones without an order acknowledgment, each with its number. following: the number of the next one.
    sequence: the identifier of the present sequence, as told; None while nobody has seen it. before: of the one before.
    acked: the number that the last order acknowledgment was for, 0 for none, None while not known. acks, repeats: order
    acknowledgments that came, and how often the last one did, None where one for an older message came last. place: of
    the resend interval in the table of intervals, None while not known; emptied: all was acknowledged, so the interval
    may still be the one of the place before. acked_at: when. sends: how often the last transactional
    message was transferred. sent_at, sent_ms: when a transactional message was last transferred, in seconds and in the
    model's milliseconds; waits: the resend interval that began then, None while not known. interval: the resend
    interval as told; base: as told before any order acknowledgment came.
    unread: messages with source journaling that await their final acknowledgment. unread_plain: the number of the
    others. torn: it is not said what is sent again.
    """

    state: str = "INACTIVE"
    hops: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    sent: tuple[str, ...] = ()
    stored: frozenset[str] = frozenset()
    due: frozenset[str] = frozenset()
    why: str = ""
    numbers: tuple[tuple[str, int], ...] = ()
    following: int = 1
    sequence: int | None = None
    before: int | None = None
    acked: tuple[int | None, int] | None = (None, 0)
    acks: int | None = 0
    repeats: int | None = 0
    place: int | None = 0
    emptied: bool = False
    acked_at: Times = None
    sends: int = 0
    sent_at: Times = None
    sent_ms: int | None = None
    waits: int | None = None
    interval: int | None = None
    base: int | None = None
    unread: tuple[str, ...] = ()
    unread_plain: int = 0
    torn: bool = False

    @property
    def used(self) -> bool:
        """True once a message was transferred in it."""
        return bool(self.sent or self.numbers or self.acks != 0 or self.following > 1)

    @property
    def awaiting(self) -> dict[str, int]:
        """The messages without an order acknowledgment, with their numbers."""
        return dict(self.numbers)


@value
class Management:
    """What management has done and shown. The mapping is never changed in place.

    connected: whether the machine is connected to the network; None while not known. by: the action that connected or
    disconnected it. tidied: message files were cleaned up. weights: bytes that single queues told last, with what was
    in them. played: the harness plays all connections, so each state is known.
    """

    connected: bool | None = None
    by: str = ""
    tidied: bool = False
    sessions: Mapping[str, Session] = field(default_factory=dict)
    weights: tuple[tuple[str, frozenset[str], int], ...] = ()
    floor: int | None = None
    played: bool = False

    def having(self, queue: str, session: Session) -> Management:
        """Return the same with this session of an outgoing queue."""
        return replace(self, sessions={**self.sessions, queue: session})

    def key(self) -> object:
        """Return a value that is equal for equal slices, and can be hashed."""
        sessions = tuple(sorted((name, hash(session)) for name, session in self.sessions.items()))
        return self.connected, self.tidied, sessions, self.weights, self.floor, self.played
