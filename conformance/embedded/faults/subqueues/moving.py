"""Faults of moves between a queue and its subqueues, and of the subqueues themselves (MS-MQDMPR 3.1.7.1.16)."""

from __future__ import annotations

from dataclasses import replace

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
from conformance.embedded.faults.base import Fault
from conformance.embedded.queues import Queues
from conformance.embedded.transactions import Transactions


class _CopyingMove(Transactions):
    def relocate(self, position: Position, target: Queue) -> None:
        self.manager.delivery.place(target, replace(position.message), limited=False)
        self.manager.delivery.make_available(position)


class MoveLeavesCopy(Fault):
    """A moved message is in the target and still in the source."""

    name = "move-leaves-copy"
    breaks = ("MQDMPR-3.1.7.1.16.moved",)
    replaces = ("transactions", _CopyingMove)


class _LosingMove(Transactions):
    def relocate(self, position: Position, target: Queue) -> None:
        self.manager.delivery.remove(position)


class MoveLosesMessage(Fault):
    """A moved message is in neither queue."""

    name = "move-loses-message"
    breaks = ("MQDMPR-3.1.7.1.16.moved",)
    replaces = ("transactions", _LosingMove)


class _HastyMove(Transactions):
    def move(self, source: Descriptor, lookup: int, destination: Descriptor, transaction: Transaction | None) -> None:
        super().move(source, lookup, destination, transaction)
        if transaction is not None and transaction.steps[-1].target is not None:
            step = transaction.steps.pop()
            self.relocate(step.position, transaction_target(step))


def transaction_target(step: UndoStep) -> Queue:
    """The queue a recorded move goes to."""
    assert step.target is not None
    return step.target


class MoveIgnoresTransaction(Fault):
    """A move in a transaction is done at once, and stays when the transaction aborts."""

    name = "move-ignores-transaction"
    breaks = (
        "MQDMPR-3.1.7.1.16.in-transaction",
        "MQDMPR-3.1.4.5.move",
        "MQDMPR-3.1.7.1.16.transaction-locks",
    )
    replaces = ("transactions", _HastyMove)


class _MovingAbort(Transactions):
    def abort_step(self, step: UndoStep) -> None:
        if step.operation is Operation.MOVE and step.position.state is State.LOCKED:
            self.relocate(step.position, transaction_target(step))
        else:
            super().abort_step(step)


class AbortedMoveHappens(Fault):
    """A message moved in a transaction that aborts is in the target."""

    name = "aborted-move-happens"
    breaks = (
        "MQDMPR-3.1.4.5.move",
        "MQDMPR-3.1.7.1.16.in-transaction",
    )
    replaces = ("transactions", _MovingAbort)


class _IdleCommit(Transactions):
    def commit_step(self, step: UndoStep) -> None:
        if step.operation is Operation.MOVE:
            self.manager.delivery.make_available(step.position)
        else:
            super().commit_step(step)


class CommittedMoveForgotten(Fault):
    """A message moved in a transaction is back in the source after the commit."""

    name = "committed-move-forgotten"
    breaks = ("MQDMPR-3.1.4.4.move",)
    replaces = ("transactions", _IdleCommit)


class _DiscardingAbort(Transactions):
    def abort_step(self, step: UndoStep) -> None:
        if step.operation is Operation.MOVE and step.position.state is State.LOCKED:
            self.manager.delivery.remove(step.position)
        else:
            super().abort_step(step)


class AbortedMoveLosesMessage(Fault):
    """A message moved in a transaction that aborts is gone from both queues."""

    name = "aborted-move-loses-message"
    breaks = ("MQDMPR-3.1.4.5.move",)
    replaces = ("transactions", _DiscardingAbort)


class _RelabellingMove(Transactions):
    def relocate(self, position: Position, target: Queue) -> None:
        fields = {**position.message.fields, "label": ""}
        moved = replace(position.message, fields=fields)
        self.manager.delivery.remove(position)
        self.manager.delivery.place(target, moved, limited=False)


class MoveDropsLabel(Fault):
    """A moved message has lost its label."""

    name = "move-drops-label"
    breaks = ("MQDMPR-3.1.7.1.16.unchanged",)
    replaces = ("transactions", _RelabellingMove)


class _RenewingMove(Transactions):
    def relocate(self, position: Position, target: Queue) -> None:
        ordinal = self.manager.next_sequence() & 0xFFFFFFFF
        fields = {**position.message.fields, "identifier": {"source": self.manager.guid, "ordinal": ordinal}}
        position.message.fields = fields
        super().relocate(position, target)


class MoveChangesIdentifier(Fault):
    """A moved message has another message identifier than before."""

    name = "move-changes-identifier"
    breaks = ("MQDMPR-3.1.7.1.16.unchanged",)
    replaces = ("transactions", _RenewingMove)


class _SilentMove(Transactions):
    def relocate(self, position: Position, target: Queue) -> None:
        waiters = list(target.waiters)
        target.waiters.clear()
        super().relocate(position, target)
        target.waiters.extend(waiters)


class MoveWakesNobody(Fault):
    """A read that waits on a subqueue is not told of a message that is moved there."""

    name = "move-wakes-nobody"
    breaks = ("MQDMPR-3.1.7.1.16.wakes-readers",)
    replaces = ("transactions", _SilentMove)


class _FrontingMove(Transactions):
    def relocate(self, position: Position, target: Queue) -> None:
        others = [other.key for other in target.positions]
        super().relocate(position, target)
        moved = next((other for other in target.positions if other.message is position.message), None)
        if moved is not None and others:
            target.positions.remove(moved)
            moved.key = min(others) - 1
            target.positions.insert(moved)


class MoveJumpsPriority(Fault):
    """A moved message stands in front of all others in the target, whatever its priority and arrival."""

    name = "move-jumps-priority"
    breaks = ("MQDMPR-3.1.7.1.16.target-order",)
    replaces = ("transactions", _FrontingMove)


class _StealingMove(Transactions):
    def move(self, source: Descriptor, lookup: int, destination: Descriptor, transaction: Transaction | None) -> None:
        position = source.queue.positions.find(lookup) if source.queue is not None else None
        held = position is not None and position.state is State.LOCKED and not position.uncommitted
        if position is not None and held:
            position.state = State.AVAILABLE
        try:
            super().move(source, lookup, destination, transaction)
        except MqError:
            if position is not None and held:
                position.state = State.LOCKED
            raise


class MoveStealsLocked(Fault):
    """A message that a transaction has received can be moved away from under it."""

    name = "move-steals-locked"
    breaks = (
        "MQRR-3.1.4.10.locked-under-transaction",
        "MQRR-3.1.4.10.locked-under-transaction-code",
    )
    replaces = ("transactions", _StealingMove)


class _SweepingPurge(Queues):
    def purge(self, descriptor: Descriptor) -> None:
        super().purge(descriptor)
        for subqueue in descriptor.queue.subqueues.values() if descriptor.queue is not None else ():
            for position in subqueue.positions:
                self.purge_position(position)


class PurgeEmptiesSubqueues(Fault):
    """A purge of a queue empties its subqueues too."""

    name = "purge-empties-subqueues"
    breaks = ("MQDMPR-3.1.7.1.7.other-queues-kept",)
    replaces = ("queues", _SweepingPurge)


class _DroppingClose(Queues):
    def close(self, descriptor: Descriptor) -> None:
        queue = descriptor.queue
        super().close(descriptor)
        if queue is not None and queue.kind == "subqueue" and not queue.descriptors and not queue.deleted:
            for position in queue.positions:
                if position.state is State.AVAILABLE:
                    self.manager.delivery.delete(position, Reason.PURGED)


class SubqueueEndsWithLastHandle(Fault):
    """The messages of a subqueue are gone when nobody has it open any more."""

    name = "subqueue-ends-with-last-handle"
    breaks = ("MQDMPR-3.1.7.1.6.messages-kept",)
    replaces = ("queues", _DroppingClose)


class _OneForAll(Queues):
    def _subqueue(self, parent: Queue, name: str) -> Queue:
        return next(iter(parent.subqueues.values()), None) or super()._subqueue(parent, name)


class SubqueuesAreOne(Fault):
    """All subqueues of a queue are the one that was opened first, under whatever name."""

    name = "subqueues-are-one"
    breaks = ("MQDMPR-3.1.1.2.subqueue-collection",)
    first_seen_as = ("MQDMPR-3.1.7.1.16.moved",)
    because = "that two subqueues are one shows in a message that was moved to the other"
    replaces = ("queues", _OneForAll)


class _DoubleEntry(Transactions):
    def relocate(self, position: Position, target: Queue) -> None:
        source, size = position.queue, position.message.size
        super().relocate(position, target)
        self.manager.delivery.account(source, size)


class MoveLeaksBytes(Fault):
    """A move leaves the bytes of its message on the account of the source."""

    name = "move-leaks-bytes"
    breaks = ("MQDMPR-3.1.1.2.total-bytes",)
    replaces = ("transactions", _DoubleEntry)
