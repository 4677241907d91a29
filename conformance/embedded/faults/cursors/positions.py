"""Faults of cursors: where they stand, what their calls answer, and what they change beside (MS-MQDMPR 3.2.7)."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.cursors import CursorOutcome, Cursors
from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import (
    END_KEY,
    SEQUENCE_BITS,
    START_KEY,
    Cursor,
    CursorState,
    Descriptor,
    Message,
    MqError,
    Position,
    PositionList,
    State,
    Transaction,
)
from conformance.embedded.faults.base import also, fault
from conformance.embedded.receiving import STATUS_NOT_FOUND, Caller, Receiving
from conformance.spec.constants.hresults import (
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
    MQ_ERROR_MESSAGE_NOT_FOUND,
)


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


@fault("second-cursor-refused", Cursors.open, "MQDMPR-3.1.7.1.1.opened")
def second_cursor_refused(plain, self, descriptor):
    """A handle has one cursor at most."""
    if descriptor.cursors:
        raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
    return plain(descriptor)


@fault(
    "cursor-closes-again", Cursors.close, "MQDMPR-3.1.7.1.2.closed",
    first_seen_as=("MQDMPR-3.1.7.1.6.cursors-closed",),
    because="a cursor that its handle closed, and that closes again, looks as if it had stayed open",
)  # fmt: skip
def cursor_closes_again(plain, self, cursor):
    """A cursor that was closed can be closed again."""
    if cursor.descriptor.handle in self.manager.descriptors:
        plain(cursor)
        cursor.descriptor = Descriptor("", "receive", "deny_none", None)
        self.manager.cursor_handles[cursor.handle] = cursor


# The first read with such a cursor finds nothing, or waits, where there are messages.
@fault(
    "cursor-starts-at-end", Cursors.open, "MQDMPR-3.2.7.1.starts-before-first",
    first_seen_as=("MQDMPR-3.2.7.2.unread-seeks",),
    because="where a cursor starts is seen by its first read alone, which seeks from there",
)  # fmt: skip
def cursor_starts_at_end(plain, self, descriptor):
    """A new cursor stands behind the messages that were there when it was opened."""
    cursor = plain(descriptor)
    queue = descriptor.queue
    there = list(queue.positions) if queue is not None else []
    if there:
        cursor.key = there[-1].key
    return cursor


@fault(
    "woken-cursor-stays", Cursors.message_available, "MQDMPR-3.2.7.5.position",
    first_seen_as=("MQDMPR-3.2.7.4.unread-seeks",),
    because="where the cursor is shows in the next receive, which seeks from the wrong place",
)  # fmt: skip
def woken_cursor_stays(plain, self, cursor, position):
    """A cursor whose wait a message ended shows it, and goes on from where it stood before."""
    before = cursor.key
    plain(cursor, position)
    cursor.key = before


@fault(
    "woken-receive-stays-read", Cursors.message_available, "MQDMPR-3.2.7.5.receive-becomes-unread",
    first_seen_as=("MQDMPR-3.2.7.2.unread-seeks",),
    because="what the cursor counts as peeked shows in the next peek, which does not seek",
)  # fmt: skip
def woken_receive_stays_read(plain, self, cursor, position):
    """A receive that waited with a cursor leaves it as if its message had been peeked."""
    received = cursor.state is CursorState.WAIT_RECEIVE
    plain(cursor, position)
    if received:
        cursor.state = CursorState.READ


@fault("failed-receive-moves-cursor", Cursors.get_next_for_dequeue, "MQDMPR-3.2.7.4.already-received-stays")
def failed_receive_moves_cursor(plain, self, cursor, *, no_wait):
    """After a receive that failed because its cursor's message is gone, peek-next finds nothing any more."""
    outcome, found = plain(cursor, no_wait=no_wait)
    if outcome is CursorOutcome.ALREADY_RECEIVED:
        cursor.key = END_KEY
    return outcome, found


@fault(
    "empty-receive-ends-cursor", Cursors.get_next_for_dequeue, "MQDMPR-3.2.7.4.not-found-stays", "MQDMPR-3.2.7.6.usable"
)
def empty_receive_ends_cursor(plain, self, cursor, *, no_wait):
    """After a receive that found nothing behind its cursor nothing is ever found behind it."""
    outcome, found = plain(cursor, no_wait=no_wait)
    if outcome is CursorOutcome.NOT_FOUND:
        cursor.key = END_KEY
    return outcome, found


@fault("cursor-receive-wrong-status", Receiving.receive, "MQDMPR-3.1.7.1.10.message-not-found-code")
def cursor_receive_wrong_status(plain, self, caller, at, cursor, timeout_ms, transaction):
    """A receive that finds nothing behind its cursor fails with MQ_ERROR_INVALID_PARAMETER."""
    try:
        plain(caller, at, cursor, timeout_ms, transaction)
    except MqError as failure:
        if cursor is None or failure.status != MQ_ERROR_MESSAGE_NOT_FOUND:
            raise
        raise MqError(MQ_ERROR_INVALID_PARAMETER) from None


@fault("failed-receive-takes-another", Receiving.receive, "MQDMPR-3.1.7.1.10.already-received-ends")
def failed_receive_takes_another(plain, self, caller, at, cursor, timeout_ms, transaction):
    """A receive that fails because its cursor's message is gone takes the front of the queue away."""
    try:
        plain(caller, at, cursor, timeout_ms, transaction)
    except MqError as failure:
        another = self.first(at.queue, True) if at.queue is not None else None
        if failure.status == MQ_ERROR_MESSAGE_ALREADY_RECEIVED and another is not None:
            self.take(another, transaction)
        raise


@fault(
    "peek-never-waits", Receiving.peek, "MQDMPR-3.1.7.1.15.waits", "MQDMPR-3.1.7.1.15.wakes",
    "MQDMPR-3.1.7.3.1.no-early-timeout",
)  # fmt: skip
def peek_never_waits(plain, self, caller, at, cursor, timeout_ms):
    """A peek that finds nothing fails at once, whatever time it has."""
    plain(caller, at, cursor, 0)


@fault("cancel-denies-success", Receiving.cancel, "MQDMPR-3.1.7.1.17.success")
def cancel_denies_success(plain, self, tag):
    """A cancel ends the read it names and answers that no such read waits."""
    plain(tag)
    raise MqError(STATUS_NOT_FOUND)


@fault(
    "ignores-priority", "positions", "MQDMPR-3.1.1.2.priority-before-arrival",
    "MQMQ-2.2.19.1.higher-priority-nearer-front", "MQMP-2.2.3.2.p-priority",
    first_seen_as=("MQDMPR-3.1.7.3.3.seek-last",),
    because="the last message of a queue is another in the order of arrival, and a seek for it comes before two reads",
)  # fmt: skip
class IgnoresPriority(PositionList):
    """Messages stand in the order of their arrival, whatever their priority."""

    @staticmethod
    def order(message: Message, sequence: int) -> int:
        return sequence


@fault(
    "lookup-id-not-increasing", "positions", "MQDMPR-3.1.7.1.9.lookup-identifier-increases",
    "MQDMPR-3.1.1.12.lookup-identifier-order", "MQDMPR-3.1.7.1.9.lookup-identifier-sequence",
)  # fmt: skip
class LookupIdNotIncreasing(PositionList):
    """Lookup identifiers fall from one message to the next."""

    @staticmethod
    def lookup_identifier(message: Message, sequence: int) -> int:
        rising = PositionList.lookup_identifier(message, sequence)
        return rising - sequence + ((1 << SEQUENCE_BITS) - 1 - sequence)


@fault("delivers-twice", Delivery.arrived, "MQDMPR-3.1.7.1.9.once")
def delivers_twice(plain, self, message, queue):
    """A message sent outside any transaction is in its queue twice."""
    plain(message, queue)
    if queue.kind != "outgoing" and not message.transactional:
        self.place(queue, replace(message), limited=False)


@fault("closed-cursor-rewinds-others", Cursors.close, "MQDMPR-3.1.7.1.2.others-kept")
def closed_cursor_rewinds_others(plain, self, cursor):
    """Closing a cursor sends the other cursors of its handle back to the front of the queue."""
    plain(cursor)
    for other in cursor.descriptor.cursors:
        if other.state is CursorState.READ:
            other.state, other.key, other.position = CursorState.UNREAD, START_KEY, None


@fault(
    "illegal-peek-next-advances", Cursors.get_next_for_peek, "MQDMPR-3.2.7.3.illegal-cursor-action-stays",
    "MQDMPR-3.2.7.4.continues", "MQDMPR-3.2.7.4.unread-seeks", "MQDMPR-3.2.7.2.unread-seeks",
    "MQDMPR-3.2.7.1.starts-before-first",
)  # fmt: skip
def illegal_peek_next_advances(plain, self, cursor):
    """A peek-next with a cursor that has no peeked message is refused, and takes the cursor a message further."""
    outcome, found = plain(cursor)
    if outcome is CursorOutcome.ILLEGAL_CURSOR_ACTION:
        skipped = self.seek(cursor)
        if skipped is not None:
            self.stand_at(cursor, skipped)
    return outcome, found


@fault(
    "timed-out-cursor-is-stuck", Cursors.wait_expired, "MQDMPR-3.2.7.6.usable", "MQDMPR-3.2.7.6.receive-at-end",
    "MQDMPR-3.2.7.6.receive-unread", "MQDMPR-3.2.7.6.peek-unread", first_seen_as=("MQDMPR-3.1.7.1.10.waits",),
    because="the first read with such a cursor that finds no message is refused where it would wait",
)  # fmt: skip
def timed_out_cursor_is_stuck(plain, self, cursor):
    """A cursor whose wait timed out counts as waiting for ever: every later read with it is refused."""
    waiting = cursor.state
    plain(cursor)
    cursor.state = waiting


@fault("last-message-for-every-handle", "reading", "MQDMPR-3.1.7.1.10.at-most-once", "MQDMPR-3.1.7.1.10.removes")
class LastMessageForEveryHandle(Receiving):
    """The last message of a queue that one handle receives is received by the next handle that asks, too."""

    _last: tuple[Descriptor, Position] | None = None

    def receive(
        self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int, transaction: Transaction | None
    ) -> None:
        queue = self.readable_queue(at, destructive=True)
        last, plain = self._last, cursor is None and transaction is None and timeout_ms == 0
        before = self.first(queue, True) if plain else None
        if plain and before is None and last is not None and last[0] is not at and last[0].queue is queue:
            self._last = None
            caller.answer(self.show(last[1]))
            return
        super().receive(caller, at, cursor, timeout_ms, transaction)
        if before is not None:
            self._last = at, before
