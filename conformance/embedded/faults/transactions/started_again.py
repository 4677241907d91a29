"""Faults of what a start makes of transactions and of the queues that are for them (MS-MQDMPR 3.1.1, 3.1.3)."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.delivery import Delivery
from conformance.embedded.faults.base import also, fault
from conformance.embedded.receiving import Receiving
from conformance.embedded.store import QueueRow, Store


@fault(
    "unfinished-committed-at-start", Delivery.place, "MQDMPR-3.1.3.unfinished-transaction-aborted",
    "MQDMPR-3.1.3.uncommitted-send-lost", "MQDMPR-3.1.1.11.uncommitted-receive-not-lost",
)  # fmt: skip
def unfinished_committed_at_start(plain, self, queue, message, *, uncommitted=False, limited=True):
    """A transaction that has not ended when the manager stops is committed at the next start."""
    position = plain(queue, message, uncommitted=uncommitted, limited=limited)
    if uncommitted:
        self.keep(position)
    return position


@also("unfinished-committed-at-start", Delivery.remove)
def unfinished_committed_at_start_remove(plain, self, position):
    plain(position)
    if position.uncommitted:
        self.manager.store.drop_message(position.row)


@also("unfinished-committed-at-start", Receiving.take)
def unfinished_committed_at_start_take(plain, self, position, transaction):
    if transaction is not None:
        self.manager.store.drop_message(position.row)
    return plain(position, transaction)


def _plain(row: QueueRow) -> dict[str, object]:
    known = "PROPID_Q_TRANSACTION" in row.properties
    return {**row.properties, "PROPID_Q_TRANSACTION": 0} if known else row.properties


@fault(
    "restarted-queue-is-plain", Store.queues, "MQDMPR-3.1.1.persistent-survives",
    "MQDMPR-3.1.1.2.private-attributes-persistent",
)  # fmt: skip
def restarted_queue_is_plain(plain, self):
    """After a start no queue is transactional."""
    return [replace(row, properties=_plain(row)) for row in plain()]
