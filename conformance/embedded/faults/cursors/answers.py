"""Faults of the answer of a read, of ending a read twice, and of closing a cursor (MS-MQDMPR 3.1.7.1.2, .10 to .15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.embedded.cursors import Cursors
from conformance.embedded.entities import (
    Cursor,
    CursorState,
    Descriptor,
    Result,
    State,
    Transaction,
)
from conformance.embedded.faults.base import Fault
from conformance.embedded.receiving import Caller, Receiving
from conformance.spec.constants.hresults import MQ_INFORMATION_OPERATION_PENDING


def informed(result: Result) -> Result:
    return {**result, "status": MQ_INFORMATION_OPERATION_PENDING} if result["status"] == 0 else result


def informing(caller: Caller) -> Caller:
    """The caller, to whom a success is answered with an information instead of MQ_OK."""
    answer: Callable[[Result], None] = caller.answer
    caller.answer = lambda result: answer(informed(result))
    return caller


class _InformingReceive(Receiving):
    def receive(
        self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int, transaction: Transaction | None
    ) -> None:
        super().receive(informing(caller), at, cursor, timeout_ms, transaction)


class ReceiveAnswersInformation(Fault):
    """A receive that gives a message answers MQ_INFORMATION_OPERATION_PENDING."""

    name = "receive-answers-information"
    breaks = ("MQDMPR-3.1.7.1.10.mq-ok",)
    replaces = ("reading", _InformingReceive)


class _InformingLookup(Receiving):
    def by_lookup_id(
        self,
        caller: Caller,
        at: Descriptor,
        lookup: int,
        action: str,
        *,
        destructive: bool,
        transaction: Transaction | None = None,
    ) -> None:
        super().by_lookup_id(informing(caller), at, lookup, action, destructive=destructive, transaction=transaction)


class LookupAnswersInformation(Fault):
    """A read by lookup identifier that gives a message answers MQ_INFORMATION_OPERATION_PENDING."""

    name = "lookup-answers-information"
    breaks = ("MQDMPR-3.1.7.1.13.mq-ok",)
    replaces = ("reading", _InformingLookup)


class _InformingPeekNext(Receiving):
    def peek_next(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        super().peek_next(informing(caller), at, cursor, timeout_ms)


class PeekNextAnswersInformation(Fault):
    """A peek of the next message answers MQ_INFORMATION_OPERATION_PENDING with it."""

    name = "peek-next-answers-information"
    breaks = ("MQDMPR-3.1.7.1.14.mq-ok",)
    replaces = ("reading", _InformingPeekNext)


class _InformingPeek(Receiving):
    def peek(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        super().peek(informing(caller), at, cursor, timeout_ms)


class PeekAnswersInformation(Fault):
    """A peek that gives a message answers MQ_INFORMATION_OPERATION_PENDING."""

    name = "peek-answers-information"
    breaks = ("MQDMPR-3.1.7.1.15.mq-ok",)
    replaces = ("reading", _InformingPeek)


class _Sweeping(Cursors):
    def close(self, cursor: Cursor) -> None:
        queue = cursor.descriptor.queue
        waiters: list[Any] = list(queue.waiters) if queue is not None else []
        self.manager.reading.cancel_all([each for each in waiters if each.descriptor is cursor.descriptor])
        super().close(cursor)


class CursorCloseEndsOtherReads(Fault):
    """Closing a cursor cancels every read that waits on its handle, with or without that cursor."""

    name = "cursor-close-ends-other-reads"
    breaks = ("MQDMPR-3.1.7.1.2.own-reads-only",)
    replaces = ("cursors", _Sweeping)


class _Emptying(Cursors):
    def close(self, cursor: Cursor) -> None:
        for other in list(cursor.descriptor.cursors):
            position = other.position
            in_use = other.state is CursorState.READ and position is not None and position.state is State.AVAILABLE
            if other is not cursor and in_use:
                super().close(other)
        super().close(cursor)


class CursorCloseClosesOthers(Fault):
    """Closing a cursor closes, too, the other cursors of its handle that refer to a message."""

    name = "cursor-close-closes-others"
    breaks = ("MQDMPR-3.1.7.1.2.others-kept",)
    first_seen_as = ("MQDMPR-3.2.7.4.read-takes-current",)
    because = "that a cursor is closed shows in the next call with it"
    replaces = ("cursors", _Emptying)
