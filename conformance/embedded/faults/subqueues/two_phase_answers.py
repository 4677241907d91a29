"""Faults of the answer of a two-phase read, and of ending one twice (MS-MQDMPR 3.1.7.1.11, 3.1.7.1.12)."""

from __future__ import annotations

from conformance.embedded.entities import (
    Descriptor,
    MqError,
    OpenRead,
    Position,
    State,
)
from conformance.embedded.faults.base import fault
from conformance.embedded.faults.cursors.answers import informing
from conformance.embedded.receiving import Receiving
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE, MQ_INFORMATION_OPERATION_PENDING


@fault("begun-read-answers-information", Receiving.receive_begin, "MQDMPR-3.1.7.1.11.mq-ok")
def begun_read_answers_information(plain, self, caller, at, cursor, timeout_ms):
    """The first phase of a read in two phases answers MQ_INFORMATION_OPERATION_PENDING with its message."""
    plain(informing(caller), at, cursor, timeout_ms)


@fault("read-end-answers-information", Receiving.end, "MQDMPR-3.1.7.1.12.mq-ok")
def read_end_answers_information(plain, self, read, *, acknowledge):
    """The second phase of a read in two phases that takes its message answers MQ_INFORMATION_OPERATION_PENDING."""
    plain(read, acknowledge=acknowledge)
    if acknowledge:
        raise MqError(MQ_INFORMATION_OPERATION_PENDING)


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


@fault("second-end-deletes", "reading", "MQDMPR-3.1.7.1.12.not-begun-ends")
class SecondEndDeletes(_Twice):
    """A message that came back from a rejected read is deleted when that read is ended again, which fails."""

    def again(self, read: OpenRead, *, acknowledge: bool) -> None:
        if acknowledge and read.position.state is State.AVAILABLE:
            self.manager.delivery.remove(read.position)


@fault("second-end-revives", "reading", "MQDMPR-3.1.7.1.12.no-resurrection")
class SecondEndRevives(_Twice):
    """A message that the end of a read deleted is back when that read is ended again as rejected, which fails."""

    def again(self, read: OpenRead, *, acknowledge: bool) -> None:
        position: Position = read.position
        if not acknowledge and position.state is State.DELETED:
            position.state = State.LOCKED
            position.queue.positions.insert(position)
            self.manager.delivery.account(position.queue, position.message.size)
            self.manager.delivery.keep(position)
            self.manager.delivery.make_available(position)
