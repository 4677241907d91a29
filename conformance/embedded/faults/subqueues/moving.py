"""Faults of moves between a queue and its subqueues, and of the subqueues themselves (MS-MQDMPR 3.1.7.1.16)."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.entities import (
    MqError,
    Operation,
    Queue,
    Reason,
    State,
    UndoStep,
)
from conformance.embedded.faults.base import fault
from conformance.embedded.queues import Queues
from conformance.embedded.transactions import Transactions


@fault("move-leaves-copy", Transactions.relocate, "MQDMPR-3.1.7.1.16.moved")
def move_leaves_copy(plain, self, position, target):
    """A moved message is in the target and still in the source."""
    self.manager.delivery.place(target, replace(position.message), limited=False)
    self.manager.delivery.make_available(position)


@fault("move-loses-message", Transactions.relocate, "MQDMPR-3.1.7.1.16.moved")
def move_loses_message(plain, self, position, target):
    """A moved message is in neither queue."""
    self.manager.delivery.remove(position)


def transaction_target(step: UndoStep) -> Queue:
    """The queue a recorded move goes to."""
    assert step.target is not None
    return step.target


@fault(
    "move-ignores-transaction", Transactions.move, "MQDMPR-3.1.7.1.16.in-transaction", "MQDMPR-3.1.4.5.move",
    "MQDMPR-3.1.7.1.16.transaction-locks",
)  # fmt: skip
def move_ignores_transaction(plain, self, source, lookup, destination, transaction):
    """A move in a transaction is done at once, and stays when the transaction aborts."""
    plain(source, lookup, destination, transaction)
    if transaction is not None and transaction.steps[-1].target is not None:
        step = transaction.steps.pop()
        self.relocate(step.position, transaction_target(step))


@fault("aborted-move-happens", Transactions.abort_step, "MQDMPR-3.1.4.5.move", "MQDMPR-3.1.7.1.16.in-transaction")
def aborted_move_happens(plain, self, step):
    """A message moved in a transaction that aborts is in the target."""
    if step.operation is Operation.MOVE and step.position.state is State.LOCKED:
        self.relocate(step.position, transaction_target(step))
    else:
        plain(step)


@fault("committed-move-forgotten", Transactions.commit_step, "MQDMPR-3.1.4.4.move")
def committed_move_forgotten(plain, self, step):
    """A message moved in a transaction is back in the source after the commit."""
    if step.operation is Operation.MOVE:
        self.manager.delivery.make_available(step.position)
    else:
        plain(step)


@fault("aborted-move-loses-message", Transactions.abort_step, "MQDMPR-3.1.4.5.move")
def aborted_move_loses_message(plain, self, step):
    """A message moved in a transaction that aborts is gone from both queues."""
    if step.operation is Operation.MOVE and step.position.state is State.LOCKED:
        self.manager.delivery.remove(step.position)
    else:
        plain(step)


@fault("move-drops-label", Transactions.relocate, "MQDMPR-3.1.7.1.16.unchanged")
def move_drops_label(plain, self, position, target):
    """A moved message has lost its label."""
    fields = {**position.message.fields, "label": ""}
    moved = replace(position.message, fields=fields)
    self.manager.delivery.remove(position)
    self.manager.delivery.place(target, moved, limited=False)


@fault("move-changes-identifier", Transactions.relocate, "MQDMPR-3.1.7.1.16.unchanged")
def move_changes_identifier(plain, self, position, target):
    """A moved message has another message identifier than before."""
    ordinal = self.manager.next_sequence() & 0xFFFFFFFF
    fields = {**position.message.fields, "identifier": {"source": self.manager.guid, "ordinal": ordinal}}
    position.message.fields = fields
    plain(position, target)


@fault("move-wakes-nobody", Transactions.relocate, "MQDMPR-3.1.7.1.16.wakes-readers")
def move_wakes_nobody(plain, self, position, target):
    """A read that waits on a subqueue is not told of a message that is moved there."""
    waiters = list(target.waiters)
    target.waiters.clear()
    plain(position, target)
    target.waiters.extend(waiters)


@fault("move-jumps-priority", Transactions.relocate, "MQDMPR-3.1.7.1.16.target-order")
def move_jumps_priority(plain, self, position, target):
    """A moved message stands in front of all others in the target, whatever its priority and arrival."""
    others = [other.key for other in target.positions]
    plain(position, target)
    moved = next((other for other in target.positions if other.message is position.message), None)
    if moved is not None and others:
        target.positions.remove(moved)
        moved.key = min(others) - 1
        target.positions.insert(moved)


@fault(
    "move-steals-locked", Transactions.move, "MQRR-3.1.4.10.locked-under-transaction",
    "MQRR-3.1.4.10.locked-under-transaction-code",
)  # fmt: skip
def move_steals_locked(plain, self, source, lookup, destination, transaction):
    """A message that a transaction has received can be moved away from under it."""
    position = source.queue.positions.find(lookup) if source.queue is not None else None
    held = position is not None and position.state is State.LOCKED and not position.uncommitted
    if position is not None and held:
        position.state = State.AVAILABLE
    try:
        plain(source, lookup, destination, transaction)
    except MqError:
        if position is not None and held:
            position.state = State.LOCKED
        raise


@fault("purge-empties-subqueues", Queues.purge, "MQDMPR-3.1.7.1.7.other-queues-kept")
def purge_empties_subqueues(plain, self, descriptor):
    """A purge of a queue empties its subqueues too."""
    plain(descriptor)
    for subqueue in descriptor.queue.subqueues.values() if descriptor.queue is not None else ():
        for position in subqueue.positions:
            self.purge_position(position)


@fault("subqueue-ends-with-last-handle", Queues.close, "MQDMPR-3.1.7.1.6.messages-kept")
def subqueue_ends_with_last_handle(plain, self, descriptor):
    """The messages of a subqueue are gone when nobody has it open any more."""
    queue = descriptor.queue
    plain(descriptor)
    if queue is not None and queue.kind == "subqueue" and not queue.descriptors and not queue.deleted:
        for position in queue.positions:
            if position.state is State.AVAILABLE:
                self.manager.delivery.delete(position, Reason.PURGED)


@fault(
    "subqueues-are-one", Queues._subqueue, "MQDMPR-3.1.1.2.subqueue-collection",
    first_seen_as=("MQDMPR-3.1.7.1.16.moved",),
    because="that two subqueues are one shows in a message that was moved to the other",
)  # fmt: skip
def subqueues_are_one(plain, self, parent, name):
    """All subqueues of a queue are the one that was opened first, under whatever name."""
    return next(iter(parent.subqueues.values()), None) or plain(parent, name)


@fault("move-leaks-bytes", Transactions.relocate, "MQDMPR-3.1.1.2.total-bytes")
def move_leaks_bytes(plain, self, position, target):
    """A move leaves the bytes of its message on the account of the source."""
    source, size = position.queue, position.message.size
    plain(position, target)
    self.manager.delivery.account(source, size)
