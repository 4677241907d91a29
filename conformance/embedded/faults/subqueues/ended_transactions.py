"""Faults of a move in a transaction that has ended (MS-MQDMPR 3.1.7.1.16)."""

from __future__ import annotations

from conformance.embedded.entities import Descriptor, MqError, Transaction
from conformance.embedded.faults.transactions.ended import Ended, Remembering, of_ended
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE


@of_ended(
    "move-in-ended-transaction", "MQRR-3.1.4.10.transaction-sequence", "MQRR-3.1.4.10.transaction-sequence-code",
    "MQDMPR-3.1.4.4.transaction-ends", "MQDMPR-3.1.4.5.transaction-ends",
)  # fmt: skip
class MoveInEndedTransaction(Remembering):
    """A move in a transaction that has ended is done at once, as if it were in none."""

    def move(self, source: Descriptor, lookup: int, destination: Descriptor, transaction: Transaction | None) -> None:
        transactional = destination.queue is not None and destination.queue.transactional
        unbound = isinstance(transaction, Ended) and transactional  # MS-MQRR 3.1.4.10 refuses other targets before
        super().move(source, lookup, destination, None if unbound else transaction)


@of_ended("move-in-ended-transaction-wrong-status", "MQRR-3.1.4.10.transaction-sequence-code")
class MoveInEndedTransactionWrongStatus(Remembering):
    """A move in a transaction that has ended fails with MQ_ERROR_INVALID_HANDLE."""

    def move(self, source: Descriptor, lookup: int, destination: Descriptor, transaction: Transaction | None) -> None:
        if isinstance(transaction, Ended):
            transaction.failure = MqError(MQ_ERROR_INVALID_HANDLE)
        super().move(source, lookup, destination, transaction)
