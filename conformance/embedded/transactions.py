"""Internal transactions, and moves of messages within them (MS-MQDMPR 3.1.4.3 to 3.1.4.5, 3.1.7.1.8, 3.1.7.1.16)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.embedded.entities import (
    Descriptor,
    MqError,
    Operation,
    Position,
    Queue,
    Reason,
    State,
    Transaction,
    UndoStep,
)
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION,
    MQ_ERROR_MESSAGE_NOT_FOUND,
    MQ_ERROR_QUEUE_NOT_AVAILABLE,
    MQ_ERROR_TRANSACTION_SEQUENCE,
    MQ_ERROR_TRANSACTION_USAGE,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager


class Transactions:
    """Begins and ends transactions. The changes of one call become durable together, when the call ends."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    def named(self, handle: object) -> Transaction:
        """Return the open transaction of a handle. Raises MqError if it has ended or never existed."""
        found = self.manager.open_transactions.get(handle) if isinstance(handle, str) else None
        if found is None:
            raise MqError(MQ_ERROR_TRANSACTION_SEQUENCE)
        return found

    def claimed(self, handle: object) -> Transaction:
        """Return the transaction of a handle; one with a failure if there is none."""
        try:
            return self.named(handle)
        except MqError as failure:
            return Transaction(str(handle), failure=failure)

    def begin(self) -> Transaction:
        """Create Transaction (3.1.7.1.8)."""
        transaction = Transaction(self.manager.new_handle("t"))
        self.manager.open_transactions[transaction.handle] = transaction
        return transaction

    def prepare(self, transaction: Transaction) -> None:
        """Transaction Prepare (3.1.4.3): mark the first and last message it sends to each queue."""
        sends: dict[str, list[Position]] = {}
        for step in transaction.steps:
            if step.operation is Operation.ENQUEUE:
                sends.setdefault(step.position.queue.id, []).append(step.position)
        for positions in sends.values():
            for position in positions:
                position.message.fields["first_in_transaction"] = position is positions[0]
                position.message.fields["last_in_transaction"] = position is positions[-1]
        transaction.prepared = True

    def commit(self, transaction: Transaction) -> None:
        """Transaction Commit (3.1.4.4); prepares the transaction first if needed."""
        self.prepare(transaction)
        self._end(transaction)
        for step in transaction.steps:
            if step.position.state is not State.DELETED:
                self.commit_step(step)

    def _end(self, transaction: Transaction) -> None:
        """Close the transaction for further calls, and cancel the reads that wait in it."""
        del self.manager.open_transactions[transaction.handle]
        self.manager.reading.cancel_all(transaction.waiters)

    def commit_step(self, step: UndoStep) -> None:
        """Make one operation final."""
        delivery = self.manager.delivery
        position = step.position
        if step.operation is Operation.ENQUEUE:
            position.uncommitted = False
            delivery.keep(position)
            delivery.make_available(position)
            delivery.arrived(position.message, position.queue)
        elif step.operation is Operation.DEQUEUE:
            delivery.delete(position, Reason.RECEIVED)
        elif step.target is not None and not step.target.deleted:
            self.relocate(position, step.target)
        else:
            delivery.make_available(position)  # the target was deleted: the message stays where it is

    def abort(self, transaction: Transaction) -> None:
        """Transaction Abort (3.1.4.5)."""
        self._end(transaction)
        for step in transaction.steps:
            if step.position.state is not State.DELETED:
                self.abort_step(step)

    def abort_step(self, step: UndoStep) -> None:
        """Undo one operation: remove a sent message, give back a received one at its place unless it was purged."""
        if step.operation is Operation.ENQUEUE:
            self.manager.delivery.remove(step.position)
        elif step.position.state is State.PURGE_PENDING:
            self.manager.delivery.delete(step.position, Reason.PURGED)
        else:
            self.give_back(step.position)

    def give_back(self, position: Position) -> None:
        """Make a message available again at its place."""
        self.manager.delivery.make_available(position)

    def move(self, source: Descriptor, lookup: int, destination: Descriptor, transaction: Transaction | None) -> None:
        """Move Message (3.1.7.1.16), between a queue and its subqueues, under the conditions of MS-MQRR 3.1.4.10.

        They are checked in the order of that section, which looks for the transaction last.
        """
        queue, target = source.queue, destination.queue
        if source.access not in ("receive", "move") or destination.access != "move" or not queue or not target:
            raise MqError(MQ_ERROR_ACCESS_DENIED)
        if queue.deleted or target.deleted:
            raise MqError(MQ_ERROR_QUEUE_NOT_AVAILABLE)
        kinds = {"private", "public", "subqueue"}
        family = (queue.parent or queue) is (target.parent or target)
        if not family or queue is target or not {queue.kind, target.kind} <= kinds:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        if transaction is not None and not target.transactional:
            raise MqError(MQ_ERROR_TRANSACTION_USAGE)
        position = queue.positions.find(lookup)
        if position is None or position.uncommitted:
            raise MqError(MQ_ERROR_MESSAGE_NOT_FOUND)
        if position.state is not State.AVAILABLE:
            raise MqError(MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION)
        if transaction is not None and transaction.failure is not None:
            raise transaction.failure
        if transaction is None:
            self.relocate(position, target)
        else:
            position.state = State.LOCKED
            transaction.steps.append(UndoStep(Operation.MOVE, position, target))

    def relocate(self, position: Position, target: Queue) -> None:
        """Place a message in another queue, behind those of its priority, without acknowledging its removal."""
        self.manager.delivery.remove(position)
        self.manager.delivery.place(target, position.message, limited=False)
