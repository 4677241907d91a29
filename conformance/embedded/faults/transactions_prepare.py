"""Faults of preparing a transaction, of its handle, and of the marks its messages get (MS-MQDMPR 3.1.4.3)."""

from __future__ import annotations

from conformance.embedded.entities import MqError, Operation, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import LOST, SURPLUS, dmpr
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE

_UNKNOWN = dmpr("3.1.4.3.unknown", "3.1.4.4.unknown", "3.1.4.5.unknown")
_UNKNOWN_CODE = dmpr("3.1.4.3.unknown-code", "3.1.4.4.unknown-code", "3.1.4.5.unknown-code")


class _PublishingPrepare(Transactions):
    def prepare(self, transaction: Transaction) -> None:
        super().prepare(transaction)
        for step in transaction.steps:
            if step.operation is Operation.ENQUEUE and step.position.uncommitted:
                step.position.uncommitted = False
                self.manager.delivery.keep(step.position)
                self.manager.delivery.make_available(step.position)


class PreparePublishesSends(Fault):
    """What a transaction sent can be read as soon as it is prepared."""

    name = "prepare-publishes-sends"
    suite = "transactions"
    breaks = (
        *dmpr(
            "3.1.4.3.changes-nothing-visible",
            "3.1.1.11.uncommitted-send-invisible",
            "3.1.7.1.9.uncommitted-locked",
            "3.1.7.1.9.position-locked",
            "3.1.4.5.sends-vanish",
            "3.1.7.1.10.skips-locked",
            "3.1.7.1.15.skips-locked",
        ),
        *SURPLUS,
    )
    replaces = ("transactions", _PublishingPrepare)


class _FinalPrepare(Transactions):
    committing = False

    def prepare(self, transaction: Transaction) -> None:
        super().prepare(transaction)
        if not self.committing:
            del self.manager.open_transactions[transaction.handle]

    def commit(self, transaction: Transaction) -> None:
        self.committing = True
        super().commit(transaction)
        self.committing = False


class PrepareEndsTransaction(Fault):
    """A transaction that was prepared is not known any more, so that it can neither be committed nor aborted."""

    name = "prepare-ends-transaction"
    suite = "transactions"
    breaks = (
        *dmpr(
            "3.1.4.3.success",
            "3.1.4.3.changes-nothing-visible",
            "3.1.4.4.success",
            "3.1.4.4.sends-appear",
            "3.1.4.4.receives-gone",
            "3.1.4.5.success",
            "3.1.4.5.sends-vanish",
            "3.1.4.5.receives-return",
            "3.1.7.1.8.created",
            "3.1.1.14.several-queues",
        ),
        *LOST,
    )
    replaces = ("transactions", _FinalPrepare)


class _EverPresent(Transactions):
    def named(self, handle: object) -> Transaction:
        try:
            return super().named(handle)
        except MqError:
            if not isinstance(handle, str) or not handle.startswith("t"):
                raise
            again = Transaction(handle)
            self.manager.open_transactions[handle] = again
            return again


class EndedTransactionAccepted(Fault):
    """A transaction that has ended can be ended, and used, again."""

    name = "ended-transaction-accepted"
    suite = "transactions"
    breaks = (
        *_UNKNOWN,
        *_UNKNOWN_CODE,
        *dmpr("3.1.4.4.transaction-ends", "3.1.4.5.transaction-ends", "3.1.7.1.8.created"),
    )
    replaces = ("transactions", _EverPresent)


class _OtherCode(Transactions):
    def named(self, handle: object) -> Transaction:
        try:
            return super().named(handle)
        except MqError:
            raise MqError(MQ_ERROR_INVALID_HANDLE) from None


class EndedTransactionWrongStatus(Fault):
    """Ending a transaction that has ended fails with MQ_ERROR_INVALID_HANDLE."""

    name = "ended-transaction-wrong-status"
    suite = "transactions"
    breaks = _UNKNOWN_CODE
    replaces = ("transactions", _OtherCode)


class _ImmortalCommit(Transactions):
    def commit(self, transaction: Transaction) -> None:
        super().commit(transaction)
        transaction.steps.clear()
        self.manager.open_transactions[transaction.handle] = transaction


class TransactionOutlivesCommit(Fault):
    """A committed transaction can be used again, as if it had just begun."""

    name = "transaction-outlives-commit"
    suite = "transactions"
    breaks = (
        *dmpr("3.1.4.4.transaction-ends"),
        *_UNKNOWN,
        *_UNKNOWN_CODE,
    )
    replaces = ("transactions", _ImmortalCommit)


class _AllFirst(Transactions):
    def prepare(self, transaction: Transaction) -> None:
        super().prepare(transaction)
        for step in transaction.steps:
            if step.operation is Operation.ENQUEUE:
                step.position.message.fields["first_in_transaction"] = True


class EveryMessageFirstInTransaction(Fault):
    """Every message of a transaction is marked as its first."""

    name = "every-message-first-in-transaction"
    suite = "transactions"
    breaks = dmpr("3.1.4.3.first-in-transaction", "3.1.1.12.first-in-transaction")
    replaces = ("transactions", _AllFirst)


class _NoneLast(Transactions):
    def prepare(self, transaction: Transaction) -> None:
        super().prepare(transaction)
        for step in transaction.steps:
            step.position.message.fields["last_in_transaction"] = False


class NoMessageLastInTransaction(Fault):
    """No message of a transaction is marked as its last."""

    name = "no-message-last-in-transaction"
    suite = "transactions"
    breaks = dmpr("3.1.4.3.last-in-transaction", "3.1.1.12.last-in-transaction")
    replaces = ("transactions", _NoneLast)


PREPARE_FAULTS: tuple[type[Fault], ...] = (
    PreparePublishesSends,
    PrepareEndsTransaction,
    EndedTransactionAccepted,
    EndedTransactionWrongStatus,
    TransactionOutlivesCommit,
    EveryMessageFirstInTransaction,
    NoMessageLastInTransaction,
)
