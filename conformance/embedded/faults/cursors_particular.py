"""Faults of opening and closing cursors, and of what a read with one answers (MS-MQDMPR 3.1.7.1.1 to .17, 3.2.7)."""

from __future__ import annotations

from conformance.embedded.cursors import Cursors, Found, Outcome
from conformance.embedded.entities import END_KEY, Cursor, CursorState, Descriptor, MqError, Position, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import BEHIND, LOST, WAKING, dmpr
from conformance.embedded.reading import STATUS_NOT_FOUND, Caller, Json, Reading
from conformance.spec.constants.hresults import (
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_IO_TIMEOUT,
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
    suite = "cursors"
    breaks = dmpr("3.1.7.1.1.opened")
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
    suite = "cursors"
    breaks = dmpr("3.1.7.1.2.closed", "3.1.7.1.6.cursors-closed")
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
    suite = "cursors"
    # The first read with such a cursor finds nothing, or waits, where there are messages.
    breaks = (*dmpr("3.2.7.1.starts-before-first", "3.1.7.1.15.keeps"), *BEHIND)
    replaces = ("cursors", _FromTheEnd)


class _Unmoved(Cursors):
    def message_available(self, cursor: Cursor, position: Position) -> None:
        before = cursor.key
        super().message_available(cursor, position)
        cursor.key = before


class WokenCursorStays(Fault):
    """A cursor whose wait a message ended shows it, and goes on from where it stood before."""

    name = "woken-cursor-stays"
    suite = "cursors"
    breaks = (*dmpr("3.2.7.5.position"), *BEHIND)
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
    suite = "cursors"
    breaks = (
        *dmpr("3.2.7.5.receive-becomes-unread", "3.2.7.4.becomes-unread"),
        *dmpr("3.2.7.3.illegal-cursor-action", "3.2.7.3.illegal-cursor-action-code"),
        *dmpr("3.1.7.1.14.illegal-cursor-action", "3.1.7.1.14.illegal-cursor-action-code"),
        *BEHIND,
    )
    replaces = ("cursors", _WokenReads)


class _LostReturns(Cursors):
    def get_next_for_dequeue(self, cursor: Cursor, *, no_wait: bool) -> Found:
        outcome, found = super().get_next_for_dequeue(cursor, no_wait=no_wait)
        if outcome is Outcome.ALREADY_RECEIVED:
            cursor.key = END_KEY
        return outcome, found


class FailedReceiveMovesCursor(Fault):
    """After a receive that failed because its cursor's message is gone, peek-next finds nothing any more."""

    name = "failed-receive-moves-cursor"
    suite = "cursors"
    breaks = (*dmpr("3.2.7.4.already-received-stays"), *BEHIND)
    replaces = ("cursors", _LostReturns)


class _EmptyEnds(Cursors):
    def get_next_for_dequeue(self, cursor: Cursor, *, no_wait: bool) -> Found:
        outcome, found = super().get_next_for_dequeue(cursor, no_wait=no_wait)
        if outcome is Outcome.NOT_FOUND:
            cursor.key = END_KEY
        return outcome, found


class EmptyReceiveEndsCursor(Fault):
    """After a receive that found nothing behind its cursor nothing is ever found behind it."""

    name = "empty-receive-ends-cursor"
    suite = "cursors"
    breaks = (*dmpr("3.2.7.4.not-found-stays"), *BEHIND)
    replaces = ("cursors", _EmptyEnds)


def _renamed(caller: Caller, status: int, told: int) -> Caller:
    """The caller, to whom one status is answered in place of another."""
    answer = caller.answer
    caller.answer = lambda result: answer({"status": told} if result["status"] == status else result)
    return caller


class _OtherCode(Reading):
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
    suite = "cursors"
    breaks = dmpr("3.1.7.1.10.message-not-found-code")
    replaces = ("reading", _OtherCode)


class _OtherBeginCode(Reading):
    def receive_begin(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        try:
            super().receive_begin(caller, at, cursor, timeout_ms)
        except MqError as failure:
            if cursor is None or failure.status != MQ_ERROR_MESSAGE_NOT_FOUND:
                raise
            raise MqError(MQ_ERROR_INVALID_PARAMETER) from None


class CursorBeginWrongStatus(Fault):
    """The first phase of a read that finds nothing behind its cursor fails with MQ_ERROR_INVALID_PARAMETER."""

    name = "cursor-begin-wrong-status"
    suite = "subqueues"
    breaks = dmpr("3.1.7.1.11.message-not-found-code")
    replaces = ("reading", _OtherBeginCode)


class _OtherBeginTimeout(Reading):
    def receive_begin(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        told = _renamed(caller, MQ_ERROR_IO_TIMEOUT, MQ_ERROR_INVALID_PARAMETER)
        super().receive_begin(told, at, cursor, timeout_ms)


class BeginTimeoutWrongStatus(Fault):
    """The first phase of a read whose time is over fails with MQ_ERROR_INVALID_PARAMETER."""

    name = "begin-timeout-wrong-status"
    suite = "subqueues"
    breaks = dmpr("3.1.7.1.11.io-timeout-code")
    replaces = ("reading", _OtherBeginTimeout)


class _BeginAnyway(Reading):
    def receive_begin(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        try:
            super().receive_begin(caller, at, cursor, timeout_ms)
        except MqError as failure:
            if cursor is None or failure.status != MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
                raise
            super().receive_begin(caller, at, None, timeout_ms)


class BeginPassesOverLost(Fault):
    """The first phase of a read takes the front of the queue when the message of its cursor is gone."""

    name = "begin-passes-over-lost"
    suite = "subqueues"
    breaks = dmpr("3.1.7.1.11.message-already-received", "3.1.7.1.11.message-already-received-code")
    replaces = ("reading", _BeginAnyway)


class _BeginAround(Reading):
    def receive_begin(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        try:
            super().receive_begin(caller, at, cursor, timeout_ms)
        except MqError as failure:
            if cursor is None or failure.status != MQ_ERROR_MESSAGE_NOT_FOUND:
                raise
            super().receive_begin(caller, at, None, timeout_ms)


class BeginWrapsAround(Fault):
    """The first phase of a read that finds nothing behind its cursor takes the front of the queue."""

    name = "begin-wraps-around"
    suite = "subqueues"
    breaks = (*dmpr("3.1.7.1.11.message-not-found", "3.1.7.1.11.message-not-found-code"), *BEHIND)
    replaces = ("reading", _BeginAround)


class _TakesAnother(Reading):
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
    suite = "cursors"
    breaks = (
        *dmpr("3.1.7.1.10.already-received-ends", "3.2.7.4.already-received-stays"),
        # What was taken away is missed by a read that expects the queue as it was.
        *("MQDMPR-3.1.7.1.15.keeps",),
        *LOST,
    )
    replaces = ("reading", _TakesAnother)


class _Impatient(Reading):
    def peek(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        super().peek(caller, at, cursor, 0)


class PeekNeverWaits(Fault):
    """A peek that finds nothing fails at once, whatever time it has."""

    name = "peek-never-waits"
    suite = "cursors"
    breaks = (*dmpr("3.1.7.1.15.waits"), *WAKING)
    replaces = ("reading", _Impatient)


class _Denying(Reading):
    def cancel(self, tag: Json) -> None:
        super().cancel(tag)
        raise MqError(STATUS_NOT_FOUND)


class CancelDeniesSuccess(Fault):
    """A cancel ends the read it names and answers that no such read waits."""

    name = "cancel-denies-success"
    suite = "cursors"
    breaks = dmpr("3.1.7.1.17.success")
    replaces = ("reading", _Denying)


CURSOR_FAULTS: tuple[type[Fault], ...] = (
    SecondCursorRefused,
    CursorClosesAgain,
    CursorStartsAtEnd,
    WokenCursorStays,
    WokenReceiveStaysRead,
    FailedReceiveMovesCursor,
    EmptyReceiveEndsCursor,
    CursorReceiveWrongStatus,
    CursorBeginWrongStatus,
    BeginTimeoutWrongStatus,
    BeginPassesOverLost,
    BeginWrapsAround,
    FailedReceiveTakesAnother,
    PeekNeverWaits,
    CancelDeniesSuccess,
)
