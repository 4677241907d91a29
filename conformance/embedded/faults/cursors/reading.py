"""Faults of peeks, receives and cursors."""

from __future__ import annotations

from conformance.embedded.cursors import CursorOutcome, Cursors
from conformance.embedded.entities import (
    CursorState,
    Reason,
)
from conformance.embedded.faults.base import fault
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.spec.constants.hresults import MQ_ERROR


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
