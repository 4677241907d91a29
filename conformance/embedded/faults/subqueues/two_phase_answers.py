"""Faults of the answer of a two-phase read, and of ending one twice (MS-MQDMPR 3.1.7.1.11, 3.1.7.1.12)."""

from __future__ import annotations

from conformance.embedded.entities import (
    Cursor,
    Descriptor,
    MqError,
    OpenRead,
    Position,
    State,
)
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.cursors.answers import informing
from conformance.embedded.receiving import Caller, Receiving
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE, MQ_INFORMATION_OPERATION_PENDING


class _InformingBegin(Receiving):
    def receive_begin(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        super().receive_begin(informing(caller), at, cursor, timeout_ms)


class BegunReadAnswersInformation(Fault):
    """The first phase of a read in two phases answers MQ_INFORMATION_OPERATION_PENDING with its message."""

    name = "begun-read-answers-information"
    breaks = ("MQDMPR-3.1.7.1.11.mq-ok",)
    replaces = ("reading", _InformingBegin)


class _InformingEnd(Receiving):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        super().end(read, acknowledge=acknowledge)
        if acknowledge:
            raise MqError(MQ_INFORMATION_OPERATION_PENDING)


class ReadEndAnswersInformation(Fault):
    """The second phase of a read in two phases that takes its message answers MQ_INFORMATION_OPERATION_PENDING."""

    name = "read-end-answers-information"
    breaks = ("MQDMPR-3.1.7.1.12.mq-ok",)
    replaces = ("reading", _InformingEnd)


class _Twice(Receiving):
    """Does something when a read in two phases is ended again, and refuses that all the same."""

    def again(self, read: OpenRead, *, acknowledge: bool) -> None:
        raise AssertionError("every subclass says what")

    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        ended: dict[str, OpenRead] = self.__dict__.setdefault("ended", {})
        if read.handle in ended:
            if not read.position.queue.deleted:
                self.again(read, acknowledge=acknowledge)
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        purged = read.position.state is State.PURGE_PENDING
        super().end(read, acknowledge=acknowledge)
        if purged:
            return  # what a purge took is another demand
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
    breaks = ("MQDMPR-3.1.7.1.12.not-begun-ends",)
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
    breaks = ("MQDMPR-3.1.7.1.12.no-resurrection",)
    replaces = ("reading", _RevivingTwice)
