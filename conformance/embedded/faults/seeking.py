"""Faults of where a read goes: lookup identifiers and the places of cursors (MS-MQDMPR 3.1.7.3.3, 3.2.7)."""

from __future__ import annotations

from conformance.embedded.cursors import Cursors, Found, Outcome
from conformance.embedded.entities import START_KEY, Cursor, CursorState, MqError, Position, Queue, State
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import BEHIND, SURPLUS, dmpr
from conformance.embedded.reading import Reading

_READ_WRONG = dmpr("3.1.7.1.13.gives-message", "3.1.7.1.13.takes-position")


class _Staying(Reading):
    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        named = queue.positions.find(lookup)
        if action == "next" and named is not None and named.state is State.AVAILABLE:
            return named
        return super().seek(queue, lookup, action, destructive)


class NextGivesItself(Fault):
    """The message next to one is that one itself."""

    name = "next-gives-itself"
    suite = "cursors"
    breaks = (
        *dmpr("3.1.7.3.3.seek-next", "3.1.7.3.3.next-forward", "3.1.7.3.3.next-position", "3.1.1.17.seek-next"),
        *dmpr("3.1.7.3.3.edge-not-found"),
        *_READ_WRONG,
    )
    replaces = ("reading", _Staying)


class _Nearsighted(Reading):
    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        found = super().seek(queue, lookup, action, destructive)
        return queue.positions.first_available() or found if action == "previous" else found


class PreviousGivesFirst(Fault):
    """The message before one is the first of the queue."""

    name = "previous-gives-first"
    suite = "cursors"
    breaks = (
        *dmpr("3.1.7.3.3.seek-previous", "3.1.7.3.3.previous-backward", "3.1.1.17.seek-previous", "3.1.7.3.2.backward"),
        *_READ_WRONG,
    )
    replaces = ("reading", _Nearsighted)


class _Headstrong(Reading):
    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        return super().seek(queue, lookup, "first" if action == "last" else action, destructive)


class LastGivesFirst(Fault):
    """The last message of a queue is its first."""

    name = "last-gives-first"
    suite = "cursors"
    breaks = (
        *dmpr("3.1.7.3.3.seek-last", "3.1.7.3.3.last-backward", "3.1.1.17.seek-last", "3.1.7.3.2.backward"),
        *dmpr("3.1.1.2.tail"),
        *_READ_WRONG,
    )
    replaces = ("reading", _Headstrong)


class _Guessing(Reading):
    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        try:
            return super().seek(queue, lookup, action, destructive)
        except MqError:
            found = queue.positions.first_available() if queue.positions.find(lookup) is None else None
            if found is None:
                raise
            return found


class MissingLookupGivesFirst(Fault):
    """A lookup identifier that no message has leads to the first message."""

    name = "missing-lookup-gives-first"
    suite = "cursors"
    breaks = dmpr(
        "3.1.7.3.3.message-not-found",
        "3.1.7.3.3.message-not-found-code",
        "3.1.7.3.3.neighbour-not-found",
        "3.1.7.3.3.neighbour-not-found-code",
        "3.1.7.3.3.initial-missing",
        "3.1.7.3.3.initial-missing-status",
        "3.1.7.3.3.initial-missing-ends",
        "3.1.7.1.13.seek-failed",
        "3.1.7.1.13.seek-failed-ends",
    )
    replaces = ("reading", _Guessing)


class _Wrapping(Reading):
    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        try:
            return super().seek(queue, lookup, action, destructive)
        except MqError:
            named = queue.positions.find(lookup)
            if named is None or action not in ("next", "previous"):
                raise
            return super().seek(queue, 0, "first" if action == "next" else "last", destructive)


class LookupWrapsAround(Fault):
    """Behind the last message comes the first again, and before the first the last."""

    name = "lookup-wraps-around"
    suite = "cursors"
    breaks = (
        *dmpr("3.1.7.3.3.neighbour-not-found", "3.1.7.3.3.neighbour-not-found-code"),
        *dmpr("3.1.7.3.3.edge-not-found", "3.1.7.3.3.seek-next", "3.1.7.3.3.seek-previous", "3.1.7.1.13.seek-failed"),
        *dmpr("3.1.7.3.3.status-mq-error-message-not-found", "3.1.7.1.13.seek-failed-ends"),
    )
    replaces = ("reading", _Wrapping)


class _Intrusive(Reading):
    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        named = queue.positions.find(lookup)
        if action == "current" and named is not None and not destructive and not named.uncommitted:
            return named
        return super().seek(queue, lookup, action, destructive)


class LookupPeeksLocked(Fault):
    """A peek by lookup identifier shows a message that a transaction has received."""

    name = "lookup-peeks-locked"
    suite = "cursors"
    breaks = dmpr(
        "3.1.7.1.13.transaction-locks",
        "3.1.7.3.3.locked",
        "3.1.7.3.3.locked-code",
        "3.1.7.3.3.current-locked-refused",
        "3.1.7.3.3.current-available",
        "3.1.1.12.allow-peek-when-locked",
        "3.1.1.12.allow-peek-when-locked-false",
        "3.1.1.11.uncommitted-receive-hidden",
        "3.1.7.1.13.available-or-locked",
    )
    replaces = ("reading", _Intrusive)


class _Thieving(Reading):
    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        named = queue.positions.find(lookup)
        if action == "current" and named is not None and destructive and named.state is State.LOCKED:
            return named
        return super().seek(queue, lookup, action, destructive)


class LookupReceivesLocked(Fault):
    """A receive by lookup identifier takes a message that a transaction holds, received or sent by it."""

    name = "lookup-receives-locked"
    suite = "cursors"
    breaks = (
        *dmpr(
            "3.1.7.1.13.transaction-locks",
            "3.1.7.3.3.locked",
            "3.1.7.3.3.locked-code",
            "3.1.7.3.3.current-receive",
            "3.1.7.3.3.current-receive-status",
            "3.1.7.1.9.position-locked",
            "3.1.7.1.9.uncommitted-locked",
            "3.1.1.11.uncommitted-receive-hidden",
            "3.1.1.11.uncommitted-send-invisible",
            "3.1.4.5.receives-return",
            "3.1.4.4.sends-appear",
        ),
        *SURPLUS,
    )
    replaces = ("reading", _Thieving)


class _Skipping(Reading):
    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        found = super().seek(queue, lookup, action, destructive)
        further = queue.positions.after(found.key) if action == "next" else None
        return further or found


class NextSkipsOne(Fault):
    """The message next to one is the one after that."""

    name = "next-skips-one"
    suite = "cursors"
    breaks = (*dmpr("3.1.7.3.3.seek-next", "3.1.7.3.3.next-forward", "3.1.1.17.seek-next"), *_READ_WRONG)
    replaces = ("reading", _Skipping)


class _Homing(Cursors):
    def get_next_for_dequeue(self, cursor: Cursor, *, no_wait: bool) -> Found:
        outcome, found = super().get_next_for_dequeue(cursor, no_wait=no_wait)
        if outcome is Outcome.SUCCEEDED:
            cursor.key = START_KEY
        return outcome, found


class CursorGoesHomeAfterReceive(Fault):
    """After a receive the cursor stands before the first message again."""

    name = "cursor-goes-home-after-receive"
    suite = "cursors"
    breaks = (
        *dmpr("3.2.7.4.found-moves", "3.1.7.1.10.cursor-position", "3.2.7.4.not-found", "3.2.7.4.waits"),
        *dmpr("3.1.7.1.10.cursor-waits", "3.1.7.1.15.cursor-waits", "3.2.7.2.waits", "3.1.7.3.2.removed-position"),
        *dmpr("3.1.1.11.next-of-removed"),
        *BEHIND,
    )
    replaces = ("cursors", _Homing)


class _Drifting(Cursors):
    def get_for_peek(self, cursor: Cursor) -> Found:
        outcome, found = super().get_for_peek(cursor)
        if outcome is Outcome.ALREADY_RECEIVED:
            ahead = self.seek(cursor)
            if ahead is not None:
                self.stand_at(cursor, ahead)
        return outcome, found


class FailedPeekMovesCursor(Fault):
    """A peek that fails because its cursor's message is gone moves the cursor on to the next."""

    name = "failed-peek-moves-cursor"
    suite = "cursors"
    breaks = (
        *dmpr("3.2.7.2.already-received-stays", "3.2.7.2.already-received", "3.1.7.1.15.message-already-received"),
        *dmpr("3.2.7.4.already-received", "3.1.7.1.10.message-already-received", "3.1.7.1.15.already-received-ends"),
        *BEHIND,
    )
    replaces = ("cursors", _Drifting)


class _Restarting(Cursors):
    def get_next_for_peek(self, cursor: Cursor) -> Found:
        outcome, found = super().get_next_for_peek(cursor)
        if outcome is Outcome.ILLEGAL_CURSOR_ACTION and cursor.state is CursorState.UNREAD:
            cursor.key = START_KEY
        return outcome, found


class IllegalPeekNextRewinds(Fault):
    """A peek-next that is refused puts its cursor before the first message."""

    name = "illegal-peek-next-rewinds"
    suite = "cursors"
    breaks = (
        *dmpr("3.2.7.3.illegal-cursor-action-stays", "3.1.7.1.14.illegal-cursor-action-ends", "3.2.7.6.receive-at-end"),
        *dmpr("3.2.7.2.waits", "3.2.7.4.waits", "3.1.7.1.10.cursor-waits", "3.1.7.1.15.cursor-waits"),
        *BEHIND,
    )
    replaces = ("cursors", _Restarting)


class _Seeing(Cursors):
    def get_next_for_peek(self, cursor: Cursor) -> Found:
        queue = cursor.descriptor.queue
        if cursor.state is CursorState.READ and queue is not None:
            hidden = [each for each in queue.positions if each.key > cursor.key and each.state is State.LOCKED]
            plain = self.seek(cursor)
            if hidden and not hidden[0].uncommitted and (plain is None or hidden[0].key < plain.key):
                self.stand_at(cursor, hidden[0])
                return Outcome.SUCCEEDED, hidden[0]
        return super().get_next_for_peek(cursor)


class PeekNextShowsLocked(Fault):
    """A peek-next shows a message that a transaction has received."""

    name = "peek-next-shows-locked"
    suite = "transactions"
    breaks = (
        *dmpr("3.2.7.3.skips-unavailable", "3.1.7.1.14.next-available", "3.1.1.12.allow-peek-when-locked"),
        *dmpr("3.1.1.12.allow-peek-when-locked-false", "3.1.1.11.uncommitted-receive-hidden", "3.1.7.1.14.no-wait"),
        *dmpr("3.1.7.1.14.waits", "3.2.7.3.waits"),
    )
    replaces = ("cursors", _Seeing)


class _Final(Cursors):
    def get_for_peek(self, cursor: Cursor) -> Found:
        outcome, found = super().get_for_peek(cursor)
        return (Outcome.NOT_FOUND, None) if outcome is Outcome.ALREADY_RECEIVED else (outcome, found)

    def get_next_for_dequeue(self, cursor: Cursor, *, no_wait: bool) -> Found:
        outcome, found = super().get_next_for_dequeue(cursor, no_wait=no_wait)
        return (Outcome.NOT_FOUND, None) if outcome is Outcome.ALREADY_RECEIVED else (outcome, found)


class ReceivedMessageNotFound(Fault):
    """A read with a cursor whose message is gone fails with MQ_ERROR_MESSAGE_NOT_FOUND."""

    name = "received-message-not-found"
    suite = "cursors"
    breaks = dmpr(
        "3.1.7.1.10.message-already-received-code",
        "3.1.7.1.11.message-already-received-code",
        "3.1.7.1.15.message-already-received-code",
        "3.1.7.1.11.same-status",
    )
    replaces = ("cursors", _Final)


SEEKING_FAULTS: tuple[type[Fault], ...] = (
    NextGivesItself,
    PreviousGivesFirst,
    LastGivesFirst,
    MissingLookupGivesFirst,
    LookupWrapsAround,
    LookupPeeksLocked,
    LookupReceivesLocked,
    NextSkipsOne,
    CursorGoesHomeAfterReceive,
    FailedPeekMovesCursor,
    IllegalPeekNextRewinds,
    PeekNextShowsLocked,
    ReceivedMessageNotFound,
)
