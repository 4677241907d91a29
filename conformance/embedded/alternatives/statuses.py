"""Alternatives of readings about the status of a failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from conformance.embedded.alternatives.base import follows
from conformance.embedded.cursors import CursorOutcome, Cursors
from conformance.embedded.entities import (
    Descriptor,
    MqError,
    OpenRead,
    Queue,
    Waiter,
)
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.spec.constants.hresults import (
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_MESSAGE_NOT_FOUND,
    MQ_ERROR_QUEUE_DELETED,
    MQ_ERROR_QUEUE_NOT_AVAILABLE,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
)


class _Translating(Receiving):
    """Replaces one status with another."""

    changed: ClassVar[Mapping[int, int]] = {}

    def _translated(self, status: int) -> int:
        return self.changed.get(status, status)

    def readable_queue(self, at: Descriptor, *, destructive: bool = False) -> Queue:
        try:
            return super().readable_queue(at, destructive=destructive)
        except MqError as failure:
            raise MqError(self._translated(failure.status)) from None

    def cancel_all(self, waiters: list[Waiter], status: int = 0xC00E0008) -> None:
        super().cancel_all(waiters, self._translated(status))

    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        try:
            super().end(read, acknowledge=acknowledge)
        except MqError as failure:
            raise MqError(self._translated(failure.status)) from None


@follows("deleted-queue-status=queue-deleted", "reading")
class _QueueDeleted(_Translating):
    """A call on a handle whose queue was deleted fails with MQ_ERROR_QUEUE_DELETED."""

    changed: ClassVar[Mapping[int, int]] = {MQ_ERROR_QUEUE_NOT_AVAILABLE: MQ_ERROR_QUEUE_DELETED}


@follows("zero-timeout-status=io-timeout", Cursors.get_next_for_dequeue)
def zero_timeout_status_io_timeout(plain, self, cursor, *, no_wait):
    """A read with time-out 0 that finds nothing fails with MQ_ERROR_IO_TIMEOUT, with a cursor too."""
    outcome, found = plain(cursor, no_wait=no_wait)
    if outcome is CursorOutcome.NOT_FOUND:
        raise MqError(MQ_ERROR_IO_TIMEOUT)
    return outcome, found


@follows("zero-timeout-status=message-not-found", Receiving.timeout_status)
def zero_timeout_status_message_not_found(plain, self, *, polled):
    """A read with time-out 0 that finds nothing fails with MQ_ERROR_MESSAGE_NOT_FOUND."""
    return MQ_ERROR_MESSAGE_NOT_FOUND if polled else plain(polled=polled)


@follows("unknown-public-queue-status=queue-not-found", Queues.open)
def unknown_public_queue_status_queue_not_found(plain, self, format_name, access, share):
    """Opening an unknown public queue for send fails with MQ_ERROR_QUEUE_NOT_FOUND."""
    try:
        return plain(format_name, access, share)
    except MqError as failure:
        public = "," not in format_name and self.manager.names.format_name(format_name).kind == "public"
        if failure.status == MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION and public:
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND) from None
        raise
