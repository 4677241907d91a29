"""Faults of administration acknowledgements: missing, of another class, about another message (MS-MQMQ 2.2.18.1.6)."""

from __future__ import annotations

from typing import ClassVar

from conformance.embedded.arrival import (
    NACK_NOT_TRANSACTIONAL_MSG,
    NACK_NOT_TRANSACTIONAL_Q,
    NACK_Q_EXCEED_QUOTA,
)
from conformance.embedded.delivery import ACK_REACH_QUEUE, NACK_REACH_QUEUE_TIMEOUT, Delivery
from conformance.embedded.entities import (
    Descriptor,
    Message,
    Operation,
    Position,
    Reason,
    Result,
    State,
    Step,
    Transaction,
)
from conformance.embedded.faults.base import Fault, fault
from conformance.embedded.faults.consequences import dmpr
from conformance.embedded.reading import Caller, Reading
from conformance.embedded.transactions import Transactions

ACK_RECEIVE = Reason.RECEIVED.value
# Class, its word in MS-MQMQ and in MS-MQDMPR, what it tells, the class told instead, and what asks for it.
_CLASSES: tuple[tuple[int, str, str, str, int, str], ...] = (
    (ACK_REACH_QUEUE, "ack-reach-queue", "ack-reach-queue", "reached its queue", ACK_RECEIVE, "positive-arrival"),
    (ACK_RECEIVE, "ack-receive", "ack-receive", "was received", ACK_REACH_QUEUE, "positive-receive"),
    (
        NACK_REACH_QUEUE_TIMEOUT,
        "nack-reach-queue-timeout",
        "nack-reach-queue-timeout",
        "did not reach its queue in time",
        0x8000,
        "negative-arrival",
    ),
    (
        NACK_Q_EXCEED_QUOTA,
        "nack-q-exceed-quota",
        "nack-queue-exceed-quota",
        "found its queue full",
        0x8000,
        "negative-arrival",
    ),
    (
        NACK_NOT_TRANSACTIONAL_Q,
        "nack-not-transactional-q",
        "nack-not-transactional-queue",
        "came in a transaction to a queue that is not transactional",
        NACK_NOT_TRANSACTIONAL_MSG,
        "negative-arrival",
    ),
    (
        NACK_NOT_TRANSACTIONAL_MSG,
        "nack-not-transactional-msg",
        "nack-not-transactional-message",
        "came outside any transaction to a transactional queue",
        NACK_NOT_TRANSACTIONAL_Q,
        "negative-arrival",
    ),
    (
        Reason.QUEUE_DELETED.value,
        "nack-q-deleted",
        "nack-queue-deleted",
        "went with its queue",
        Reason.PURGED.value,
        "negative-receive",
    ),
    (
        Reason.PURGED.value,
        "nack-q-purged",
        "nack-queue-purged",
        "was purged",
        Reason.QUEUE_DELETED.value,
        "negative-receive",
    ),
    (
        Reason.EXPIRED.value,
        "nack-receive-timeout",
        "nack-receive-timeout",
        "was not received in time",
        Reason.PURGED.value,
        "negative-receive",
    ),
)
_STEPS = {
    "nack-q-deleted": dmpr("3.1.7.1.4.nack-queue-deleted"),
    "nack-q-purged": dmpr("3.1.7.1.7.nack-queue-purged", "3.1.4.5.purged-receive-nack"),
    "nack-receive-timeout": dmpr("3.1.7.2.7.nack-receive-timeout"),
    "ack-receive": dmpr("3.1.7.1.10.deleted-reason", "3.1.7.1.10.operation-reason", "3.1.7.1.12.deleted-reason"),
}


class _OfClass(Delivery):
    """Does otherwise with acknowledgements of one class. told: the class told instead, None for nothing."""

    about: ClassVar[int]
    told: ClassVar[int | None]

    def acknowledge_from(self, message: Message, origin: str, message_class: int) -> None:
        told = self.told if message_class == self.about else message_class
        if told is not None:
            super().acknowledge_from(message, origin, told)


def _of_class(about: int, told: int | None) -> type[Delivery]:
    return type("_OfClass", (_OfClass,), {"about": about, "told": told})


def _misreported(delivery: Delivery, position: Position) -> None:
    """Delete a position as received, and report it as purged."""
    fields = position.message.fields
    position.message.fields = {**fields, "acknowledgements": []}
    delivery.delete(position, Reason.RECEIVED)
    position.message.fields = fields
    delivery.acknowledge_removal(position.message, position.queue, Reason.PURGED)


class _LookingUp(Reading):
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


class _LookupPurges(_LookingUp):
    def take(self, position: Position, transaction: Transaction | None) -> Result:
        if not self.looking or transaction is not None:
            return super().take(position, transaction)
        _misreported(self.manager.delivery, position)
        return self.show(position)


class LookupReceiveReportedPurged(Fault):
    """A message received by its lookup identifier is reported as purged."""

    name = "lookup-receive-reported-purged"
    suite = "journals"
    breaks = dmpr("3.1.7.1.13.deleted-reason")
    replaces = ("reading", _LookupPurges)


class _LookupMarks(_LookingUp):
    def take(self, position: Position, transaction: Transaction | None) -> Result:
        if self.looking and transaction is not None:
            self.__dict__.setdefault("marked", []).append(position)
        return super().take(position, transaction)


class _CommitPurges(Transactions):
    def commit_step(self, step: Step) -> None:
        marked = getattr(self.manager.reading, "marked", [])
        if step.operation is Operation.DEQUEUE and any(position is step.position for position in marked):
            _misreported(self.manager.delivery, step.position)
        else:
            super().commit_step(step)


class CommittedLookupReportedPurged(Fault):
    """A message received by its lookup identifier in a transaction is reported as purged when that commits."""

    name = "committed-lookup-reported-purged"
    suite = "journals"
    breaks = dmpr("3.1.7.1.13.operation-reason")
    replaces = ("transactions", _CommitPurges)
    also = (("reading", _LookupMarks),)


class _PurgeWins(Transactions):
    def commit_step(self, step: Step) -> None:
        if step.operation is Operation.DEQUEUE and step.position.state is State.PURGE_PENDING:
            _misreported(self.manager.delivery, step.position)
        else:
            super().commit_step(step)


class CommittedReceiveReportedPurged(Fault):
    """A receive that commits after a purge of its queue is reported as a purge."""

    name = "committed-receive-reported-purged"
    suite = "journals"
    breaks = dmpr("3.1.4.4.receive-reason")
    replaces = ("transactions", _PurgeWins)


class _OtherSource(Delivery):
    def acknowledge_from(self, message: Message, origin: str, message_class: int) -> None:
        given = message.fields["identifier"]
        message.fields["identifier"] = {"source": given["source"], "ordinal": given["ordinal"] + 1}
        super().acknowledge_from(message, origin, message_class)
        message.fields["identifier"] = given


class AcknowledgementNamesNext(Fault):
    """The correlation identifier of an acknowledgement names the message sent after the one it is about."""

    name = "acknowledgement-names-next"
    suite = "journals"
    breaks = ("MQMQ-2.2.19.3.correlation-id-acknowledged", "MQQB-3.1.7.15.correlation")
    replaces = ("delivery", _OtherSource)


ACKNOWLEDGING_FAULTS: tuple[type[Fault], ...] = (
    *(
        fault(
            f"{word}-missing",
            f"Nothing tells that a message {what}.",
            "journals",
            (
                f"MQMQ-2.2.19.3.{asked}",
                f"MQMQ-2.2.18.1.6.{word}",
                *dmpr(f"3.1.1.12.class-{long}"),
                *_STEPS.get(word, ()),
            ),
            ("delivery", _of_class(about, None)),
        )
        for about, word, long, what, _, asked in _CLASSES
    ),
    *(
        fault(
            f"{word}-of-another-class",
            f"That a message {what} is told by an acknowledgement of class 0x{told:04X}.",
            "journals",
            (f"MQMQ-2.2.18.1.6.{word}", *dmpr(f"3.1.1.12.class-{long}"), *_STEPS.get(word, ())),
            ("delivery", _of_class(about, told)),
        )
        for about, word, long, what, told, _ in _CLASSES
    ),
    LookupReceiveReportedPurged,
    CommittedLookupReportedPurged,
    CommittedReceiveReportedPurged,
    AcknowledgementNamesNext,
)
