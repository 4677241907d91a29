"""Faults of acknowledgments of several kinds asked for at once, and of the reasons they tell (MS-MQDMPR 3.1.1.12)."""

from __future__ import annotations

from typing import ClassVar

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import (
    Message,
    MqError,
    OpenRead,
    Operation,
    Position,
    Queue,
    Reason,
    Result,
    State,
    Transaction,
    UndoStep,
)
from conformance.embedded.faults.base import Fault
from conformance.embedded.receiving import Receiving
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import MQ_ERROR_QUEUE_NOT_AVAILABLE

_FULL_REACH = frozenset({"positive_arrival", "negative_arrival"})
_NACK_RECEIVE = frozenset({"negative_arrival", "negative_receive"})
_FULL_RECEIVE = _NACK_RECEIVE | {"positive_receive"}


def _asks(message: Message, kinds: frozenset[str]) -> bool:
    return frozenset(message.fields["acknowledgements"]) == kinds


class _HalfOfFullReach(Delivery):
    def acknowledge_arrival(self, message: Message, queue: Queue) -> None:
        if not _asks(message, _FULL_REACH):
            super().acknowledge_arrival(message, queue)


class FullReachTellsFailuresOnly(Fault):
    """A message that asks to be told of its arrival either way is acknowledged only when it does not arrive."""

    name = "full-reach-tells-failures-only"
    breaks = ("MQDMPR-3.1.1.12.ack-full-reach-queue",)
    replaces = ("delivery", _HalfOfFullReach)


class _PartlyTold(Delivery):
    kinds: ClassVar[frozenset[str]]
    silent: ClassVar[bool]  # on receives; otherwise on ends in the queue without a receive

    def acknowledge_removal(self, message: Message, queue: Queue, reason: Reason) -> None:
        received = reason is Reason.RECEIVED
        if queue.kind == "outgoing" or received is not self.silent or not _asks(message, self.kinds):
            super().acknowledge_removal(message, queue, reason)


class _ArrivalsOfNackReceive(_PartlyTold):
    kinds, silent = _NACK_RECEIVE, False


class NackReceiveTellsArrivalsOnly(Fault):
    """Of a message that asks to be told of every failure, an end in its queue without a receive is not told."""

    name = "nack-receive-tells-arrivals-only"
    breaks = ("MQDMPR-3.1.1.12.ack-nack-receive",)
    replaces = ("delivery", _ArrivalsOfNackReceive)


class _FailuresOfFullReceive(_PartlyTold):
    kinds, silent = _FULL_RECEIVE, True


class FullReceiveTellsFailuresOnly(Fault):
    """Of a message that asks to be told of its receive and of every failure, the receive is not told."""

    name = "full-receive-tells-failures-only"
    breaks = ("MQDMPR-3.1.1.12.ack-full-receive",)
    replaces = ("delivery", _FailuresOfFullReceive)


class _PlainPurges(Receiving):
    def take(self, position: Position, transaction: Transaction | None) -> Result:
        if transaction is not None:
            return super().take(position, transaction)
        self.manager.delivery.delete(position, Reason.PURGED)
        return self.show(position)


class ReceiveReportedPurged(Fault):
    """A message that is received outside any transaction counts as purged."""

    name = "receive-reported-purged"
    breaks = (
        "MQDMPR-3.1.7.1.10.deleted-reason",
        "MQDMPR-3.1.7.1.13.deleted-reason",
        "MQDMPR-3.1.1.12.ack-pos-receive",
        "MQDMPR-3.1.1.12.class-ack-receive",
        "MQMQ-2.3.1.4.journal-copy",
    )
    first_seen_as = ("MQQB-3.1.7.15.requested",)
    because = "the sender asked to be told of the receive alone, so that a report of a purge is one it did not ask for"
    replaces = ("reading", _PlainPurges)


class _CommitPurges(Transactions):
    def commit_step(self, step: UndoStep) -> None:
        if step.operation is Operation.DEQUEUE:
            self.manager.delivery.delete(step.position, Reason.PURGED)
        else:
            super().commit_step(step)


class CommittedReceiveReportedPurged(Fault):
    """A message whose receive is committed counts as purged."""

    name = "committed-receive-reported-purged"
    breaks = (
        "MQDMPR-3.1.7.1.10.operation-reason",
        "MQDMPR-3.1.7.1.13.operation-reason",
        "MQDMPR-3.1.4.4.receive-reason",
        "MQDMPR-3.1.1.12.ack-pos-receive",
        "MQMQ-2.3.1.4.journal-copy",
    )
    replaces = ("transactions", _CommitPurges)


class _AbortReceives(Transactions):
    def abort_step(self, step: UndoStep) -> None:
        if step.operation is Operation.DEQUEUE and step.position.state is State.PURGE_PENDING:
            self.manager.delivery.delete(step.position, Reason.RECEIVED)
        else:
            super().abort_step(step)


class AbortedPurgeReportedReceived(Fault):
    """A message that was purged while a transaction had it is reported as received when the transaction aborts."""

    name = "aborted-purge-reported-received"
    breaks = ("MQDMPR-3.1.4.5.purged-receive-nack",)
    replaces = ("transactions", _AbortReceives)


class _EndReceives(Receiving):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        if read.position.state is not State.PURGE_PENDING:
            super().end(read, acknowledge=acknowledge)
            return
        del self.manager.open_reads[read.handle]
        if read.position.queue.deleted:
            raise MqError(MQ_ERROR_QUEUE_NOT_AVAILABLE)
        self.manager.delivery.delete(read.position, Reason.RECEIVED)


class EndedPurgeReportedReceived(Fault):
    """A message that was purged while its receive was open is reported as received at the end of the receive."""

    name = "ended-purge-reported-received"
    breaks = ("MQDMPR-3.1.7.1.12.deleted-reason",)
    replaces = ("reading", _EndReceives)
