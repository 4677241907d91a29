"""Faults of an ended transaction, and of the order in which the operations of one take effect (MS-MQDMPR 3.1.4.3)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.entities import Descriptor, MqError, Queue, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.receiving import Caller, Receiving
from conformance.embedded.sending import Sending
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE, MQ_ERROR_TRANSACTION_SEQUENCE


class Ended(Transaction):
    """Stands for a transaction that has ended, so that what is asked of it can be told from other failures."""


def _refuse(transaction: Transaction | None) -> None:
    if isinstance(transaction, Ended):
        raise MqError(MQ_ERROR_TRANSACTION_SEQUENCE)


class Remembering(Transactions):
    """Knows the transactions that have ended, and refuses them as the text does. A fault makes an exception."""

    def named(self, handle: object) -> Transaction:
        try:
            return super().named(handle)
        except MqError:
            if isinstance(handle, str) and handle in self._begun():
                return Ended(handle, failure=MqError(MQ_ERROR_TRANSACTION_SEQUENCE))
            raise

    def begin(self) -> Transaction:
        transaction = super().begin()
        self._begun().add(transaction.handle)
        return transaction

    def prepare(self, transaction: Transaction) -> None:
        _refuse(transaction)
        super().prepare(transaction)

    def commit(self, transaction: Transaction) -> None:
        _refuse(transaction)
        super().commit(transaction)

    def abort(self, transaction: Transaction) -> None:
        _refuse(transaction)
        super().abort(transaction)

    def _begun(self) -> set[str]:
        begun: set[str] = self.__dict__.setdefault("begun", set())
        return begun


class _Strict(Sending):
    def send(self, descriptor: Descriptor, given: dict[str, Any], transaction: Transaction | None) -> dict[str, Any]:
        _refuse(transaction)
        return super().send(descriptor, given, transaction)


class _StrictToo(Receiving):
    def receive(
        self, caller: Caller, at: Descriptor, cursor: Any, timeout_ms: int, transaction: Transaction | None
    ) -> None:
        _refuse(transaction)
        super().receive(caller, at, cursor, timeout_ms, transaction)

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
        _refuse(transaction)
        super().by_lookup_id(caller, at, lookup, action, destructive=destructive, transaction=transaction)


class OfEnded(Fault):
    """A fault of one call in a transaction that has ended; the other calls refuse it as ever."""

    also = (("sending", _Strict), ("reading", _StrictToo))


class _IdlePrepare(Remembering):
    def prepare(self, transaction: Transaction) -> None:
        if not isinstance(transaction, Ended):
            super().prepare(transaction)


class PrepareOfEndedSucceeds(OfEnded):
    """Preparing a transaction that has ended succeeds and does nothing."""

    name = "prepare-of-ended-succeeds"
    breaks = (
        "MQDMPR-3.1.4.3.unknown",
        "MQDMPR-3.1.4.3.unknown-code",
    )
    replaces = ("transactions", _IdlePrepare)


class _VaguePrepare(Remembering):
    def prepare(self, transaction: Transaction) -> None:
        if isinstance(transaction, Ended):
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        super().prepare(transaction)


class PrepareOfEndedWrongStatus(OfEnded):
    """Preparing a transaction that has ended fails with MQ_ERROR_INVALID_HANDLE."""

    name = "prepare-of-ended-wrong-status"
    breaks = ("MQDMPR-3.1.4.3.unknown-code",)
    replaces = ("transactions", _VaguePrepare)


class _Backwards(Transactions):
    def _end(self, transaction: Transaction) -> None:
        super()._end(transaction)  # the reads of its own are over: who waits now is somebody else
        queues: list[Queue] = [step.target or step.position.queue for step in transaction.steps]
        if any(queue.waiters for queue in queues):
            transaction.steps.reverse()


class EndsBackwardsForWaiters(Fault):
    """What a transaction did takes effect last to first when it ends while a reader waits, who gets the last."""

    name = "ends-backwards-for-waiters"
    breaks = ("MQDMPR-3.1.1.14.in-order",)
    replaces = ("transactions", _Backwards)
