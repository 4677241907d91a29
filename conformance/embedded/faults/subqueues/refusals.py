"""Faults of the refusals of a move, and of the operations on subqueues (MS-MQRR 3.1.4.10, MS-MQMP 3.1.4.17)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.embedded.entities import Message, MqError, Operation, State
from conformance.embedded.faults.base import fault
from conformance.embedded.queues import Queues
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import MQ_ERROR


@fault("move-between-strangers", Transactions.move, "MQRR-3.1.4.10.related-queues", "MQRR-3.1.4.10.related-queues-code")
def move_between_strangers(plain, self, source, lookup, destination, transaction):
    """A message can be moved to any queue that is open for moving, related to the source or not."""
    queue, target = source.queue, destination.queue
    if queue is None or target is None or (queue.parent or queue) is (target.parent or target):
        plain(source, lookup, destination, transaction)
        return
    before, target.parent = target.parent, queue.parent or queue
    try:
        plain(source, lookup, destination, transaction)
    finally:
        target.parent = before


@fault("move-ignores-access", Transactions.move, "MQRR-3.1.4.10.move-access", "MQRR-3.1.4.10.move-access-code")
def move_ignores_access(plain, self, source, lookup, destination, transaction):
    """A message can be moved to a subqueue that was not opened for moving."""
    before, destination.access = destination.access, "move"
    try:
        plain(source, lookup, destination, transaction)
    finally:
        destination.access = before


@fault(
    "move-of-nothing-succeeds", Transactions.move, "MQRR-3.1.4.10.message-not-found",
    "MQRR-3.1.4.10.message-not-found-code",
)  # fmt: skip
def move_of_nothing_succeeds(plain, self, source, lookup, destination, transaction):
    """A move of a message that is not there succeeds and does nothing."""
    queue = source.queue
    if queue is not None and not queue.deleted and queue.positions.find(lookup) is None:
        return
    plain(source, lookup, destination, transaction)


@fault(
    "move-refusal-generic", Transactions.move, "MQRR-3.1.4.10.related-queues-code",
    "MQRR-3.1.4.10.message-not-found-code", "MQRR-3.1.4.10.move-access-code", "MQRR-3.1.4.10.transaction-usage-code",
    "MQRR-3.1.4.10.locked-under-transaction-code",
)  # fmt: skip
def move_refusal_generic(plain, self, source, lookup, destination, transaction):
    """Whatever is wrong with a move, it fails with the generic MQ_ERROR."""
    try:
        plain(source, lookup, destination, transaction)
    except MqError:
        raise MqError(MQ_ERROR) from None


@fault(
    "move-usage-unchecked", Transactions.move, "MQRR-3.1.4.10.transaction-usage",
    "MQRR-3.1.4.10.transaction-usage-code", "MQDMPR-3.1.7.1.16.in-transaction",
)  # fmt: skip
def move_usage_unchecked(plain, self, source, lookup, destination, transaction):
    """A move in a transaction between queues that are not transactional is done at once."""
    target = destination.queue
    usual = target is not None and not target.transactional
    plain(source, lookup, destination, None if usual else transaction)


@fault(
    "abort-revives-purged-move", Transactions.abort_step, "MQDMPR-3.1.4.5.purged-receive",
    "MQDMPR-3.1.4.5.purged-deleted", "MQDMPR-3.1.7.1.7.purge-pending-state",
)  # fmt: skip
def abort_revives_purged_move(plain, self, step):
    """A message that was purged while a move in a transaction held it is back in the source after the abort."""
    if step.operation is Operation.MOVE and step.position.state is State.PURGE_PENDING:
        step.position.state = State.LOCKED
    plain(step)


@fault("subqueue-opens-for-send", Queues._queue_to_open, "MQMP-3.1.4.17.subqueue-send-access")
def subqueue_opens_for_send(plain, self, name, access):
    """A subqueue can be opened for send, and messages can be sent to it."""
    if access == "send" and name.parts.get("subqueue"):
        return plain(name, "receive")
    return plain(name, access)


@fault("subqueues-outlive-their-queue", "queues", "MQDMPR-3.1.7.1.3.no-subqueues", "MQDMPR-3.1.7.1.4.messages-deleted")
class SubqueuesOutliveTheirQueue(Queues):
    """A queue made under the name of a deleted one has its subqueues, and their messages."""

    def delete(self, format_name: str) -> None:
        queue = self.find_local(format_name)
        if queue is not None and queue.parent is None:
            held = {
                name: [replace(each.message) for each in subqueue.positions if each.state is State.AVAILABLE]
                for name, subqueue in queue.subqueues.items()
            }
            self._left()[queue.path.lower()] = held
        super().delete(format_name)

    def create(self, path_name: str, given: dict[str, Any]) -> str:
        made = super().create(path_name, given)
        queue = self.find_local(made)
        if queue is not None:
            for name, messages in self._left().pop(queue.path.lower(), {}).items():
                subqueue = self._subqueue(queue, name)
                self._store(subqueue)
                for message in messages:
                    self.manager.delivery.place(subqueue, message, limited=False)
        return made

    def forget(self) -> None:
        self._left().clear()
        super().forget()

    def _left(self) -> dict[str, dict[str, list[Message]]]:
        left: dict[str, dict[str, list[Message]]] = self.__dict__.setdefault("left", {})
        return left
