"""Faults of stored messages: their order, their identifiers, and the effect of the end of a transaction on them."""

from __future__ import annotations

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Operation, State
from conformance.embedded.faults.base import fault
from conformance.embedded.transactions import Transactions


@fault("loses-message-on-abort", Transactions.give_back, "MQDMPR-3.1.4.5.receives-return")
def loses_message_on_abort(plain, self, position):
    """A message received in a transaction that aborts is gone."""
    self.manager.delivery.remove(position)


@fault(
    "abort-requeues-at-end", Transactions.give_back, "MQDMPR-3.1.4.5.receives-return-position",
    "MQDMPR-3.1.4.5.receives-return-unchanged",
)  # fmt: skip
def abort_requeues_at_end(plain, self, position):
    """A message received in a transaction that aborts comes back behind the others, as if it had just arrived."""
    self.manager.delivery.remove(position)
    self.manager.delivery.place(position.queue, position.message, limited=False)


@fault("commit-loses-last-send", Transactions.commit, "MQDMPR-3.1.4.4.sends-appear")
def commit_loses_last_send(plain, self, transaction):
    """The last message a transaction sent is not there after the commit."""
    sends = [step for step in transaction.steps if step.operation is Operation.ENQUEUE]
    if sends:
        transaction.steps.remove(sends[-1])
        if sends[-1].position.state is not State.DELETED:
            self.manager.delivery.remove(sends[-1].position)
    plain(transaction)


@fault("uncommitted-send-visible", Delivery.place, "MQDMPR-3.1.7.1.9.uncommitted-locked")
def uncommitted_send_visible(plain, self, queue, message, *, uncommitted=False, limited=True):
    """A message sent in an open transaction can be read before the commit."""
    position = plain(queue, message, uncommitted=uncommitted, limited=limited)
    if uncommitted:
        self.make_available(position)
    return position


@fault("commit-returns-receives", Transactions.commit, "MQDMPR-3.1.4.4.receives-gone")
def commit_returns_receives(plain, self, transaction):
    """The messages a transaction received are back in their queue after its commit."""
    kept = [step for step in transaction.steps if step.operation is Operation.DEQUEUE]
    transaction.steps = [step for step in transaction.steps if step.operation is not Operation.DEQUEUE]
    plain(transaction)
    for step in kept:
        if step.position.state is not State.DELETED:
            self.abort_step(step)
