"""Faults that show only after a wait, or when a handle is closed."""

from __future__ import annotations

from conformance.embedded.cursors import Cursors
from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import CursorState
from conformance.embedded.faults.base import fault
from conformance.embedded.queues import Queues


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
