"""Faults of administration acknowledgements: of no known class, or telling what did not happen (MS-MQMQ 2.2.18.1.6)."""

from __future__ import annotations

from typing import ClassVar

from conformance.embedded.delivery import ACK_REACH_QUEUE, NACK_REACH_QUEUE_TIMEOUT, Delivery
from conformance.embedded.entities import (
    Descriptor,
    Message,
    Operation,
    Position,
    Reason,
    Result,
    State,
    Transaction,
)
from conformance.embedded.faults.base import also, fault, row
from conformance.embedded.receiving import Caller, Receiving
from conformance.embedded.transactions import Transactions

# Class, its word in MS-MQMQ and in MS-MQDMPR, and what it tells.
_CLASSES: tuple[tuple[int, str, str, str], ...] = (
    (ACK_REACH_QUEUE, "ack-reach-queue", "ack-reach-queue", "reached its queue"),
    (Reason.RECEIVED.value, "ack-receive", "ack-receive", "was received"),
    (
        NACK_REACH_QUEUE_TIMEOUT,
        "nack-reach-queue-timeout",
        "nack-reach-queue-timeout",
        "did not reach its queue in time",
    ),
    (Reason.QUEUE_DELETED.value, "nack-q-deleted", "nack-queue-deleted", "went with its queue"),
    (Reason.PURGED.value, "nack-q-purged", "nack-queue-purged", "was purged"),
    (Reason.EXPIRED.value, "nack-receive-timeout", "nack-receive-timeout", "was not received in time"),
)
_EVENTS = {  # the event that has to tell it, where the text of one does
    "nack-q-deleted": ("MQDMPR-3.1.7.1.4.nack-queue-deleted",),
    "nack-q-purged": ("MQDMPR-3.1.7.1.7.nack-queue-purged",),
    "nack-receive-timeout": ("MQDMPR-3.1.7.2.7.nack-receive-timeout",),
}
NO_CLASS = 0x0100  # with this bit a number is none of the classes MS-MQMQ lists


class _Misnumbered(Delivery):
    about: ClassVar[int]

    def acknowledge_from(self, message: Message, origin: str, message_class: int) -> None:
        told = message_class | NO_CLASS if message_class == self.about else message_class
        super().acknowledge_from(message, origin, told)


def _unreported(delivery: Delivery, position: Position) -> None:
    """Delete a position as received, and report nothing."""
    fields = position.message.fields
    position.message.fields = {**fields, "acknowledgements": []}
    delivery.delete(position, Reason.RECEIVED)
    position.message.fields = fields


class _LookingUp(Receiving):
    """Knows whether a message is taken by its lookup identifier."""

    looking = False

    def by_lookup_id(
        self,
        caller: Caller,
        at: Descriptor,
        lookup: int,
        action: str,
        *,
        destructive: bool,
        transaction: Transaction | None = None,
    ) -> None:
        self.looking = True
        try:
            super().by_lookup_id(caller, at, lookup, action, destructive=destructive, transaction=transaction)
        finally:
            self.looking = False


@fault(
    "lookup-receive-reported-purged", "reading", "MQDMPR-3.1.7.1.13.deleted-reason",
    "MQDMPR-3.1.7.1.13.operation-reason",
)  # fmt: skip
class LookupReceiveReportedPurged(_LookingUp):
    """A message received by its lookup identifier is reported as purged."""

    def take(self, position: Position, transaction: Transaction | None) -> Result:
        if not self.looking or transaction is not None:
            return super().take(position, transaction)
        _unreported(self.manager.delivery, position)
        self.manager.delivery.acknowledge_removal(position.message, position.queue, Reason.PURGED)
        return self.show(position)


@fault(
    "committed-lookup-unreported", Transactions.commit_step, "MQDMPR-3.1.7.1.13.operation-reason",
    "MQDMPR-3.1.4.4.receive-reason", "MQDMPR-3.1.1.12.ack-pos-receive",
)  # fmt: skip
def committed_lookup_unreported(plain, self, step):
    """Nothing tells that a message was received by its lookup identifier in a transaction that committed."""
    marked = getattr(self.manager.reading, "marked", [])
    if step.operation is Operation.DEQUEUE and any(position is step.position for position in marked):
        _unreported(self.manager.delivery, step.position)
    else:
        plain(step)


@also("committed-lookup-unreported", "reading")
class _LookupMarks(_LookingUp):
    def take(self, position: Position, transaction: Transaction | None) -> Result:
        if self.looking and transaction is not None:
            self.__dict__.setdefault("marked", []).append(position)
        return super().take(position, transaction)


@fault(
    "purged-receive-unreported", Transactions.commit_step, "MQDMPR-3.1.4.4.receive-reason",
    "MQDMPR-3.1.1.12.ack-pos-receive",
)  # fmt: skip
def purged_receive_unreported(plain, self, step):
    """Nothing tells that a receive committed whose queue was purged meanwhile."""
    if step.operation is Operation.DEQUEUE and step.position.state is State.PURGE_PENDING:
        _unreported(self.manager.delivery, step.position)
    else:
        plain(step)


for _about, _word, _long, _what in _CLASSES:
    row(
        __name__,
        "delivery",
        f"{_word}-misnumbered",
        f"That a message {_what} is told by an acknowledgement of class 0x{_about | NO_CLASS:04X}.",
        (
            f"MQMQ-2.2.18.1.6.{_word}",
            f"MQMP-2.2.3.2.class-{_word}",
            f"MQDMPR-3.1.1.12.class-{_long}",
            *_EVENTS.get(_word, ()),
            "MQDMPR-3.1.1.12.class-values",
        ),
        subclass_of=_Misnumbered,
        about=_about,
    )
