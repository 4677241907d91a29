"""Faults of waiting reads: the order of service, the end of a wait, and the state after it."""

from __future__ import annotations

from typing import Any

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import INFINITE, Descriptor, Position, Queue, Reason, Result, State, Waiter
from conformance.embedded.faults.base import Fault
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.spec.constants.hresults import MQ_ERROR_IO_TIMEOUT, MQ_ERROR_OPERATION_CANCELLED


class _LastComeFirstServed(Delivery):
    def make_available(self, position: Position) -> None:
        waiters = position.queue.waiters
        waiters.reverse()
        super().make_available(position)
        waiters.reverse()


class LatestWaiterFirst(Fault):
    """Of several reads that wait, the one that came last gets the message."""

    name = "latest-waiter-first"
    breaks = (
        "MQDMPR-3.1.7.2.2.fifo-in-handle",
        "MQDMPR-3.1.1.16.waiting-reads-in-order",
    )
    first_seen_as = ("MQDMPR-3.1.7.1.15.wakes",)
    because = "a receive that came late takes the message from the peek that was to be woken before it"
    replaces = ("delivery", _LastComeFirstServed)


class _Generous(Delivery):
    def make_available(self, position: Position) -> None:
        super().make_available(position)
        if position.state is State.DELETED:
            for waiter in [each for each in position.queue.waiters if each.destructive]:
                self.satisfy(waiter, position)


class OneMessageForAllWaiters(Fault):
    """One message ends every receive that waits: each of them gets it."""

    name = "one-message-for-all-waiters"
    breaks = (
        "MQDMPR-3.1.7.2.2.one-destructive",
        "MQDMPR-3.1.7.1.10.at-most-once",
        "MQDMPR-3.1.7.2.2.others-remain",
    )
    replaces = ("delivery", _Generous)


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


class TimedOutReadSwallows(Fault):
    """A receive that timed out takes the next message all the same, and gives it to nobody."""

    name = "timed-out-read-swallows"
    breaks = (
        "MQDMPR-3.1.7.1.10.timed-out-takes-nothing",
        "MQDMPR-3.1.7.3.1.cleaned-up",
    )
    replaces = ("reading", _Haunted)


class _HauntedByCancel(_Haunted):
    swallowing = MQ_ERROR_OPERATION_CANCELLED


class CancelledReadSwallows(Fault):
    """A receive that was cancelled takes the next message all the same, and gives it to nobody."""

    name = "cancelled-read-swallows"
    breaks = (
        "MQDMPR-3.1.7.1.17.takes-nothing",
        "MQDMPR-3.1.7.3.1.cleaned-up",
    )
    replaces = ("reading", _HauntedByCancel)


class _Sweeping(Receiving):
    def cancel(self, tag: Any) -> None:
        queue = next((w.queue for q in self.manager.queues.all() for w in q.waiters if w.tag == tag), None)
        super().cancel(tag)
        if queue is not None:
            self.cancel_all(list(queue.waiters))


class CancelEndsAllWaits(Fault):
    """Cancelling one read ends every read that waits on the same queue."""

    name = "cancel-ends-all-waits"
    breaks = ("MQDMPR-3.1.7.1.17.others-kept",)
    replaces = ("reading", _Sweeping)


class _Unfussy(Receiving):
    def cancel(self, tag: Any) -> None:
        for queue in self.manager.queues.all():
            self.cancel_all([waiter for waiter in queue.waiters if waiter.tag == tag])


class CancelOfNothingSucceeds(Fault):
    """Cancelling a read that does not wait succeeds."""

    name = "cancel-of-nothing-succeeds"
    breaks = (
        "MQDMPR-3.1.7.1.17.not-found",
        "MQDMPR-3.1.7.1.17.not-found-code",
    )
    replaces = ("reading", _Unfussy)


class _Mislabelling(Receiving):
    def cancel_all(self, waiters: list[Waiter], status: int = MQ_ERROR_OPERATION_CANCELLED) -> None:
        super().cancel_all(waiters, MQ_ERROR_IO_TIMEOUT if status == MQ_ERROR_OPERATION_CANCELLED else status)


class CancelledReadTimesOut(Fault):
    """A read that is cancelled, or whose handle is closed, ends with MQ_ERROR_IO_TIMEOUT."""

    name = "cancelled-read-times-out"
    breaks = (
        "MQDMPR-3.1.7.1.17.cancelled",
        "MQDMPR-3.1.7.1.6.pending-read-cancelled-code",
    )
    replaces = ("reading", _Mislabelling)


class _Impatient(Receiving):
    def patience(self, timeout_ms: int) -> int:
        return timeout_ms if timeout_ms in (0, INFINITE) else max(1, timeout_ms // 2)


class WaitEndsEarly(Fault):
    """A read waits half the time it was given."""

    name = "wait-ends-early"
    breaks = (
        "MQDMPR-3.1.7.3.1.no-early-timeout",
        "MQDMPR-3.1.7.1.10.waits",
        "MQDMPR-3.1.7.1.15.waits",
    )
    replaces = ("reading", _Impatient)


class _Mortal(_Impatient):
    def patience(self, timeout_ms: int) -> int:
        return 1000 if timeout_ms == INFINITE else timeout_ms


class InfiniteWaitEnds(Fault):
    """A read that may wait without end gives up after a second."""

    name = "infinite-wait-ends"
    breaks = (
        "MQDMPR-3.1.2.3.infinite",
        "MQDMPR-3.1.7.3.1.no-early-timeout",
    )
    replaces = ("reading", _Mortal)


class _Dilatory(_Impatient):
    def patience(self, timeout_ms: int) -> int:
        return timeout_ms if timeout_ms == INFINITE else min(timeout_ms * 1000, INFINITE - 1)


class WaitCountsSeconds(Fault):
    """The time-out of a read counts seconds, not milliseconds."""

    name = "wait-counts-seconds"
    breaks = (
        "MQDMPR-3.1.2.3.expires",
        "MQMP-2.2.3.2.request-timeout",
    )
    first_seen_as = ("MQDMPR-3.1.7.1.10.io-timeout",)
    because = "a wait that does not end is seen as a receive that has not failed when its time was over"
    replaces = ("reading", _Dilatory)


class _Partial(Delivery):
    def make_available(self, position: Position) -> None:
        with_cursor = [waiter for waiter in position.queue.waiters if waiter.cursor is not None]
        for waiter in with_cursor:
            position.queue.waiters.remove(waiter)
        super().make_available(position)
        position.queue.waiters.extend(with_cursor)


class CursorWaitsInVain(Fault):
    """A message that arrives does not end the wait of a read with a cursor."""

    name = "cursor-waits-in-vain"
    breaks = (
        "MQDMPR-3.1.7.1.15.wakes",
        "MQDMPR-3.1.7.1.14.wakes",
        "MQDMPR-3.1.7.1.10.wakes",
        "MQDMPR-3.2.7.6.usable",
    )
    replaces = ("delivery", _Partial)


class _Grasping(Delivery):
    def satisfy(self, waiter: Waiter, position: Position) -> None:
        super().satisfy(waiter, position)
        if not waiter.destructive and position.state is State.AVAILABLE:
            self.delete(position, Reason.RECEIVED)


class WaitingPeekRemoves(Fault):
    """A peek that had to wait takes the message out of its queue."""

    name = "waiting-peek-removes"
    breaks = (
        "MQDMPR-3.1.7.1.15.wakes",
        "MQDMPR-3.1.7.1.15.keeps",
    )
    replaces = ("delivery", _Grasping)


class _NoOneTold(Queues):
    def end_waits(self, queue: Queue) -> None:
        for waiter in queue.waiters:
            if waiter.timer is not None:
                waiter.timer.cancel()
        queue.waiters.clear()


class DeleteForgetsWaits(Fault):
    """A read that waits on a queue which is deleted is never answered, not even when its time is over."""

    name = "delete-forgets-waits"
    breaks = (
        "MQDMPR-3.1.7.1.4.waiting-read-ends",
        "MQDMPR-3.1.2.3.expires",
    )
    replaces = ("queues", _NoOneTold)


class _Jealous(Queues):
    def close(self, descriptor: Descriptor) -> None:
        if descriptor.queue is not None:
            self.manager.reading.cancel_all(list(descriptor.queue.waiters))
        super().close(descriptor)


class CloseEndsAllWaits(Fault):
    """Closing one handle ends the reads that wait on other handles of its queue."""

    name = "close-ends-all-waits"
    breaks = ("MQDMPR-3.1.7.1.6.pending-read-others-kept",)
    replaces = ("queues", _Jealous)
