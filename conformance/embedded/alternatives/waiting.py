"""Alternatives of readings about waiting reads: which reads a message serves, and what ends a wait."""

from __future__ import annotations

from typing import Any

from conformance.embedded.alternatives.base import follows
from conformance.embedded.cursors import Cursors
from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import (
    INFINITE,
    Cursor,
    MqError,
    Position,
    Queue,
    State,
)
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import STATUS_NOT_FOUND, Receiving

Json = Any


@follows("waiting-readers-order=peeks-first", "delivery")
class _PeeksFirst(Delivery):
    """A message serves every waiting peek, then one receive."""

    def make_available(self, position: Position) -> None:
        position.queue.waiters.sort(key=lambda waiter: waiter.destructive)
        super().make_available(position)


@follows("zero-time-to-be-received=nobody", "delivery")
class _GoneAtOnce(Delivery):
    """A message with time to be received 0 expires before a waiting reader gets it."""

    def make_available(self, position: Position) -> None:
        if not position.expired and position.message.fields["time_to_be_received"] == 0 and self._is_over(position):
            position.state = State.AVAILABLE
            self.expire(position)
            return
        super().make_available(position)


@follows("cancel-peek=not-found", "reading")
class _UntaggedPeeks(Receiving):
    """No call can cancel a waiting peek."""

    def cancel(self, tag: Json) -> None:
        for queue in self.manager.queues.all():
            if any(waiter.tag == tag and not waiter.destructive for waiter in queue.waiters):
                raise MqError(STATUS_NOT_FOUND)
        super().cancel(tag)


@follows("delete-waiting-read=at-timeout", "queues")
class _WaitsOn(Queues):
    """A read that waits on a deleted queue ends at its time-out."""

    def end_waits(self, queue: Queue) -> None:
        return


@follows("pending-reads-at-cursor-close=at-timeout", "cursors")
class _OutlivingWaits(Cursors):
    """A read that waits with a closed cursor gets no more messages and ends at its time-out."""

    def close(self, cursor: Cursor) -> None:
        queue = cursor.descriptor.queue
        if queue is not None:
            queue.waiters[:] = [waiter for waiter in queue.waiters if waiter.cursor is not cursor]
        super().close(cursor)


@follows("timeout-unit=seconds", "reading")
class _Seconds(Receiving):
    """Time-outs count seconds."""

    def patience(self, timeout_ms: int) -> int:
        return timeout_ms if timeout_ms == INFINITE else timeout_ms * 1000


@follows("waiting-readers-order=by-handle", "delivery")
class _HandleAfterHandle(Delivery):
    """A message goes to the readers of the handle that was opened first, then to those of the next."""

    def make_available(self, position: Position) -> None:
        opened = position.queue.descriptors
        position.queue.waiters.sort(key=lambda waiter: opened.index(waiter.descriptor))
        super().make_available(position)
