"""Faults of stored messages: their order, their identifiers, and the effect of the end of a transaction on them."""

from __future__ import annotations

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Message, Operation, Position, Queue, State, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.transactions import Transactions


class _LosingAbort(Transactions):
    def give_back(self, position: Position) -> None:
        self.manager.delivery.remove(position)


class LosesMessageOnAbort(Fault):
    """A message received in a transaction that aborts is gone."""

    name = "loses-message-on-abort"
    breaks = ("MQDMPR-3.1.4.5.receives-return",)
    replaces = ("transactions", _LosingAbort)


class _RequeuingAbort(Transactions):
    def give_back(self, position: Position) -> None:
        self.manager.delivery.remove(position)
        self.manager.delivery.place(position.queue, position.message, limited=False)


class AbortRequeuesAtEnd(Fault):
    """A message received in a transaction that aborts comes back behind the others, as if it had just arrived."""

    name = "abort-requeues-at-end"
    breaks = (
        "MQDMPR-3.1.4.5.receives-return-position",
        "MQDMPR-3.1.4.5.receives-return-unchanged",
    )
    replaces = ("transactions", _RequeuingAbort)


class _LosingCommit(Transactions):
    def commit(self, transaction: Transaction) -> None:
        sends = [step for step in transaction.steps if step.operation is Operation.ENQUEUE]
        if sends:
            transaction.steps.remove(sends[-1])
            if sends[-1].position.state is not State.DELETED:
                self.manager.delivery.remove(sends[-1].position)
        super().commit(transaction)


class CommitLosesLastSend(Fault):
    """The last message a transaction sent is not there after the commit."""

    name = "commit-loses-last-send"
    breaks = ("MQDMPR-3.1.4.4.sends-appear",)
    replaces = ("transactions", _LosingCommit)


class _EagerDelivery(Delivery):
    def place(self, queue: Queue, message: Message, *, uncommitted: bool = False, limited: bool = True) -> Position:
        position = super().place(queue, message, uncommitted=uncommitted, limited=limited)
        if uncommitted:
            self.make_available(position)
        return position


class UncommittedSendVisible(Fault):
    """A message sent in an open transaction can be read before the commit."""

    name = "uncommitted-send-visible"
    breaks = ("MQDMPR-3.1.7.1.9.uncommitted-locked",)
    replaces = ("delivery", _EagerDelivery)


class _CommitKeepsReceives(Transactions):
    def commit(self, transaction: Transaction) -> None:
        kept = [step for step in transaction.steps if step.operation is Operation.DEQUEUE]
        transaction.steps = [step for step in transaction.steps if step.operation is not Operation.DEQUEUE]
        super().commit(transaction)
        for step in kept:
            if step.position.state is not State.DELETED:
                self.abort_step(step)


class CommitReturnsReceives(Fault):
    """The messages a transaction received are back in their queue after its commit."""

    name = "commit-returns-receives"
    breaks = ("MQDMPR-3.1.4.4.receives-gone",)
    replaces = ("transactions", _CommitKeepsReceives)
