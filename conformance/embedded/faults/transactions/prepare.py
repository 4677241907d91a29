"""Faults of preparing a transaction, of its handle, and of the marks on its messages (MS-MQDMPR 3.1.4.3)."""

from __future__ import annotations

from typing import Any, Final

from conformance.embedded.entities import Message, MqError, Operation, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.sending import DEFAULTS, Sending
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE

_OF_TRANSACTIONS: Final = ("priority", "delivery")


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
    breaks = (
        "MQDMPR-3.1.4.3.changes-nothing-visible",
        "MQDMPR-3.1.7.1.9.uncommitted-locked",
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
    breaks = (
        "MQDMPR-3.1.4.4.success",
        "MQDMPR-3.1.4.5.success",
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
    breaks = (
        "MQDMPR-3.1.4.4.unknown",
        "MQDMPR-3.1.4.5.unknown",
        "MQDMPR-3.1.4.4.transaction-ends",
        "MQDMPR-3.1.4.5.transaction-ends",
        "MQDMPR-3.1.4.3.unknown",
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
    breaks = (
        "MQDMPR-3.1.4.4.unknown-code",
        "MQDMPR-3.1.4.5.unknown-code",
    )
    first_seen_as = ("MQDMPR-3.1.4.3.unknown-code",)
    because = "a prepare of the transaction is tried before its second end, and answers alike"
    replaces = ("transactions", _OtherCode)


class _ImmortalCommit(Transactions):
    def commit(self, transaction: Transaction) -> None:
        super().commit(transaction)
        transaction.steps.clear()
        self.manager.open_transactions[transaction.handle] = transaction


class TransactionOutlivesCommit(Fault):
    """A committed transaction can be used again, as if it had just begun."""

    name = "transaction-outlives-commit"
    breaks = (
        "MQDMPR-3.1.4.4.transaction-ends",
        "MQDMPR-3.1.4.4.unknown",
        "MQDMPR-3.1.4.5.unknown",
        "MQDMPR-3.1.4.3.unknown",
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
    breaks = (
        "MQDMPR-3.1.4.3.first-in-transaction",
        "MQDMPR-3.1.1.12.first-in-transaction",
    )
    replaces = ("transactions", _AllFirst)


class _NoneLast(Transactions):
    def prepare(self, transaction: Transaction) -> None:
        super().prepare(transaction)
        for step in transaction.steps:
            step.position.message.fields["last_in_transaction"] = False


class NoMessageLastInTransaction(Fault):
    """No message of a transaction is marked as its last."""

    name = "no-message-last-in-transaction"
    breaks = (
        "MQDMPR-3.1.4.3.last-in-transaction",
        "MQDMPR-3.1.1.12.last-in-transaction",
    )
    replaces = ("transactions", _NoneLast)


class _Unmarked(Transactions):
    def prepare(self, transaction: Transaction) -> None:
        super().prepare(transaction)
        for step in transaction.steps:
            if step.operation is Operation.ENQUEUE:
                step.position.message.fields.update(first_in_transaction=False, last_in_transaction=False)


class _AsGiven(Sending):
    def make(self, given: dict[str, Any], *, transactional: bool) -> Message:
        message = super().make(given, transactional=transactional)
        message.fields.update({name: {**DEFAULTS, **given}[name] for name in _OF_TRANSACTIONS})
        return message


class TransactionLeavesNoMark(Fault):
    """A message sent in a transaction has its own priority and delivery, and is marked neither as first nor as last."""

    name = "transaction-leaves-no-mark"
    breaks = (
        "MQDMPR-3.1.4.3.first-in-transaction",
        "MQDMPR-3.1.4.3.last-in-transaction",
        "MQMQ-2.2.19.2.transactional-recoverable",
        "MQMQ-2.2.19.1.transactional-priority-zero",
    )
    replaces = ("transactions", _Unmarked)
    also = (("sending", _AsGiven),)
