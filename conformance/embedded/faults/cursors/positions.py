"""Faults of cursors and reads: where a cursor stands, which message comes, the wait, the answer and what is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import (
    END_KEY,
    INFINITE,
    SEQUENCE_BITS,
    START_KEY,
    Cursor,
    CursorState,
    Descriptor,
    Message,
    MqError,
    Position,
    PositionList,
    Reason,
    Result,
    State,
    Transaction,
    Waiter,
)
from conformance.embedded.faults.base import also, fault
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import STATUS_NOT_FOUND, Caller, CursorOutcome, Cursors, Receiving
from conformance.spec.constants.hresults import (
    MQ_ERROR,
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
    MQ_ERROR_MESSAGE_NOT_FOUND,
    MQ_ERROR_OPERATION_CANCELLED,
    MQ_INFORMATION_OPERATION_PENDING,
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


@fault(
    "wrong-timeout-status", Receiving.timeout_status, "MQDMPR-3.1.7.1.10.io-timeout-code",
    "MQDMPR-3.1.7.1.15.io-timeout-code", "MQDMPR-3.1.7.1.14.io-timeout-code", "MQDMPR-3.1.7.1.15.no-wait-code",
)  # fmt: skip
def wrong_timeout_status(plain, self, *, polled):
    """A read whose time is over fails with the generic MQ_ERROR."""
    return MQ_ERROR


@fault("peek-removes-message", Receiving.peeked, "MQDMPR-3.1.7.1.15.keeps")
def peek_removes_message(plain, self, position):
    """A peek takes the message out of its queue."""
    shown = plain(position)
    self.manager.delivery.delete(position, Reason.RECEIVED)
    return shown


@fault("receive-keeps-message", Receiving.take, "MQDMPR-3.1.7.1.10.removes", "MQDMPR-3.1.7.1.10.at-most-once")
def receive_keeps_message(plain, self, position, transaction):
    """A receive outside any transaction leaves the message in its queue, to be received again."""
    return self.show(position) if transaction is None else plain(position, transaction)


@fault(
    "cursor-moves-on-peek", Cursors.get_for_peek, "MQDMPR-3.2.7.2.read-stays", "MQDMPR-3.1.7.1.15.cursor-position",
    "MQDMPR-3.2.7.2.current-ends",
)  # fmt: skip
def cursor_moves_on_peek(plain, self, cursor):
    """A peek with a cursor that has a peeked message goes on to the next one."""
    if cursor.state is CursorState.READ:
        found = self.seek(cursor)
        if found is not None:
            self.stand_at(cursor, found)
            return CursorOutcome.SUCCEEDED, found
    return plain(cursor)


@fault(
    "cursor-stays-read-after-receive", Cursors.state_after_dequeue, "MQDMPR-3.2.7.4.becomes-unread",
    "MQDMPR-3.2.7.4.continues", "MQDMPR-3.2.7.4.unread-seeks",
)  # fmt: skip
def cursor_stays_read_after_receive(plain, self):
    """After a receive of the peeked message the cursor still counts as having peeked one."""
    return CursorState.READ


@fault(
    "peek-next-on-unread-cursor", Cursors.get_next_for_peek, "MQDMPR-3.2.7.3.illegal-cursor-action",
    "MQDMPR-3.2.7.3.illegal-cursor-action-code", "MQDMPR-3.1.7.1.14.illegal-cursor-action",
    "MQDMPR-3.1.7.1.14.illegal-cursor-action-code",
)  # fmt: skip
def peek_next_on_unread_cursor(plain, self, cursor):
    """A peek-next with a cursor that has peeked nothing gives the next message instead of failing."""
    if cursor.state is CursorState.UNREAD and self.seek(cursor) is not None:
        return self.get_for_peek(cursor)
    return plain(cursor)


@fault("cursor-survives-its-queue-close", Queues.close_cursors, "MQDMPR-3.1.7.1.6.cursors-closed")
def cursor_survives_its_queue_close(plain, self, descriptor):
    """Closing a handle leaves its cursors open."""


@fault(
    "latest-waiter-first", Delivery.make_available, "MQDMPR-3.1.7.2.2.fifo-in-handle",
    "MQDMPR-3.1.1.16.waiting-reads-in-order", first_seen_as=("MQDMPR-3.1.7.1.15.wakes",),
    because="a receive that came late takes the message from the peek that was to be woken before it",
)  # fmt: skip
def latest_waiter_first(plain, self, position):
    """The read that came last gets the message when several wait."""
    waiters = position.queue.waiters
    waiters.reverse()
    plain(position)
    waiters.reverse()


@fault(
    "one-message-for-all-waiters", Delivery.make_available, "MQDMPR-3.1.7.2.2.one-destructive",
    "MQDMPR-3.1.7.1.10.at-most-once", "MQDMPR-3.1.7.2.2.others-remain",
)  # fmt: skip
def one_message_for_all_waiters(plain, self, position):
    """One message ends every receive that waits: each of them gets it."""
    plain(position)
    if position.state is State.DELETED:
        for waiter in [each for each in position.queue.waiters if each.destructive]:
            self.satisfy(waiter, position)


def _ghost(waiter: Waiter) -> Waiter:
    """The ghost of a wait that ended: it still takes a message, and tells nobody."""

    def swallow(position: Position) -> Result:
        position.queue.positions.remove(position)
        position.state = State.DELETED
        return {}

    def to_nobody(result: Result) -> None:
        return

    return Waiter(None, waiter.descriptor, waiter.queue, True, None, swallow, to_nobody)


class _Haunted(Receiving):
    swallowing = MQ_ERROR_IO_TIMEOUT

    def _fail(self, waiter: Waiter, status: int) -> None:
        waited = waiter in waiter.queue.waiters
        super()._fail(waiter, status)
        if waited and waiter.destructive and status == self.swallowing and not waiter.queue.deleted:
            waiter.queue.waiters.append(_ghost(waiter))


fault(
    "timed-out-read-swallows", "reading", "MQDMPR-3.1.7.1.10.timed-out-takes-nothing", "MQDMPR-3.1.7.3.1.cleaned-up",
    says="A receive that timed out takes the next message all the same, and gives it to nobody.",
)(_Haunted)  # fmt: skip


@fault("cancelled-read-swallows", "reading", "MQDMPR-3.1.7.1.17.takes-nothing", "MQDMPR-3.1.7.3.1.cleaned-up")
class CancelledReadSwallows(_Haunted):
    """A receive that was cancelled takes the next message all the same, and gives it to nobody."""

    swallowing = MQ_ERROR_OPERATION_CANCELLED


@fault("cancel-ends-all-waits", Receiving.cancel, "MQDMPR-3.1.7.1.17.others-kept")
def cancel_ends_all_waits(plain, self, tag):
    """Cancelling one read ends every read that waits on the same queue."""
    queue = next((w.queue for q in self.manager.queues.all() for w in q.waiters if w.tag == tag), None)
    plain(tag)
    if queue is not None:
        self.cancel_all(list(queue.waiters))


@fault(
    "cancel-of-nothing-succeeds", Receiving.cancel, "MQDMPR-3.1.7.1.17.not-found", "MQDMPR-3.1.7.1.17.not-found-code"
)
def cancel_of_nothing_succeeds(plain, self, tag):
    """Cancelling a read that does not wait succeeds."""
    for queue in self.manager.queues.all():
        self.cancel_all([waiter for waiter in queue.waiters if waiter.tag == tag])


@fault(
    "cancelled-read-times-out", Receiving.cancel_all, "MQDMPR-3.1.7.1.17.cancelled",
    "MQDMPR-3.1.7.1.6.pending-read-cancelled-code",
)  # fmt: skip
def cancelled_read_times_out(plain, self, waiters, status=MQ_ERROR_OPERATION_CANCELLED):
    """A read that is cancelled, or whose handle is closed, ends with MQ_ERROR_IO_TIMEOUT."""
    plain(waiters, MQ_ERROR_IO_TIMEOUT if status == MQ_ERROR_OPERATION_CANCELLED else status)


class _Impatient(Receiving):
    def patience(self, timeout_ms: int) -> int:
        return timeout_ms if timeout_ms in (0, INFINITE) else max(1, timeout_ms // 2)


fault(
    "wait-ends-early", "reading", "MQDMPR-3.1.7.3.1.no-early-timeout", "MQDMPR-3.1.7.1.10.waits",
    "MQDMPR-3.1.7.1.15.waits", says="A read waits half the time it was given.",
)(_Impatient)  # fmt: skip


@fault("infinite-wait-ends", "reading", "MQDMPR-3.1.2.3.infinite", "MQDMPR-3.1.7.3.1.no-early-timeout")
class InfiniteWaitEnds(_Impatient):
    """A read that may wait without end gives up after a second."""

    def patience(self, timeout_ms: int) -> int:
        return 1000 if timeout_ms == INFINITE else timeout_ms


@fault(
    "wait-counts-seconds", "reading", "MQDMPR-3.1.2.3.expires", "MQMP-2.2.3.2.request-timeout",
    first_seen_as=("MQDMPR-3.1.7.1.10.io-timeout",),
    because="a wait that does not end is seen as a receive that has not failed when its time was over",
)  # fmt: skip
class WaitCountsSeconds(_Impatient):
    """The time-out of a read counts seconds, not milliseconds."""

    def patience(self, timeout_ms: int) -> int:
        return timeout_ms if timeout_ms == INFINITE else min(timeout_ms * 1000, INFINITE - 1)


@fault(
    "wait-ends-on-whole-second", "reading", "MQDMPR-3.1.2.3.expires", "MQMP-2.2.3.2.request-timeout",
    first_seen_as=("MQDMPR-3.1.7.1.10.io-timeout",),
    because="a read that is still waiting when its time is over has not failed with the time-out",
)  # fmt: skip
class WaitEndsOnWholeSecond(_Impatient):
    """The time-out of a read that is longer than a second is rounded up to whole seconds."""

    def patience(self, timeout_ms: int) -> int:
        return -(-timeout_ms // 1000) * 1000 if 1000 < timeout_ms < INFINITE else timeout_ms


@fault("long-wait-overflows", "reading", "MQDMPR-3.1.7.1.10.waits", "MQDMPR-3.1.7.3.1.no-early-timeout")
class LongWaitOverflows(_Impatient):
    """A time-out of 2**31 milliseconds and more is taken for a negative number: the read ends almost at once."""

    def patience(self, timeout_ms: int) -> int:
        return 1 if 1 << 31 <= timeout_ms < INFINITE else timeout_ms


@fault(
    "cursor-waits-in-vain", Delivery.make_available, "MQDMPR-3.1.7.1.15.wakes", "MQDMPR-3.1.7.1.14.wakes",
    "MQDMPR-3.1.7.1.10.wakes", "MQDMPR-3.2.7.6.usable",
)  # fmt: skip
def cursor_waits_in_vain(plain, self, position):
    """A message that arrives does not end the wait of a read with a cursor."""
    with_cursor = [waiter for waiter in position.queue.waiters if waiter.cursor is not None]
    for waiter in with_cursor:
        position.queue.waiters.remove(waiter)
    plain(position)
    position.queue.waiters.extend(with_cursor)


@fault("waiting-peek-removes", Delivery.satisfy, "MQDMPR-3.1.7.1.15.wakes", "MQDMPR-3.1.7.1.15.keeps")
def waiting_peek_removes(plain, self, waiter, position):
    """A peek that had to wait takes the message out of its queue."""
    plain(waiter, position)
    if not waiter.destructive and position.state is State.AVAILABLE:
        self.delete(position, Reason.RECEIVED)


@fault("delete-forgets-waits", Queues.end_waits, "MQDMPR-3.1.7.1.4.waiting-read-ends", "MQDMPR-3.1.2.3.expires")
def delete_forgets_waits(plain, self, queue):
    """A read that waits on a queue which is deleted is never answered, not even when its time is over."""
    for waiter in queue.waiters:
        if waiter.timer is not None:
            waiter.timer.cancel()
    queue.waiters.clear()


@fault("close-ends-all-waits", Queues.close, "MQDMPR-3.1.7.1.6.pending-read-others-kept")
def close_ends_all_waits(plain, self, descriptor):
    """Closing one handle ends the reads that wait on other handles of its queue."""
    if descriptor.queue is not None:
        self.manager.reading.cancel_all(list(descriptor.queue.waiters))
    plain(descriptor)


def informed(result: Result) -> Result:
    return {**result, "status": MQ_INFORMATION_OPERATION_PENDING} if result["status"] == 0 else result


def informing(caller: Caller) -> Caller:
    """The caller, to whom a success is answered with an information instead of MQ_OK."""
    answer: Callable[[Result], None] = caller.answer
    caller.answer = lambda result: answer(informed(result))
    return caller


@fault("receive-answers-information", Receiving.receive, "MQDMPR-3.1.7.1.10.mq-ok")
def receive_answers_information(plain, self, caller, at, cursor, timeout_ms, transaction):
    """A receive that gives a message answers MQ_INFORMATION_OPERATION_PENDING."""
    plain(informing(caller), at, cursor, timeout_ms, transaction)


@fault("lookup-answers-information", Receiving.by_lookup_id, "MQDMPR-3.1.7.1.13.mq-ok")
def lookup_answers_information(plain, self, caller, at, lookup, action, *, destructive, transaction=None):
    """A read by lookup identifier that gives a message answers MQ_INFORMATION_OPERATION_PENDING."""
    plain(informing(caller), at, lookup, action, destructive=destructive, transaction=transaction)


@fault("peek-next-answers-information", Receiving.peek_next, "MQDMPR-3.1.7.1.14.mq-ok")
def peek_next_answers_information(plain, self, caller, at, cursor, timeout_ms):
    """A peek of the next message answers MQ_INFORMATION_OPERATION_PENDING with it."""
    plain(informing(caller), at, cursor, timeout_ms)


@fault("peek-answers-information", Receiving.peek, "MQDMPR-3.1.7.1.15.mq-ok")
def peek_answers_information(plain, self, caller, at, cursor, timeout_ms):
    """A peek that gives a message answers MQ_INFORMATION_OPERATION_PENDING."""
    plain(informing(caller), at, cursor, timeout_ms)


@fault("cursor-close-ends-other-reads", Cursors.close, "MQDMPR-3.1.7.1.2.own-reads-only")
def cursor_close_ends_other_reads(plain, self, cursor):
    """Closing a cursor cancels every read that waits on its handle, with or without that cursor."""
    queue = cursor.descriptor.queue
    waiters: list[Any] = list(queue.waiters) if queue is not None else []
    self.manager.reading.cancel_all([each for each in waiters if each.descriptor is cursor.descriptor])
    plain(cursor)


@fault(
    "cursor-close-closes-others", Cursors.close, "MQDMPR-3.1.7.1.2.others-kept",
    first_seen_as=("MQDMPR-3.2.7.4.read-takes-current",),
    because="that a cursor is closed shows in the next call with it",
)  # fmt: skip
def cursor_close_closes_others(plain, self, cursor):
    """Closing a cursor closes, too, the other cursors of its handle that refer to a message."""
    for other in list(cursor.descriptor.cursors):
        position = other.position
        in_use = other.state is CursorState.READ and position is not None and position.state is State.AVAILABLE
        if other is not cursor and in_use:
            plain(other)
    plain(cursor)


@fault("timed-out-cursor-keeps-place", Cursors.wait_expired, "MQDMPR-3.2.7.6.receive-at-end")
def timed_out_cursor_keeps_place(plain, self, cursor):
    """A cursor whose wait timed out stays where it stood, and its next read finds what has come since."""
    waited = cursor.state in (CursorState.WAIT_RECEIVE, CursorState.WAIT_PEEK)
    key = cursor.key
    plain(cursor)
    if waited:
        cursor.key = key


@fault(
    "wakes-only-first-peeker", Delivery.make_available, "MQDMPR-3.1.7.1.15.releases-next-reader",
    "MQDMPR-3.1.7.2.2.peekers-before-receiver", "MQDMPR-3.1.7.1.14.releases-next-reader", "MQDMPR-3.1.7.1.10.wakes",
)  # fmt: skip
def wakes_only_first_peeker(plain, self, position):
    """A message that becomes available ends the first wait only, also when that is a peek which leaves the message."""
    waiters = position.queue.waiters
    hidden = [waiter for waiter in waiters[1:] if not waiters[0].destructive]
    for waiter in hidden:
        waiters.remove(waiter)
    plain(position)
    waiters.extend(hidden)


@fault(
    "wait-outlives-its-handle", Queues.close, "MQDMPR-3.1.7.1.6.pending-read-cancelled",
    "MQDMPR-3.1.7.1.6.pending-read-cancelled-code",
)  # fmt: skip
def wait_outlives_its_handle(plain, self, descriptor):
    """Closing a handle leaves the reads that wait on it waiting: one of them still takes the next message."""
    if descriptor.queue is not None and descriptor.queue.waiters:
        mine = [waiter for waiter in descriptor.queue.waiters if waiter.descriptor is descriptor]
        for waiter in mine:
            descriptor.queue.waiters.remove(waiter)
        plain(descriptor)
        descriptor.queue.waiters.extend(mine)
    else:
        plain(descriptor)
