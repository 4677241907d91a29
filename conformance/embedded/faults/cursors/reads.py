"""Faults of reads: which message, the wait, the answer and what is left (MS-MQDMPR 3.1.7.1.10 to .17)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.embedded.cursors import CursorOutcome, Cursors
from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import INFINITE, CursorState, Position, Reason, Result, State, Waiter
from conformance.embedded.faults.base import fault
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Caller, Receiving
from conformance.spec.constants.hresults import (
    MQ_ERROR,
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_OPERATION_CANCELLED,
    MQ_INFORMATION_OPERATION_PENDING,
)


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
