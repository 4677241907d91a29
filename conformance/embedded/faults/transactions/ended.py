"""Faults of an ended transaction, and of the order in which the operations of one take effect (MS-MQDMPR 3.1.4.3)."""

from __future__ import annotations

from collections.abc import Callable

from conformance.embedded.entities import MqError, Queue, Transaction
from conformance.embedded.faults.base import also, fault
from conformance.embedded.receiving import Receiving
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


def of_ended(name: str, *breaks: str) -> Callable[[type[Remembering]], type[Remembering]]:
    """Register a fault of one call in a transaction that has ended; the other calls refuse it as ever."""

    def register(made: type[Remembering]) -> type[Remembering]:
        fault(name, "transactions", *breaks)(made)
        for method in (Sending.send, Receiving.receive, Receiving.by_lookup_id):
            also(name, method)(_strict)
        return made

    return register


def _strict(plain, self, *given, **named):
    _refuse(next((each for each in (*given, *named.values()) if isinstance(each, Ended)), None))
    return plain(*given, **named)


@of_ended("prepare-of-ended-succeeds", "MQDMPR-3.1.4.3.unknown", "MQDMPR-3.1.4.3.unknown-code")
class PrepareOfEndedSucceeds(Remembering):
    """Preparing a transaction that has ended succeeds and does nothing."""

    def prepare(self, transaction: Transaction) -> None:
        if not isinstance(transaction, Ended):
            super().prepare(transaction)


@of_ended("prepare-of-ended-wrong-status", "MQDMPR-3.1.4.3.unknown-code")
class PrepareOfEndedWrongStatus(Remembering):
    """Preparing a transaction that has ended fails with MQ_ERROR_INVALID_HANDLE."""

    def prepare(self, transaction: Transaction) -> None:
        if isinstance(transaction, Ended):
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        super().prepare(transaction)


@fault("ends-backwards-for-waiters", Transactions._end, "MQDMPR-3.1.1.14.in-order")
def ends_backwards_for_waiters(plain, self, transaction):
    """What a transaction did takes effect last to first when it ends while a reader waits, who gets the last."""
    plain(transaction)  # the reads of its own are over: who waits now is somebody else
    queues: list[Queue] = [step.target or step.position.queue for step in transaction.steps]
    if any(queue.waiters for queue in queues):
        transaction.steps.reverse()
