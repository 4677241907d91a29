"""Faults that show only after a restart, an abort, a purge, a wait, or a round trip of a packet."""

from __future__ import annotations

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import State
from conformance.embedded.faults.base import fault
from conformance.embedded.queues import Queues
from conformance.embedded.transactions import Transactions


@fault(
    "recoverable-lost-on-restart", Delivery.keep, "MQDMPR-3.1.1.12.recoverable-survives",
    "MQMQ-2.2.19.2.recoverable-recovered",
)  # fmt: skip
def recoverable_lost_on_restart(plain, self, position):
    """A recoverable message sent outside a transaction is kept in memory only."""
    if position.message.transactional:
        plain(position)


@fault(
    "purge-forgets-locked", Queues.purge_position, "MQDMPR-3.1.7.1.7.purge-pending-state",
    "MQDMPR-3.1.4.5.purged-receive", "MQDMPR-3.1.7.1.12.purged",
)  # fmt: skip
def purge_forgets_locked(plain, self, position):
    """A purge passes over a message that a transaction or a begun receive holds: their end brings it back."""
    if position.state is not State.LOCKED:
        plain(position)


@fault(
    "transaction-outlives-abort", Transactions.abort, "MQDMPR-3.1.4.5.transaction-ends", "MQDMPR-3.1.4.4.unknown",
    "MQDMPR-3.1.4.5.unknown", "MQDMPR-3.1.4.3.unknown",
)  # fmt: skip
def transaction_outlives_abort(plain, self, transaction):
    """An aborted transaction can be used again, as if it had just begun."""
    plain(transaction)
    transaction.steps.clear()
    self.manager.open_transactions[transaction.handle] = transaction
