"""Faults that show only after a wait, or when a handle is closed."""

from __future__ import annotations

from conformance.embedded.cursors import Cursors
from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Cursor, CursorState, Descriptor, Position
from conformance.embedded.faults.base import Fault
from conformance.embedded.queues import Queues


class _RewindingCursors(Cursors):
    def wait_expired(self, cursor: Cursor) -> None:
        waited = cursor.state in (CursorState.WAIT_RECEIVE, CursorState.WAIT_PEEK)
        key = cursor.key
        super().wait_expired(cursor)
        if waited:
            cursor.key = key


class TimedOutCursorKeepsPlace(Fault):
    """A cursor whose wait timed out stays where it stood, and its next read finds what has come since."""

    name = "timed-out-cursor-keeps-place"
    breaks = ("MQDMPR-3.2.7.6.receive-at-end",)
    replaces = ("cursors", _RewindingCursors)


class _StingyDelivery(Delivery):
    def make_available(self, position: Position) -> None:
        waiters = position.queue.waiters
        hidden = [waiter for waiter in waiters[1:] if not waiters[0].destructive]
        for waiter in hidden:
            waiters.remove(waiter)
        super().make_available(position)
        waiters.extend(hidden)


class WakesOnlyFirstPeeker(Fault):
    """A message that becomes available ends the first wait only, also when that is a peek which leaves the message."""

    name = "wakes-only-first-peeker"
    breaks = (
        "MQDMPR-3.1.7.1.15.releases-next-reader",
        "MQDMPR-3.1.7.2.2.peekers-before-receiver",
        "MQDMPR-3.1.7.1.14.releases-next-reader",
        "MQDMPR-3.1.7.1.10.wakes",
    )
    replaces = ("delivery", _StingyDelivery)


class _HandlesOutlived(Queues):
    def close(self, descriptor: Descriptor) -> None:
        if descriptor.queue is not None and descriptor.queue.waiters:
            mine = [waiter for waiter in descriptor.queue.waiters if waiter.descriptor is descriptor]
            for waiter in mine:
                descriptor.queue.waiters.remove(waiter)
            super().close(descriptor)
            descriptor.queue.waiters.extend(mine)
        else:
            super().close(descriptor)


class WaitOutlivesItsHandle(Fault):
    """Closing a handle leaves the reads that wait on it waiting: one of them still takes the next message."""

    name = "wait-outlives-its-handle"
    breaks = (
        "MQDMPR-3.1.7.1.6.pending-read-cancelled",
        "MQDMPR-3.1.7.1.6.pending-read-cancelled-code",
    )
    replaces = ("queues", _HandlesOutlived)
