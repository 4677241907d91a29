"""Faults of reads in a transaction, and of its locks."""

from __future__ import annotations

from conformance.embedded.cursors import CursorOutcome, Cursors, Found
from conformance.embedded.entities import (
    Cursor,
    CursorState,
    Operation,
    Position,
    Queue,
    Result,
    State,
    Transaction,
    UndoStep,
)
from conformance.embedded.faults.base import Fault
from conformance.embedded.receiving import Receiving


class _SecondFirst(Receiving):
    def first(self, queue: Queue, destructive: bool) -> Position | None:
        found = super().first(queue, destructive)
        behind = queue.positions.after(found.key) if found is not None and destructive else None
        return behind or found


class ReceiveReturnsSecondMessage(Fault):
    """A receive without cursor takes the second available message when there is one: the seek that skips the head."""

    name = "receive-returns-second-message"
    breaks = ("MQDMPR-3.1.7.1.10.first-available",)
    first_seen_as = ("MQMQ-2.2.19.1.higher-priority-nearer-front",)
    because = "the second message of a queue may be of lower priority, and then its place looks wrong"
    replaces = ("reading", _SecondFirst)


class _OpenHanded(Receiving):
    def take(self, position: Position, transaction: Transaction | None) -> Result:
        if transaction is None:
            return super().take(position, transaction)
        transaction.steps.append(UndoStep(Operation.DEQUEUE, position))
        return self.show(position)


class UncommittedReceiveVisible(Fault):
    """A message received in an open transaction stays available to every reader."""

    name = "uncommitted-receive-visible"
    breaks = (
        "MQDMPR-3.1.7.1.10.transaction-locks",
        "MQDMPR-3.1.7.1.10.skips-locked",
        "MQDMPR-3.1.7.1.15.skips-locked",
    )
    replaces = ("reading", _OpenHanded)


class _Seeing(Cursors):
    def get_next_for_peek(self, cursor: Cursor) -> Found:
        queue = cursor.descriptor.queue
        if cursor.state is CursorState.READ and queue is not None:
            hidden = [each for each in queue.positions if each.key > cursor.key and each.state is State.LOCKED]
            plain = self.seek(cursor)
            if hidden and not hidden[0].uncommitted and (plain is None or hidden[0].key < plain.key):
                self.stand_at(cursor, hidden[0])
                return CursorOutcome.SUCCEEDED, hidden[0]
        return super().get_next_for_peek(cursor)


class PeekNextShowsLocked(Fault):
    """A peek-next shows a message that a transaction has received."""

    name = "peek-next-shows-locked"
    breaks = (
        "MQDMPR-3.2.7.3.skips-unavailable",
        "MQDMPR-3.1.7.1.14.next-available",
        "MQDMPR-3.1.7.1.10.transaction-locks",
    )
    replaces = ("cursors", _Seeing)
