"""Faults of preparing a transaction, of its handle, and of the marks on its messages (MS-MQDMPR 3.1.4.3)."""

from __future__ import annotations

from typing import Final

from conformance.embedded.entities import MqError, Operation, Transaction
from conformance.embedded.faults.base import also, fault
from conformance.embedded.sending import DEFAULTS, Sending
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE

_OF_TRANSACTIONS: Final = ("priority", "delivery")


@fault(
    "prepare-publishes-sends", Transactions.prepare, "MQDMPR-3.1.4.3.changes-nothing-visible",
    "MQDMPR-3.1.7.1.9.uncommitted-locked",
)  # fmt: skip
def prepare_publishes_sends(plain, self, transaction):
    """What a transaction sent can be read as soon as it is prepared."""
    plain(transaction)
    for step in transaction.steps:
        if step.operation is Operation.ENQUEUE and step.position.uncommitted:
            step.position.uncommitted = False
            self.manager.delivery.keep(step.position)
            self.manager.delivery.make_available(step.position)


@fault("prepare-ends-transaction", "transactions", "MQDMPR-3.1.4.4.success", "MQDMPR-3.1.4.5.success")
class PrepareEndsTransaction(Transactions):
    """A transaction that was prepared is not known any more, so that it can neither be committed nor aborted."""

    committing = False

    def prepare(self, transaction: Transaction) -> None:
        super().prepare(transaction)
        if not self.committing:
            del self.manager.open_transactions[transaction.handle]

    def commit(self, transaction: Transaction) -> None:
        self.committing = True
        super().commit(transaction)
        self.committing = False


@fault(
    "ended-transaction-accepted", Transactions.named, "MQDMPR-3.1.4.4.unknown", "MQDMPR-3.1.4.5.unknown",
    "MQDMPR-3.1.4.4.transaction-ends", "MQDMPR-3.1.4.5.transaction-ends", "MQDMPR-3.1.4.3.unknown",
)  # fmt: skip
def ended_transaction_accepted(plain, self, handle):
    """A transaction that has ended can be ended, and used, again."""
    try:
        return plain(handle)
    except MqError:
        if not isinstance(handle, str) or not handle.startswith("t"):
            raise
        again = Transaction(handle)
        self.manager.open_transactions[handle] = again
        return again


@fault(
    "ended-transaction-wrong-status", Transactions.named, "MQDMPR-3.1.4.4.unknown-code", "MQDMPR-3.1.4.5.unknown-code",
    first_seen_as=("MQDMPR-3.1.4.3.unknown-code",),
    because="a prepare of the transaction is tried before its second end, and answers alike",
)  # fmt: skip
def ended_transaction_wrong_status(plain, self, handle):
    """Ending a transaction that has ended fails with MQ_ERROR_INVALID_HANDLE."""
    try:
        return plain(handle)
    except MqError:
        raise MqError(MQ_ERROR_INVALID_HANDLE) from None


@fault(
    "transaction-outlives-commit", Transactions.commit, "MQDMPR-3.1.4.4.transaction-ends", "MQDMPR-3.1.4.4.unknown",
    "MQDMPR-3.1.4.5.unknown", "MQDMPR-3.1.4.3.unknown",
)  # fmt: skip
def transaction_outlives_commit(plain, self, transaction):
    """A committed transaction can be used again, as if it had just begun."""
    plain(transaction)
    transaction.steps.clear()
    self.manager.open_transactions[transaction.handle] = transaction


@fault(
    "every-message-first-in-transaction", Transactions.prepare, "MQDMPR-3.1.4.3.first-in-transaction",
    "MQDMPR-3.1.1.12.first-in-transaction",
)  # fmt: skip
def every_message_first_in_transaction(plain, self, transaction):
    """Every message of a transaction is marked as its first."""
    plain(transaction)
    for step in transaction.steps:
        if step.operation is Operation.ENQUEUE:
            step.position.message.fields["first_in_transaction"] = True


@fault(
    "no-message-last-in-transaction", Transactions.prepare, "MQDMPR-3.1.4.3.last-in-transaction",
    "MQDMPR-3.1.1.12.last-in-transaction",
)  # fmt: skip
def no_message_last_in_transaction(plain, self, transaction):
    """No message of a transaction is marked as its last."""
    plain(transaction)
    for step in transaction.steps:
        step.position.message.fields["last_in_transaction"] = False


@fault(
    "transaction-leaves-no-mark", Transactions.prepare, "MQDMPR-3.1.4.3.first-in-transaction",
    "MQDMPR-3.1.4.3.last-in-transaction", "MQMQ-2.2.19.2.transactional-recoverable",
    "MQMQ-2.2.19.1.transactional-priority-zero",
)  # fmt: skip
def transaction_leaves_no_mark(plain, self, transaction):
    """A message sent in a transaction has its own priority and delivery, and is marked neither as first nor as last."""
    plain(transaction)
    for step in transaction.steps:
        if step.operation is Operation.ENQUEUE:
            step.position.message.fields.update(first_in_transaction=False, last_in_transaction=False)


@also("transaction-leaves-no-mark", Sending.make)
def transaction_leaves_no_mark_make(plain, self, given, *, transactional):
    message = plain(given, transactional=transactional)
    message.fields.update({name: {**DEFAULTS, **given}[name] for name in _OF_TRANSACTIONS})
    return message
