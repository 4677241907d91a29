"""Faults of finding the position of a read: lookup identifiers and cursor positions (MS-MQDMPR 3.1.7.3.3, 3.2.7)."""

from __future__ import annotations

from conformance.embedded.cursors import CursorOutcome, Cursors
from conformance.embedded.entities import START_KEY, CursorState, MqError, State
from conformance.embedded.faults.base import also, fault
from conformance.embedded.receiving import Receiving


@fault("next-gives-itself", Receiving.seek, "MQDMPR-3.1.7.3.3.seek-next")
def next_gives_itself(plain, self, queue, lookup, action, destructive):
    """The message next to one is that one itself."""
    named = queue.positions.find(lookup)
    if action == "next" and named is not None and named.state is State.AVAILABLE:
        return named
    return plain(queue, lookup, action, destructive)


@fault("previous-gives-first", Receiving.seek, "MQDMPR-3.1.7.3.3.seek-previous")
def previous_gives_first(plain, self, queue, lookup, action, destructive):
    """The message before one is the first of the queue."""
    found = plain(queue, lookup, action, destructive)
    return queue.positions.first_available() or found if action == "previous" else found


@fault("last-gives-first", Receiving.seek, "MQDMPR-3.1.7.3.3.seek-last")
def last_gives_first(plain, self, queue, lookup, action, destructive):
    """The last message of a queue is its first."""
    return plain(queue, lookup, "first" if action == "last" else action, destructive)


@fault(
    "missing-lookup-gives-first", Receiving.seek, "MQDMPR-3.1.7.3.3.message-not-found",
    "MQDMPR-3.1.7.3.3.message-not-found-code",
)  # fmt: skip
def missing_lookup_gives_first(plain, self, queue, lookup, action, destructive):
    """A lookup identifier that no message has leads to the first message."""
    try:
        return plain(queue, lookup, action, destructive)
    except MqError:
        found = queue.positions.first_available() if queue.positions.find(lookup) is None else None
        if found is None:
            raise
        return found


@fault(
    "lookup-wraps-around", Receiving.seek, "MQDMPR-3.1.7.3.3.neighbour-not-found",
    "MQDMPR-3.1.7.3.3.neighbour-not-found-code", "MQDMPR-3.1.7.3.3.seek-previous", "MQDMPR-3.1.7.3.3.seek-next",
)  # fmt: skip
def lookup_wraps_around(plain, self, queue, lookup, action, destructive):
    """Behind the last message comes the first again, and before the first the last."""
    try:
        return plain(queue, lookup, action, destructive)
    except MqError:
        named = queue.positions.find(lookup)
        if named is None or action not in ("next", "previous"):
            raise
        return plain(queue, 0, "first" if action == "next" else "last", destructive)


@fault(
    "lookup-peeks-locked", Receiving.seek, "MQDMPR-3.1.7.3.3.locked", "MQDMPR-3.1.7.3.3.locked-code",
    "MQDMPR-3.1.7.1.10.transaction-locks", "MQDMPR-3.1.7.3.2.allow-peek-when-locked",
    "MQDMPR-3.1.7.1.13.transaction-locks",
)  # fmt: skip
def lookup_peeks_locked(plain, self, queue, lookup, action, destructive):
    """A peek by lookup identifier shows a message that a transaction has received."""
    named = queue.positions.find(lookup)
    if action == "current" and named is not None and not destructive and not named.uncommitted:
        return named
    return plain(queue, lookup, action, destructive)


@fault(
    "lookup-receives-locked", Receiving.seek, "MQDMPR-3.1.7.3.3.locked", "MQDMPR-3.1.7.1.10.transaction-locks",
    "MQDMPR-3.1.7.1.9.uncommitted-locked", "MQDMPR-3.1.7.1.13.transaction-locks",
)  # fmt: skip
def lookup_receives_locked(plain, self, queue, lookup, action, destructive):
    """A receive by lookup identifier takes a message that a transaction holds, received or sent by it."""
    named = queue.positions.find(lookup)
    if action == "current" and named is not None and destructive and named.state is State.LOCKED:
        return named
    return plain(queue, lookup, action, destructive)


@fault("next-skips-one", Receiving.seek, "MQDMPR-3.1.7.3.3.seek-next")
def next_skips_one(plain, self, queue, lookup, action, destructive):
    """The message next to one is the one after that."""
    found = plain(queue, lookup, action, destructive)
    further = queue.positions.after(found.key) if action == "next" else None
    return further or found


@fault(
    "cursor-goes-home-after-receive", Cursors.get_next_for_dequeue, "MQDMPR-3.2.7.4.continues",
    "MQDMPR-3.2.7.4.unread-seeks",
)  # fmt: skip
def cursor_goes_home_after_receive(plain, self, cursor, *, no_wait):
    """After a receive the cursor stands before the first message again."""
    outcome, found = plain(cursor, no_wait=no_wait)
    if outcome is CursorOutcome.SUCCEEDED:
        cursor.key = START_KEY
    return outcome, found


@fault(
    "failed-peek-moves-cursor", Cursors.get_for_peek, "MQDMPR-3.2.7.2.already-received-stays",
    first_seen_as=("MQDMPR-3.1.7.1.15.message-already-received",),
    because="where the cursor is shows in the next peek, which finds a message in place of failing again",
)  # fmt: skip
def failed_peek_moves_cursor(plain, self, cursor):
    """A peek that fails because its cursor's message is gone moves the cursor on to the next."""
    outcome, found = plain(cursor)
    if outcome is CursorOutcome.ALREADY_RECEIVED:
        ahead = self.seek(cursor)
        if ahead is not None:
            self.stand_at(cursor, ahead)
    return outcome, found


@fault(
    "illegal-peek-next-rewinds", Cursors.get_next_for_peek, "MQDMPR-3.2.7.3.illegal-cursor-action-stays",
    first_seen_as=("MQDMPR-3.2.7.4.unread-seeks",),
    because="where the cursor is shows in the next receive, which seeks from the wrong place",
)  # fmt: skip
def illegal_peek_next_rewinds(plain, self, cursor):
    """A peek-next that is refused puts its cursor before the first message."""
    outcome, found = plain(cursor)
    if outcome is CursorOutcome.ILLEGAL_CURSOR_ACTION and cursor.state is CursorState.UNREAD:
        cursor.key = START_KEY
    return outcome, found


@fault(
    "received-message-not-found", Cursors.get_for_peek, "MQDMPR-3.1.7.1.10.message-already-received-code",
    "MQDMPR-3.1.7.1.15.message-already-received-code", "MQDMPR-3.1.7.1.11.message-already-received-code",
)  # fmt: skip
def received_message_not_found(plain, self, cursor):
    """A read with a cursor whose message is gone fails with MQ_ERROR_MESSAGE_NOT_FOUND."""
    outcome, found = plain(cursor)
    return (CursorOutcome.NOT_FOUND, None) if outcome is CursorOutcome.ALREADY_RECEIVED else (outcome, found)


@also("received-message-not-found", Cursors.get_next_for_dequeue)
def received_message_not_found_get_next_for_dequeue(plain, self, cursor, *, no_wait):
    outcome, found = plain(cursor, no_wait=no_wait)
    return (CursorOutcome.NOT_FOUND, None) if outcome is CursorOutcome.ALREADY_RECEIVED else (outcome, found)
