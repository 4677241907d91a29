"""Alternatives of readings about waiting reads: which reads a message serves, and what ends a wait."""

from __future__ import annotations

from typing import Any

from conformance.embedded.alternatives.base import follows
from conformance.embedded.cursors import Cursors
from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import (
    INFINITE,
    MqError,
    State,
)
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import STATUS_NOT_FOUND, Receiving

Json = Any


@follows("waiting-readers-order=peeks-first", Delivery.make_available)
def waiting_readers_order_peeks_first(plain, self, position):
    """A message serves every waiting peek, then one receive."""
    position.queue.waiters.sort(key=lambda waiter: waiter.destructive)
    plain(position)


@follows("zero-time-to-be-received=nobody", Delivery.make_available)
def zero_time_to_be_received_nobody(plain, self, position):
    """A message with time to be received 0 expires before a waiting reader gets it."""
    if not position.expired and position.message.fields["time_to_be_received"] == 0 and self._is_over(position):
        position.state = State.AVAILABLE
        self.expire(position)
        return
    plain(position)


@follows("cancel-peek=not-found", Receiving.cancel)
def cancel_peek_not_found(plain, self, tag):
    """No call can cancel a waiting peek."""
    for queue in self.manager.queues.all():
        if any(waiter.tag == tag and not waiter.destructive for waiter in queue.waiters):
            raise MqError(STATUS_NOT_FOUND)
    plain(tag)


@follows("delete-waiting-read=at-timeout", Queues.end_waits)
def delete_waiting_read_at_timeout(plain, self, queue):
    """A read that waits on a deleted queue ends at its time-out."""


@follows("pending-reads-at-cursor-close=at-timeout", Cursors.close)
def pending_reads_at_cursor_close_at_timeout(plain, self, cursor):
    """A read that waits with a closed cursor gets no more messages and ends at its time-out."""
    queue = cursor.descriptor.queue
    if queue is not None:
        queue.waiters[:] = [waiter for waiter in queue.waiters if waiter.cursor is not cursor]
    plain(cursor)


@follows("timeout-unit=seconds", Receiving.patience)
def timeout_unit_seconds(plain, self, timeout_ms):
    """Time-outs count seconds."""
    return timeout_ms if timeout_ms == INFINITE else timeout_ms * 1000


@follows("waiting-readers-order=by-handle", Delivery.make_available)
def waiting_readers_order_by_handle(plain, self, position):
    """A message goes to the readers of the handle that was opened first, then to those of the next."""
    opened = position.queue.descriptors
    position.queue.waiters.sort(key=lambda waiter: opened.index(waiter.descriptor))
    plain(position)
