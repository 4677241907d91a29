"""Faults of reads in a transaction, and of its locks."""

from __future__ import annotations

from conformance.embedded.cursors import CursorOutcome, Cursors
from conformance.embedded.entities import (
    CursorState,
    Operation,
    State,
    UndoStep,
)
from conformance.embedded.faults.base import fault
from conformance.embedded.receiving import Receiving


@fault(
    "receive-returns-second-message", Receiving.first, "MQDMPR-3.1.7.1.10.first-available",
    first_seen_as=("MQMQ-2.2.19.1.higher-priority-nearer-front",),
    because="the second message of a queue may be of lower priority, and then its place looks wrong",
)  # fmt: skip
def receive_returns_second_message(plain, self, queue, destructive):
    """A receive without cursor takes the second available message when there is one: the seek that skips the head."""
    found = plain(queue, destructive)
    behind = queue.positions.after(found.key) if found is not None and destructive else None
    return behind or found


@fault(
    "uncommitted-receive-visible", Receiving.take, "MQDMPR-3.1.7.1.10.transaction-locks",
    "MQDMPR-3.1.7.1.10.skips-locked", "MQDMPR-3.1.7.1.15.skips-locked",
)  # fmt: skip
def uncommitted_receive_visible(plain, self, position, transaction):
    """A message received in an open transaction stays available to every reader."""
    if transaction is None:
        return plain(position, transaction)
    transaction.steps.append(UndoStep(Operation.DEQUEUE, position))
    return self.show(position)


@fault(
    "peek-next-shows-locked", Cursors.get_next_for_peek, "MQDMPR-3.2.7.3.skips-unavailable",
    "MQDMPR-3.1.7.1.14.next-available", "MQDMPR-3.1.7.1.10.transaction-locks",
)  # fmt: skip
def peek_next_shows_locked(plain, self, cursor):
    """A peek-next shows a message that a transaction has received."""
    queue = cursor.descriptor.queue
    if cursor.state is CursorState.READ and queue is not None:
        hidden = [each for each in queue.positions if each.key > cursor.key and each.state is State.LOCKED]
        usual = self.seek(cursor)
        if hidden and not hidden[0].uncommitted and (usual is None or hidden[0].key < usual.key):
            self.stand_at(cursor, hidden[0])
            return CursorOutcome.SUCCEEDED, hidden[0]
    return plain(cursor)
