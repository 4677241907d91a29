"""Faults of how a read answers, of ending one twice, and of closing a cursor (MS-MQDMPR 3.1.7.1.2, .10 to .15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.embedded.cursors import Cursors
from conformance.embedded.entities import (
    Cursor,
    CursorState,
    Descriptor,
    MqError,
    OpenRead,
    Position,
    Result,
    State,
    Transaction,
)
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import BEHIND, BYTES, LOST, SURPLUS, WAKING, dmpr
from conformance.embedded.reading import Caller, Reading
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE, MQ_INFORMATION_OPERATION_PENDING


def _informed(result: Result) -> Result:
    return {**result, "status": MQ_INFORMATION_OPERATION_PENDING} if result["status"] == 0 else result


def _informing(caller: Caller) -> Caller:
    """The caller, to whom a success is answered with an information instead of MQ_OK."""
    answer: Callable[[Result], None] = caller.answer
    caller.answer = lambda result: answer(_informed(result))
    return caller


class _InformingReceive(Reading):
    def receive(
        self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int, transaction: Transaction | None
    ) -> None:
        super().receive(_informing(caller), at, cursor, timeout_ms, transaction)


class ReceiveAnswersInformation(Fault):
    """A receive that gives a message answers MQ_INFORMATION_OPERATION_PENDING."""

    name = "receive-answers-information"
    suite = "cursors"
    breaks = dmpr("3.1.7.1.10.mq-ok")
    replaces = ("reading", _InformingReceive)


class _InformingBegin(Reading):
    def receive_begin(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        super().receive_begin(_informing(caller), at, cursor, timeout_ms)


class BegunReadAnswersInformation(Fault):
    """The first phase of a read in two phases answers MQ_INFORMATION_OPERATION_PENDING with its message."""

    name = "begun-read-answers-information"
    suite = "subqueues"
    breaks = dmpr("3.1.7.1.11.mq-ok")
    replaces = ("reading", _InformingBegin)


class _InformingEnd(Reading):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        super().end(read, acknowledge=acknowledge)
        if acknowledge:
            raise MqError(MQ_INFORMATION_OPERATION_PENDING)


class ReadEndAnswersInformation(Fault):
    """The second phase of a read in two phases that takes its message answers MQ_INFORMATION_OPERATION_PENDING."""

    name = "read-end-answers-information"
    suite = "subqueues"
    breaks = dmpr("3.1.7.1.12.mq-ok")
    replaces = ("reading", _InformingEnd)


class _InformingLookup(Reading):
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
        super().by_lookup_id(_informing(caller), at, lookup, action, destructive=destructive, transaction=transaction)


class LookupAnswersInformation(Fault):
    """A read by lookup identifier that gives a message answers MQ_INFORMATION_OPERATION_PENDING."""

    name = "lookup-answers-information"
    suite = "cursors"
    breaks = dmpr("3.1.7.1.13.mq-ok")
    replaces = ("reading", _InformingLookup)


class _InformingPeekNext(Reading):
    def peek_next(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        super().peek_next(_informing(caller), at, cursor, timeout_ms)


class PeekNextAnswersInformation(Fault):
    """A peek of the next message answers MQ_INFORMATION_OPERATION_PENDING with it."""

    name = "peek-next-answers-information"
    suite = "cursors"
    breaks = dmpr("3.1.7.1.14.mq-ok")
    replaces = ("reading", _InformingPeekNext)


class _InformingPeek(Reading):
    def peek(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        super().peek(_informing(caller), at, cursor, timeout_ms)


class PeekAnswersInformation(Fault):
    """A peek that gives a message answers MQ_INFORMATION_OPERATION_PENDING."""

    name = "peek-answers-information"
    suite = "cursors"
    breaks = dmpr("3.1.7.1.15.mq-ok")
    replaces = ("reading", _InformingPeek)


class _Twice(Reading):
    """Does something when a read in two phases is ended again, and refuses that all the same."""

    def again(self, read: OpenRead, *, acknowledge: bool) -> None:
        raise AssertionError("every subclass says what")

    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        ended: dict[str, OpenRead] = self.__dict__.setdefault("ended", {})
        if read.handle in ended:
            if not read.position.queue.deleted:
                self.again(read, acknowledge=acknowledge)
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        super().end(read, acknowledge=acknowledge)
        # It stays known under a handle nobody can close, so that only another end finds it.
        read.descriptor = Descriptor("", "receive", "deny_none", None)
        ended[read.handle] = self.manager.open_reads[read.handle] = read


class _DeletingTwice(_Twice):
    def again(self, read: OpenRead, *, acknowledge: bool) -> None:
        if acknowledge and read.position.state is State.AVAILABLE:
            self.manager.delivery.remove(read.position)


class SecondEndDeletes(Fault):
    """A message that came back from a rejected read is deleted when that read is ended again, which fails."""

    name = "second-end-deletes"
    suite = "subqueues"
    breaks = (*dmpr("3.1.7.1.12.not-begun-ends", "3.1.7.1.12.kept", "3.1.7.1.12.restores"), *LOST)
    replaces = ("reading", _DeletingTwice)


class _RevivingTwice(_Twice):
    def again(self, read: OpenRead, *, acknowledge: bool) -> None:
        position: Position = read.position
        if not acknowledge and position.state is State.DELETED:
            position.state = State.LOCKED
            position.queue.positions.insert(position)
            self.manager.delivery.account(position.queue, position.message.size)
            self.manager.delivery.keep(position)
            self.manager.delivery.make_available(position)


class SecondEndRevives(Fault):
    """A message that the end of a read deleted is back when that read is ended again as rejected, which fails."""

    name = "second-end-revives"
    suite = "subqueues"
    breaks = (
        *dmpr("3.1.7.1.12.no-resurrection", "3.1.7.1.12.deletes", "3.1.7.2.2.others-remain"),
        *SURPLUS,
        *BYTES,
        *WAKING,  # a reader that waits for another message gets this one
    )
    replaces = ("reading", _RevivingTwice)


class _Sweeping(Cursors):
    def close(self, cursor: Cursor) -> None:
        queue = cursor.descriptor.queue
        waiters: list[Any] = list(queue.waiters) if queue is not None else []
        self.manager.reading.cancel_all([each for each in waiters if each.descriptor is cursor.descriptor])
        super().close(cursor)


class CursorCloseEndsOtherReads(Fault):
    """Closing a cursor cancels every read that waits on its handle, with or without that cursor."""

    name = "cursor-close-ends-other-reads"
    suite = "cursors"
    breaks = (*dmpr("3.1.7.1.2.own-reads-only"), *WAKING)
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
    suite = "cursors"
    breaks = (
        # What is read with a cursor that is closed against the rules fails, as if the message were gone.
        *dmpr("3.1.7.1.2.others-kept", "3.1.7.1.2.own-reads-only", "3.1.7.1.2.messages-kept"),
        *dmpr("3.2.7.2.read-stays", "3.2.7.2.already-received", "3.2.7.3.moves", "3.2.7.4.read-takes-current"),
        *dmpr("3.2.7.4.already-received", "3.2.7.2.becomes-read"),
        *BEHIND,
        *WAKING,
    )
    replaces = ("cursors", _Emptying)


READ_ANSWER_FAULTS: tuple[type[Fault], ...] = (
    ReceiveAnswersInformation,
    BegunReadAnswersInformation,
    ReadEndAnswersInformation,
    LookupAnswersInformation,
    PeekNextAnswersInformation,
    PeekAnswersInformation,
    SecondEndDeletes,
    SecondEndRevives,
    CursorCloseEndsOtherReads,
    CursorCloseClosesOthers,
)
