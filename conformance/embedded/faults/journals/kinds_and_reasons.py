"""Faults of acknowledgments of several kinds asked for at once, and of the reasons they tell (MS-MQDMPR 3.1.1.12)."""

from __future__ import annotations

from typing import ClassVar

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import (
    Message,
    MqError,
    Operation,
    Queue,
    Reason,
    State,
)
from conformance.embedded.faults.base import fault
from conformance.embedded.receiving import Receiving
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import MQ_ERROR_QUEUE_NOT_AVAILABLE

_FULL_REACH = frozenset({"positive_arrival", "negative_arrival"})
_NACK_RECEIVE = frozenset({"negative_arrival", "negative_receive"})
_FULL_RECEIVE = _NACK_RECEIVE | {"positive_receive"}


def _asks(message: Message, kinds: frozenset[str]) -> bool:
    return frozenset(message.fields["acknowledgements"]) == kinds


@fault("full-reach-tells-failures-only", Delivery.acknowledge_arrival, "MQDMPR-3.1.1.12.ack-full-reach-queue")
def full_reach_tells_failures_only(plain, self, message, queue):
    """A message that asks to be told of its arrival either way is acknowledged only when it does not arrive."""
    if not _asks(message, _FULL_REACH):
        plain(message, queue)


class _PartlyTold(Delivery):
    kinds: ClassVar[frozenset[str]]
    silent: ClassVar[bool]  # on receives; otherwise on ends in the queue without a receive

    def acknowledge_removal(self, message: Message, queue: Queue, reason: Reason) -> None:
        received = reason is Reason.RECEIVED
        if queue.kind == "outgoing" or received is not self.silent or not _asks(message, self.kinds):
            super().acknowledge_removal(message, queue, reason)


@fault("nack-receive-tells-arrivals-only", "delivery", "MQDMPR-3.1.1.12.ack-nack-receive")
class NackReceiveTellsArrivalsOnly(_PartlyTold):
    """Of a message that asks to be told of every failure, an end in its queue without a receive is not told."""

    kinds, silent = _NACK_RECEIVE, False


@fault("full-receive-tells-failures-only", "delivery", "MQDMPR-3.1.1.12.ack-full-receive")
class FullReceiveTellsFailuresOnly(_PartlyTold):
    """Of a message that asks to be told of its receive and of every failure, the receive is not told."""

    kinds, silent = _FULL_RECEIVE, True


@fault(
    "receive-reported-purged", Receiving.take, "MQDMPR-3.1.7.1.10.deleted-reason", "MQDMPR-3.1.7.1.13.deleted-reason",
    "MQDMPR-3.1.1.12.ack-pos-receive", "MQDMPR-3.1.1.12.class-ack-receive", "MQMQ-2.3.1.4.journal-copy",
    first_seen_as=("MQQB-3.1.7.15.requested",),
    because="the sender asked to be told of the receive alone, so that a report of a purge is one it did not ask for",
)  # fmt: skip
def receive_reported_purged(plain, self, position, transaction):
    """A message that is received outside any transaction counts as purged."""
    if transaction is not None:
        return plain(position, transaction)
    self.manager.delivery.delete(position, Reason.PURGED)
    return self.show(position)


@fault(
    "committed-receive-reported-purged", Transactions.commit_step, "MQDMPR-3.1.7.1.10.operation-reason",
    "MQDMPR-3.1.7.1.13.operation-reason", "MQDMPR-3.1.4.4.receive-reason", "MQDMPR-3.1.1.12.ack-pos-receive",
    "MQMQ-2.3.1.4.journal-copy",
)  # fmt: skip
def committed_receive_reported_purged(plain, self, step):
    """A message whose receive is committed counts as purged."""
    if step.operation is Operation.DEQUEUE:
        self.manager.delivery.delete(step.position, Reason.PURGED)
    else:
        plain(step)


@fault("aborted-purge-reported-received", Transactions.abort_step, "MQDMPR-3.1.4.5.purged-receive-nack")
def aborted_purge_reported_received(plain, self, step):
    """A message that was purged while a transaction had it is reported as received when the transaction aborts."""
    if step.operation is Operation.DEQUEUE and step.position.state is State.PURGE_PENDING:
        self.manager.delivery.delete(step.position, Reason.RECEIVED)
    else:
        plain(step)


@fault("ended-purge-reported-received", Receiving.end, "MQDMPR-3.1.7.1.12.deleted-reason")
def ended_purge_reported_received(plain, self, read, *, acknowledge):
    """A message that was purged while its receive was open is reported as received at the end of the receive."""
    if read.position.state is not State.PURGE_PENDING:
        plain(read, acknowledge=acknowledge)
        return
    del self.manager.open_reads[read.handle]
    if read.position.queue.deleted:
        raise MqError(MQ_ERROR_QUEUE_NOT_AVAILABLE)
    self.manager.delivery.delete(read.position, Reason.RECEIVED)
