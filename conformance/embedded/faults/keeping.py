"""Faults of keeping messages: their order, their identifiers, and what the end of a transaction does to them."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Message, Operation, Position, Queue, State, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import LOST
from conformance.embedded.positions import SEQUENCE_BITS, PositionList
from conformance.embedded.transactions import Transactions


class _LosingAbort(Transactions):
    def give_back(self, position: Position) -> None:
        self.manager.delivery.remove(position)


class LosesMessageOnAbort(Fault):
    """A message received in a transaction that aborts is gone."""

    name = "loses-message-on-abort"
    suite = "transactions"
    breaks = (
        "MQDMPR-3.1.4.5.receives-return",
        "MQDMPR-3.1.4.5.receives-return-position",
        "MQDMPR-3.1.4.5.wakes-readers",
        "MQDMPR-3.1.1.2.total-bytes",
        "MQDMPR-3.1.7.1.10.first-available",
        "MQDMPR-3.1.7.1.15.first-available",
    )
    replaces = ("transactions", _LosingAbort)


class _RequeuingAbort(Transactions):
    def give_back(self, position: Position) -> None:
        self.manager.delivery.remove(position)
        self.manager.delivery.place(position.queue, position.message, limited=False)


class AbortRequeuesAtEnd(Fault):
    """A message received in a transaction that aborts comes back behind the others, as if it had just arrived."""

    name = "abort-requeues-at-end"
    suite = "transactions"
    breaks = (
        "MQDMPR-3.1.4.5.receives-return-position",
        "MQDMPR-3.1.4.5.receives-return-unchanged",
        "MQDMPR-3.1.4.5.receives-return",
        "MQDMPR-3.1.1.2.arrival-order",
        "MQDMPR-3.1.7.1.10.first-available",
        "MQDMPR-3.1.7.1.15.first-available",
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
    suite = "transactions"
    breaks = (
        "MQDMPR-3.1.4.4.sends-appear",
        "MQDMPR-3.1.4.4.all-together",
        "MQDMPR-3.1.4.4.wakes-readers",
        "MQDMPR-3.1.4.3.last-in-transaction",
        "MQDMPR-3.1.1.14.several-queues",
        "MQDMPR-3.1.7.1.8.created",
        *LOST,
    )
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
    suite = "transactions"
    breaks = (
        "MQDMPR-3.1.1.11.uncommitted-send-invisible",
        "MQDMPR-3.1.7.1.9.uncommitted-locked",
        "MQDMPR-3.1.4.3.changes-nothing-visible",
        "MQDMPR-3.1.7.1.10.first-available",
        "MQDMPR-3.1.7.1.15.first-available",
        "MQDMPR-3.1.7.1.10.no-wait",
        "MQDMPR-3.1.7.1.15.no-wait",
        "MQDMPR-3.1.7.1.10.skips-locked",
        "MQDMPR-3.1.7.1.15.skips-locked",
        "MQDMPR-3.2.7.3.skips-unavailable",
    )
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
    suite = "transactions"
    breaks = (
        "MQDMPR-3.1.4.4.receives-gone",
        "MQDMPR-3.1.4.4.all-together",
        "MQDMPR-3.1.7.1.10.at-most-once",
        "MQDMPR-3.1.1.14.several-queues",
        "MQDMPR-3.1.7.1.10.first-available",
        "MQDMPR-3.1.7.1.15.first-available",
        "MQDMPR-3.1.7.1.10.no-wait",
        "MQDMPR-3.1.7.1.15.no-wait",
    )
    replaces = ("transactions", _CommitKeepsReceives)


class _FlatList(PositionList):
    @staticmethod
    def order(message: Message, sequence: int) -> int:
        return sequence


class IgnoresPriority(Fault):
    """Messages stand in the order of their arrival, whatever their priority."""

    name = "ignores-priority"
    suite = "cursors"
    breaks = (
        "MQDMPR-3.1.1.2.priority-before-arrival",
        "MQMQ-2.2.19.1.higher-priority-nearer-front",
        "MQDMPR-3.1.1.12.lookup-identifier-order",
        "MQDMPR-3.1.7.1.10.first-available",
        "MQDMPR-3.1.7.1.15.first-available",
        "MQDMPR-3.1.7.1.14.next-available",
        "MQDMPR-3.2.7.3.not-before-cursor",
        "MQDMPR-3.2.7.2.unread-seeks",
        "MQDMPR-3.2.7.4.unread-seeks",
        "MQDMPR-3.1.7.1.10.cursor-seeks",
        "MQDMPR-3.1.7.3.2.forward",
        # Every place in the queue is another than it should be: the ends, the neighbours, and what is behind a cursor.
        "MQDMPR-3.1.7.3.3.seek-first",
        "MQDMPR-3.1.7.3.3.seek-last",
        "MQDMPR-3.1.7.3.3.seek-next",
        "MQDMPR-3.1.7.3.3.seek-previous",
        "MQDMPR-3.2.7.4.continues",
    )
    replaces = ("positions", _FlatList)


class _FallingIdentifiers(PositionList):
    @staticmethod
    def lookup_identifier(message: Message, sequence: int) -> int:
        rising = PositionList.lookup_identifier(message, sequence)
        return rising - sequence + ((1 << SEQUENCE_BITS) - 1 - sequence)


class LookupIdNotIncreasing(Fault):
    """Lookup identifiers fall from one message to the next."""

    name = "lookup-id-not-increasing"
    suite = "cursors"
    breaks = ("MQDMPR-3.1.1.12.lookup-identifier-order", "MQDMPR-3.1.7.1.9.lookup-identifier-increases")
    replaces = ("positions", _FallingIdentifiers)


class _DoublingDelivery(Delivery):
    def arrived(self, message: Message, queue: Queue) -> None:
        super().arrived(message, queue)
        if queue.kind != "outgoing" and not message.transactional:
            self.place(queue, replace(message), limited=False)


class DeliversTwice(Fault):
    """A message sent outside any transaction is in its queue twice."""

    name = "delivers-twice"
    suite = "cursors"
    breaks = (
        "MQDMPR-3.1.7.1.9.once",
        "MQDMPR-3.1.7.1.10.at-most-once",
        "MQDMPR-3.1.7.1.10.removes",
        "MQDMPR-3.1.1.12.identifier-unique",
        "MQDMPR-3.1.7.1.14.next-available",
        "MQDMPR-3.1.7.1.10.no-wait",
        "MQDMPR-3.1.7.1.15.no-wait",
        # The second copy is there for whoever received, or moved past, the first.
        "MQDMPR-3.1.7.1.13.receive-removes",
        "MQDMPR-3.1.7.2.2.one-destructive",
        "MQDMPR-3.2.7.3.not-before-cursor",
        "MQDMPR-3.1.1.12.lookup-identifier-unique",
    )
    replaces = ("delivery", _DoublingDelivery)


KEEPING_FAULTS: tuple[type[Fault], ...] = (
    LosesMessageOnAbort,
    AbortRequeuesAtEnd,
    CommitLosesLastSend,
    CommitReturnsReceives,
    UncommittedSendVisible,
    IgnoresPriority,
    LookupIdNotIncreasing,
    DeliversTwice,
)
