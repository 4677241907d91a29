"""Faults of the answer of a read, of ending a read twice, and of closing a cursor (MS-MQDMPR 3.1.7.1.2, .10 to .15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.embedded.cursors import Cursors
from conformance.embedded.entities import (
    CursorState,
    Result,
    State,
)
from conformance.embedded.faults.base import fault
from conformance.embedded.receiving import Caller, Receiving
from conformance.spec.constants.hresults import MQ_INFORMATION_OPERATION_PENDING


def informed(result: Result) -> Result:
    return {**result, "status": MQ_INFORMATION_OPERATION_PENDING} if result["status"] == 0 else result


def informing(caller: Caller) -> Caller:
    """The caller, to whom a success is answered with an information instead of MQ_OK."""
    answer: Callable[[Result], None] = caller.answer
    caller.answer = lambda result: answer(informed(result))
    return caller


@fault("receive-answers-information", Receiving.receive, "MQDMPR-3.1.7.1.10.mq-ok")
def receive_answers_information(plain, self, caller, at, cursor, timeout_ms, transaction):
    """A receive that gives a message answers MQ_INFORMATION_OPERATION_PENDING."""
    plain(informing(caller), at, cursor, timeout_ms, transaction)


@fault("lookup-answers-information", Receiving.by_lookup_id, "MQDMPR-3.1.7.1.13.mq-ok")
def lookup_answers_information(plain, self, caller, at, lookup, action, *, destructive, transaction=None):
    """A read by lookup identifier that gives a message answers MQ_INFORMATION_OPERATION_PENDING."""
    plain(informing(caller), at, lookup, action, destructive=destructive, transaction=transaction)


@fault("peek-next-answers-information", Receiving.peek_next, "MQDMPR-3.1.7.1.14.mq-ok")
def peek_next_answers_information(plain, self, caller, at, cursor, timeout_ms):
    """A peek of the next message answers MQ_INFORMATION_OPERATION_PENDING with it."""
    plain(informing(caller), at, cursor, timeout_ms)


@fault("peek-answers-information", Receiving.peek, "MQDMPR-3.1.7.1.15.mq-ok")
def peek_answers_information(plain, self, caller, at, cursor, timeout_ms):
    """A peek that gives a message answers MQ_INFORMATION_OPERATION_PENDING."""
    plain(informing(caller), at, cursor, timeout_ms)


@fault("cursor-close-ends-other-reads", Cursors.close, "MQDMPR-3.1.7.1.2.own-reads-only")
def cursor_close_ends_other_reads(plain, self, cursor):
    """Closing a cursor cancels every read that waits on its handle, with or without that cursor."""
    queue = cursor.descriptor.queue
    waiters: list[Any] = list(queue.waiters) if queue is not None else []
    self.manager.reading.cancel_all([each for each in waiters if each.descriptor is cursor.descriptor])
    plain(cursor)


@fault(
    "cursor-close-closes-others", Cursors.close, "MQDMPR-3.1.7.1.2.others-kept",
    first_seen_as=("MQDMPR-3.2.7.4.read-takes-current",),
    because="that a cursor is closed shows in the next call with it",
)  # fmt: skip
def cursor_close_closes_others(plain, self, cursor):
    """Closing a cursor closes, too, the other cursors of its handle that refer to a message."""
    for other in list(cursor.descriptor.cursors):
        position = other.position
        in_use = other.state is CursorState.READ and position is not None and position.state is State.AVAILABLE
        if other is not cursor and in_use:
            plain(other)
    plain(cursor)
