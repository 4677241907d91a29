"""Faults of what a start makes of transactions and of the queues that are for them (MS-MQDMPR 3.1.1, 3.1.3)."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Message, Position, Queue, Result, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.receiving import Receiving
from conformance.embedded.store import QueueRow, Store


class _KeepsSends(Delivery):
    def place(self, queue: Queue, message: Message, *, uncommitted: bool = False, limited: bool = True) -> Position:
        position = super().place(queue, message, uncommitted=uncommitted, limited=limited)
        if uncommitted:
            self.keep(position)
        return position

    def remove(self, position: Position) -> None:
        super().remove(position)
        if position.uncommitted:
            self.manager.store.drop_message(position.row)


class _KeepsReceives(Receiving):
    def take(self, position: Position, transaction: Transaction | None) -> Result:
        if transaction is not None:
            self.manager.store.drop_message(position.row)
        return super().take(position, transaction)


class UnfinishedCommittedAtStart(Fault):
    """A transaction that has not ended when the manager stops is committed at the next start."""

    name = "unfinished-committed-at-start"
    breaks = (
        "MQDMPR-3.1.3.unfinished-transaction-aborted",
        "MQDMPR-3.1.3.uncommitted-send-lost",
        "MQDMPR-3.1.1.11.uncommitted-receive-not-lost",
    )
    replaces = ("delivery", _KeepsSends)
    also = (("reading", _KeepsReceives),)


class _PlainQueues(Store):
    def queues(self) -> list[QueueRow]:
        return [replace(row, properties=_plain(row)) for row in super().queues()]


def _plain(row: QueueRow) -> dict[str, object]:
    known = "PROPID_Q_TRANSACTION" in row.properties
    return {**row.properties, "PROPID_Q_TRANSACTION": 0} if known else row.properties


class RestartedQueueIsPlain(Fault):
    """After a start no queue is transactional."""

    name = "restarted-queue-is-plain"
    breaks = (
        "MQDMPR-3.1.1.persistent-survives",
        "MQDMPR-3.1.1.2.private-attributes-persistent",
    )
    replaces = ("store", _PlainQueues)
