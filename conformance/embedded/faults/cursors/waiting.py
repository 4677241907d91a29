"""Faults of waiting reads: the order of service, the end of a wait, and the state after it."""

from __future__ import annotations

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import INFINITE, Position, Reason, Result, State, Waiter
from conformance.embedded.faults.base import fault
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.spec.constants.hresults import MQ_ERROR_IO_TIMEOUT, MQ_ERROR_OPERATION_CANCELLED


@fault(
    "latest-waiter-first", Delivery.make_available, "MQDMPR-3.1.7.2.2.fifo-in-handle",
    "MQDMPR-3.1.1.16.waiting-reads-in-order", first_seen_as=("MQDMPR-3.1.7.1.15.wakes",),
    because="a receive that came late takes the message from the peek that was to be woken before it",
)  # fmt: skip
def latest_waiter_first(plain, self, position):
    """Of several reads that wait, the one that came last gets the message."""
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
    """What is left of a wait that ended: it still takes a message, and tells nobody."""

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
