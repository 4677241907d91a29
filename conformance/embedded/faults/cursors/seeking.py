"""Faults of finding the position of a read: lookup identifiers and cursor positions (MS-MQDMPR 3.1.7.3.3, 3.2.7)."""

from __future__ import annotations

from conformance.embedded.cursors import CursorOutcome, Cursors, Found
from conformance.embedded.entities import START_KEY, Cursor, CursorState, MqError, Position, Queue, State
from conformance.embedded.faults.base import Fault
from conformance.embedded.receiving import Receiving


class _Staying(Receiving):
    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        named = queue.positions.find(lookup)
        if action == "next" and named is not None and named.state is State.AVAILABLE:
            return named
        return super().seek(queue, lookup, action, destructive)


class NextGivesItself(Fault):
    """The message next to one is that one itself."""

    name = "next-gives-itself"
    breaks = ("MQDMPR-3.1.7.3.3.seek-next",)
    replaces = ("reading", _Staying)


class _Nearsighted(Receiving):
    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        found = super().seek(queue, lookup, action, destructive)
        return queue.positions.first_available() or found if action == "previous" else found


class PreviousGivesFirst(Fault):
    """The message before one is the first of the queue."""

    name = "previous-gives-first"
    breaks = ("MQDMPR-3.1.7.3.3.seek-previous",)
    replaces = ("reading", _Nearsighted)


class _Headstrong(Receiving):
    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        return super().seek(queue, lookup, "first" if action == "last" else action, destructive)


class LastGivesFirst(Fault):
    """The last message of a queue is its first."""

    name = "last-gives-first"
    breaks = ("MQDMPR-3.1.7.3.3.seek-last",)
    replaces = ("reading", _Headstrong)


class _Guessing(Receiving):
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
    breaks = (
        "MQDMPR-3.1.7.3.3.message-not-found",
        "MQDMPR-3.1.7.3.3.message-not-found-code",
    )
    replaces = ("reading", _Guessing)


class _Wrapping(Receiving):
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
    breaks = (
        "MQDMPR-3.1.7.3.3.neighbour-not-found",
        "MQDMPR-3.1.7.3.3.neighbour-not-found-code",
        "MQDMPR-3.1.7.3.3.seek-previous",
        "MQDMPR-3.1.7.3.3.seek-next",
    )
    replaces = ("reading", _Wrapping)


class _Intrusive(Receiving):
    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        named = queue.positions.find(lookup)
        if action == "current" and named is not None and not destructive and not named.uncommitted:
            return named
        return super().seek(queue, lookup, action, destructive)


class LookupPeeksLocked(Fault):
    """A peek by lookup identifier shows a message that a transaction has received."""

    name = "lookup-peeks-locked"
    breaks = (
        "MQDMPR-3.1.7.3.3.locked",
        "MQDMPR-3.1.7.3.3.locked-code",
        "MQDMPR-3.1.7.1.10.transaction-locks",
        "MQDMPR-3.1.7.3.2.allow-peek-when-locked",
        "MQDMPR-3.1.7.1.13.transaction-locks",
    )
    replaces = ("reading", _Intrusive)


class _Thieving(Receiving):
    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        named = queue.positions.find(lookup)
        if action == "current" and named is not None and destructive and named.state is State.LOCKED:
            return named
        return super().seek(queue, lookup, action, destructive)


class LookupReceivesLocked(Fault):
    """A receive by lookup identifier takes a message that a transaction holds, received or sent by it."""

    name = "lookup-receives-locked"
    breaks = (
        "MQDMPR-3.1.7.3.3.locked",
        "MQDMPR-3.1.7.1.10.transaction-locks",
        "MQDMPR-3.1.7.1.9.uncommitted-locked",
        "MQDMPR-3.1.7.1.13.transaction-locks",
    )
    replaces = ("reading", _Thieving)


class _Skipping(Receiving):
    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        found = super().seek(queue, lookup, action, destructive)
        further = queue.positions.after(found.key) if action == "next" else None
        return further or found


class NextSkipsOne(Fault):
    """The message next to one is the one after that."""

    name = "next-skips-one"
    breaks = ("MQDMPR-3.1.7.3.3.seek-next",)
    replaces = ("reading", _Skipping)


class _Homing(Cursors):
    def get_next_for_dequeue(self, cursor: Cursor, *, no_wait: bool) -> Found:
        outcome, found = super().get_next_for_dequeue(cursor, no_wait=no_wait)
        if outcome is CursorOutcome.SUCCEEDED:
            cursor.key = START_KEY
        return outcome, found


class CursorGoesHomeAfterReceive(Fault):
    """After a receive the cursor stands before the first message again."""

    name = "cursor-goes-home-after-receive"
    breaks = (
        "MQDMPR-3.2.7.4.continues",
        "MQDMPR-3.2.7.4.unread-seeks",
    )
    replaces = ("cursors", _Homing)


class _Drifting(Cursors):
    def get_for_peek(self, cursor: Cursor) -> Found:
        outcome, found = super().get_for_peek(cursor)
        if outcome is CursorOutcome.ALREADY_RECEIVED:
            ahead = self.seek(cursor)
            if ahead is not None:
                self.stand_at(cursor, ahead)
        return outcome, found


class FailedPeekMovesCursor(Fault):
    """A peek that fails because its cursor's message is gone moves the cursor on to the next."""

    name = "failed-peek-moves-cursor"
    breaks = ("MQDMPR-3.2.7.2.already-received-stays",)
    first_seen_as = ("MQDMPR-3.1.7.1.15.message-already-received",)
    because = "where the cursor is shows in the next peek, which finds a message in place of failing again"
    replaces = ("cursors", _Drifting)


class _Restarting(Cursors):
    def get_next_for_peek(self, cursor: Cursor) -> Found:
        outcome, found = super().get_next_for_peek(cursor)
        if outcome is CursorOutcome.ILLEGAL_CURSOR_ACTION and cursor.state is CursorState.UNREAD:
            cursor.key = START_KEY
        return outcome, found


class IllegalPeekNextRewinds(Fault):
    """A peek-next that is refused puts its cursor before the first message."""

    name = "illegal-peek-next-rewinds"
    breaks = ("MQDMPR-3.2.7.3.illegal-cursor-action-stays",)
    first_seen_as = ("MQDMPR-3.2.7.4.unread-seeks",)
    because = "where the cursor is shows in the next receive, which seeks from the wrong place"
    replaces = ("cursors", _Restarting)


class _Final(Cursors):
    def get_for_peek(self, cursor: Cursor) -> Found:
        outcome, found = super().get_for_peek(cursor)
        return (CursorOutcome.NOT_FOUND, None) if outcome is CursorOutcome.ALREADY_RECEIVED else (outcome, found)

    def get_next_for_dequeue(self, cursor: Cursor, *, no_wait: bool) -> Found:
        outcome, found = super().get_next_for_dequeue(cursor, no_wait=no_wait)
        return (CursorOutcome.NOT_FOUND, None) if outcome is CursorOutcome.ALREADY_RECEIVED else (outcome, found)


class ReceivedMessageNotFound(Fault):
    """A read with a cursor whose message is gone fails with MQ_ERROR_MESSAGE_NOT_FOUND."""

    name = "received-message-not-found"
    breaks = (
        "MQDMPR-3.1.7.1.10.message-already-received-code",
        "MQDMPR-3.1.7.1.15.message-already-received-code",
        "MQDMPR-3.1.7.1.11.message-already-received-code",
    )
    replaces = ("cursors", _Final)
