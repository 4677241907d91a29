"""Faults that show only after a restart, an abort, a purge, a wait, or a round trip of a packet."""

from __future__ import annotations

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Position, State, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.queues import Queues
from conformance.embedded.transactions import Transactions


class _ForgetfulDelivery(Delivery):
    def keep(self, position: Position) -> None:
        if position.message.transactional:
            super().keep(position)


class RecoverableLostOnRestart(Fault):
    """A recoverable message sent outside a transaction is kept in memory only."""

    name = "recoverable-lost-on-restart"
    breaks = (
        "MQDMPR-3.1.1.12.recoverable-survives",
        "MQMQ-2.2.19.2.recoverable-recovered",
    )
    replaces = ("delivery", _ForgetfulDelivery)


class _SparingPurge(Queues):
    def purge_position(self, position: Position) -> None:
        if position.state is not State.LOCKED:
            super().purge_position(position)


class PurgeForgetsLocked(Fault):
    """A purge passes over a message that a transaction or a begun receive holds: their end brings it back."""

    name = "purge-forgets-locked"
    breaks = (
        "MQDMPR-3.1.7.1.7.purge-pending-state",
        "MQDMPR-3.1.4.5.purged-receive",
        "MQDMPR-3.1.7.1.12.purged",
    )
    replaces = ("queues", _SparingPurge)


class _ImmortalTransactions(Transactions):
    def abort(self, transaction: Transaction) -> None:
        super().abort(transaction)
        transaction.steps.clear()
        self.manager.open_transactions[transaction.handle] = transaction


class TransactionOutlivesAbort(Fault):
    """An aborted transaction can be used again, as if it had just begun."""

    name = "transaction-outlives-abort"
    breaks = (
        "MQDMPR-3.1.4.5.transaction-ends",
        "MQDMPR-3.1.4.4.unknown",
        "MQDMPR-3.1.4.5.unknown",
        "MQDMPR-3.1.4.3.unknown",
    )
    replaces = ("transactions", _ImmortalTransactions)
