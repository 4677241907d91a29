"""Faults of opening and closing cursors, and of the answers of reads with one (MS-MQDMPR 3.1.7.1.1 to .17, 3.2.7)."""

from __future__ import annotations

from conformance.embedded.cursors import CursorOutcome, Cursors
from conformance.embedded.entities import END_KEY, CursorState, Descriptor, MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.receiving import STATUS_NOT_FOUND, Receiving
from conformance.spec.constants.hresults import (
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
    MQ_ERROR_MESSAGE_NOT_FOUND,
)


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
