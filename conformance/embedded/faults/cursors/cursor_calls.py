"""Faults of opening and closing cursors, and of the answers of reads with one (MS-MQDMPR 3.1.7.1.1 to .17, 3.2.7)."""

from __future__ import annotations

from conformance.embedded.cursors import CursorOutcome, Cursors, Found
from conformance.embedded.entities import END_KEY, Cursor, CursorState, Descriptor, MqError, Position, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.receiving import STATUS_NOT_FOUND, Caller, Json, Receiving
from conformance.spec.constants.hresults import (
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
    MQ_ERROR_MESSAGE_NOT_FOUND,
)


class _OneCursor(Cursors):
    def open(self, descriptor: Descriptor) -> Cursor:
        if descriptor.cursors:
            raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
        return super().open(descriptor)


class SecondCursorRefused(Fault):
    """A handle has one cursor at most."""

    name = "second-cursor-refused"
    breaks = ("MQDMPR-3.1.7.1.1.opened",)
    replaces = ("cursors", _OneCursor)


class _ClosesAgain(Cursors):
    def close(self, cursor: Cursor) -> None:
        if cursor.descriptor.handle in self.manager.descriptors:
            super().close(cursor)
            cursor.descriptor = Descriptor("", "receive", "deny_none", None)
            self.manager.cursor_handles[cursor.handle] = cursor


class CursorClosesAgain(Fault):
    """A cursor that was closed can be closed again."""

    name = "cursor-closes-again"
    breaks = ("MQDMPR-3.1.7.1.2.closed",)
    first_seen_as = ("MQDMPR-3.1.7.1.6.cursors-closed",)
    because = "a cursor that its handle closed, and that closes again, looks as if it had stayed open"
    replaces = ("cursors", _ClosesAgain)


class _FromTheEnd(Cursors):
    def open(self, descriptor: Descriptor) -> Cursor:
        cursor = super().open(descriptor)
        queue = descriptor.queue
        there = list(queue.positions) if queue is not None else []
        if there:
            cursor.key = there[-1].key
        return cursor


class CursorStartsAtEnd(Fault):
    """A new cursor stands behind the messages that were there when it was opened."""

    name = "cursor-starts-at-end"
    # The first read with such a cursor finds nothing, or waits, where there are messages.
    breaks = ("MQDMPR-3.2.7.1.starts-before-first",)
    first_seen_as = ("MQDMPR-3.2.7.2.unread-seeks",)
    because = "where a cursor starts is seen by its first read alone, which seeks from there"
    replaces = ("cursors", _FromTheEnd)


class _Unmoved(Cursors):
    def message_available(self, cursor: Cursor, position: Position) -> None:
        before = cursor.key
        super().message_available(cursor, position)
        cursor.key = before


class WokenCursorStays(Fault):
    """A cursor whose wait a message ended shows it, and goes on from where it stood before."""

    name = "woken-cursor-stays"
    breaks = ("MQDMPR-3.2.7.5.position",)
    first_seen_as = ("MQDMPR-3.2.7.4.unread-seeks",)
    because = "where the cursor is shows in the next receive, which seeks from the wrong place"
    replaces = ("cursors", _Unmoved)


class _WokenReads(Cursors):
    def message_available(self, cursor: Cursor, position: Position) -> None:
        received = cursor.state is CursorState.WAIT_RECEIVE
        super().message_available(cursor, position)
        if received:
            cursor.state = CursorState.READ


class WokenReceiveStaysRead(Fault):
    """A receive that waited with a cursor leaves it as if its message had been peeked."""

    name = "woken-receive-stays-read"
    breaks = ("MQDMPR-3.2.7.5.receive-becomes-unread",)
    first_seen_as = ("MQDMPR-3.2.7.2.unread-seeks",)
    because = "what the cursor counts as peeked shows in the next peek, which does not seek"
    replaces = ("cursors", _WokenReads)


class _LostReturns(Cursors):
    def get_next_for_dequeue(self, cursor: Cursor, *, no_wait: bool) -> Found:
        outcome, found = super().get_next_for_dequeue(cursor, no_wait=no_wait)
        if outcome is CursorOutcome.ALREADY_RECEIVED:
            cursor.key = END_KEY
        return outcome, found


class FailedReceiveMovesCursor(Fault):
    """After a receive that failed because its cursor's message is gone, peek-next finds nothing any more."""

    name = "failed-receive-moves-cursor"
    breaks = ("MQDMPR-3.2.7.4.already-received-stays",)
    replaces = ("cursors", _LostReturns)


class _EmptyEnds(Cursors):
    def get_next_for_dequeue(self, cursor: Cursor, *, no_wait: bool) -> Found:
        outcome, found = super().get_next_for_dequeue(cursor, no_wait=no_wait)
        if outcome is CursorOutcome.NOT_FOUND:
            cursor.key = END_KEY
        return outcome, found


class EmptyReceiveEndsCursor(Fault):
    """After a receive that found nothing behind its cursor nothing is ever found behind it."""

    name = "empty-receive-ends-cursor"
    breaks = (
        "MQDMPR-3.2.7.4.not-found-stays",
        "MQDMPR-3.2.7.6.usable",
    )
    replaces = ("cursors", _EmptyEnds)


class _OtherCode(Receiving):
    def receive(
        self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int, transaction: Transaction | None
    ) -> None:
        try:
            super().receive(caller, at, cursor, timeout_ms, transaction)
        except MqError as failure:
            if cursor is None or failure.status != MQ_ERROR_MESSAGE_NOT_FOUND:
                raise
            raise MqError(MQ_ERROR_INVALID_PARAMETER) from None


class CursorReceiveWrongStatus(Fault):
    """A receive that finds nothing behind its cursor fails with MQ_ERROR_INVALID_PARAMETER."""

    name = "cursor-receive-wrong-status"
    breaks = ("MQDMPR-3.1.7.1.10.message-not-found-code",)
    replaces = ("reading", _OtherCode)


class _TakesAnother(Receiving):
    def receive(
        self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int, transaction: Transaction | None
    ) -> None:
        try:
            super().receive(caller, at, cursor, timeout_ms, transaction)
        except MqError as failure:
            another = self.first(at.queue, True) if at.queue is not None else None
            if failure.status == MQ_ERROR_MESSAGE_ALREADY_RECEIVED and another is not None:
                self.take(another, transaction)
            raise


class FailedReceiveTakesAnother(Fault):
    """A receive that fails because its cursor's message is gone takes the front of the queue away."""

    name = "failed-receive-takes-another"
    breaks = ("MQDMPR-3.1.7.1.10.already-received-ends",)
    replaces = ("reading", _TakesAnother)


class _Impatient(Receiving):
    def peek(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        super().peek(caller, at, cursor, 0)


class PeekNeverWaits(Fault):
    """A peek that finds nothing fails at once, whatever time it has."""

    name = "peek-never-waits"
    breaks = (
        "MQDMPR-3.1.7.1.15.waits",
        "MQDMPR-3.1.7.1.15.wakes",
        "MQDMPR-3.1.7.3.1.no-early-timeout",
    )
    replaces = ("reading", _Impatient)


class _Denying(Receiving):
    def cancel(self, tag: Json) -> None:
        super().cancel(tag)
        raise MqError(STATUS_NOT_FOUND)


class CancelDeniesSuccess(Fault):
    """A cancel ends the read it names and answers that no such read waits."""

    name = "cancel-denies-success"
    breaks = ("MQDMPR-3.1.7.1.17.success",)
    replaces = ("reading", _Denying)
