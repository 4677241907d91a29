"""Faults of the refusals of a move, and of the operations on subqueues (MS-MQRR 3.1.4.10, MS-MQMP 3.1.4.17)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.embedded.entities import Descriptor, Message, MqError, Operation, Queue, State, Transaction, UndoStep
from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Name
from conformance.embedded.queues import Queues
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import MQ_ERROR


class _Adopting(Transactions):
    def move(self, source: Descriptor, lookup: int, destination: Descriptor, transaction: Transaction | None) -> None:
        queue, target = source.queue, destination.queue
        if queue is None or target is None or (queue.parent or queue) is (target.parent or target):
            super().move(source, lookup, destination, transaction)
            return
        before, target.parent = target.parent, queue.parent or queue
        try:
            super().move(source, lookup, destination, transaction)
        finally:
            target.parent = before


class MoveBetweenStrangers(Fault):
    """A message can be moved to any queue that is open for moving, related to the source or not."""

    name = "move-between-strangers"
    breaks = (
        "MQRR-3.1.4.10.related-queues",
        "MQRR-3.1.4.10.related-queues-code",
    )
    replaces = ("transactions", _Adopting)


class _Indifferent(Transactions):
    def move(self, source: Descriptor, lookup: int, destination: Descriptor, transaction: Transaction | None) -> None:
        before, destination.access = destination.access, "move"
        try:
            super().move(source, lookup, destination, transaction)
        finally:
            destination.access = before


class MoveIgnoresAccess(Fault):
    """A message can be moved to a subqueue that was not opened for moving."""

    name = "move-ignores-access"
    breaks = (
        "MQRR-3.1.4.10.move-access",
        "MQRR-3.1.4.10.move-access-code",
    )
    replaces = ("transactions", _Indifferent)


class _Obliging(Transactions):
    def move(self, source: Descriptor, lookup: int, destination: Descriptor, transaction: Transaction | None) -> None:
        queue = source.queue
        if queue is not None and not queue.deleted and queue.positions.find(lookup) is None:
            return
        super().move(source, lookup, destination, transaction)


class MoveOfNothingSucceeds(Fault):
    """A move of a message that is not there succeeds and does nothing."""

    name = "move-of-nothing-succeeds"
    breaks = (
        "MQRR-3.1.4.10.message-not-found",
        "MQRR-3.1.4.10.message-not-found-code",
    )
    replaces = ("transactions", _Obliging)


class _Curt(Transactions):
    def move(self, source: Descriptor, lookup: int, destination: Descriptor, transaction: Transaction | None) -> None:
        try:
            super().move(source, lookup, destination, transaction)
        except MqError:
            raise MqError(MQ_ERROR) from None


class MoveRefusalGeneric(Fault):
    """Whatever is wrong with a move, it fails with the generic MQ_ERROR."""

    name = "move-refusal-generic"
    breaks = (
        "MQRR-3.1.4.10.related-queues-code",
        "MQRR-3.1.4.10.message-not-found-code",
        "MQRR-3.1.4.10.move-access-code",
        "MQRR-3.1.4.10.transaction-usage-code",
        "MQRR-3.1.4.10.locked-under-transaction-code",
    )
    replaces = ("transactions", _Curt)


class _Careless(Transactions):
    def move(self, source: Descriptor, lookup: int, destination: Descriptor, transaction: Transaction | None) -> None:
        target = destination.queue
        plain = target is not None and not target.transactional
        super().move(source, lookup, destination, None if plain else transaction)


class MoveUsageUnchecked(Fault):
    """A move in a transaction between queues that are not transactional is done at once."""

    name = "move-usage-unchecked"
    breaks = (
        "MQRR-3.1.4.10.transaction-usage",
        "MQRR-3.1.4.10.transaction-usage-code",
        "MQDMPR-3.1.7.1.16.in-transaction",
    )
    replaces = ("transactions", _Careless)


class _Relenting(Transactions):
    def abort_step(self, step: UndoStep) -> None:
        if step.operation is Operation.MOVE and step.position.state is State.PURGE_PENDING:
            step.position.state = State.LOCKED
        super().abort_step(step)


class AbortRevivesPurgedMove(Fault):
    """A message that was purged while a move in a transaction held it is back in the source after the abort."""

    name = "abort-revives-purged-move"
    breaks = (
        "MQDMPR-3.1.4.5.purged-receive",
        "MQDMPR-3.1.4.5.purged-deleted",
        "MQDMPR-3.1.7.1.7.purge-pending-state",
    )
    replaces = ("transactions", _Relenting)


class _Hospitable(Queues):
    def _queue_to_open(self, name: Name, access: str) -> Queue:
        if access == "send" and name.parts.get("subqueue"):
            return super()._queue_to_open(name, "receive")
        return super()._queue_to_open(name, access)


class SubqueueOpensForSend(Fault):
    """A subqueue can be opened for send, and messages can be sent to it."""

    name = "subqueue-opens-for-send"
    breaks = ("MQMP-3.1.4.17.subqueue-send-access",)
    replaces = ("queues", _Hospitable)


class _Inheriting(Queues):
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


class SubqueuesOutliveTheirQueue(Fault):
    """A queue made under the name of a deleted one has its subqueues, and their messages."""

    name = "subqueues-outlive-their-queue"
    breaks = (
        "MQDMPR-3.1.7.1.3.no-subqueues",
        "MQDMPR-3.1.7.1.4.messages-deleted",
    )
    replaces = ("queues", _Inheriting)
