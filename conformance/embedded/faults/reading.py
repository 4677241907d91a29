"""Faults of reading: what a peek, a receive or a cursor does."""

from __future__ import annotations

from conformance.embedded.cursors import Cursors, Found, Outcome
from conformance.embedded.entities import (
    Cursor,
    CursorState,
    Descriptor,
    Operation,
    Position,
    Queue,
    Reason,
    Result,
    Step,
    Transaction,
)
from conformance.embedded.faults.base import Fault
from conformance.embedded.queues import Queues
from conformance.embedded.reading import Reading
from conformance.spec.constants.hresults import MQ_ERROR


class _SecondFirst(Reading):
    def first(self, queue: Queue, destructive: bool) -> Position | None:
        found = super().first(queue, destructive)
        behind = queue.positions.after(found.key) if found is not None and destructive else None
        return behind or found


class ReceiveReturnsSecondMessage(Fault):
    """A receive without cursor takes the second available message when there is one: the seek that skips the head."""

    name = "receive-returns-second-message"
    suite = "transactions"
    breaks = (
        "MQDMPR-3.1.7.1.10.first-available",
        "MQDMPR-3.1.7.1.11.first-available",
        "MQDMPR-3.1.7.3.2.forward",
        "MQDMPR-3.1.1.2.arrival-order",
        "MQDMPR-3.1.1.2.priority-before-arrival",
        "MQMQ-2.2.19.1.higher-priority-nearer-front",
        "MQDMPR-3.1.4.4.send-order",
        # After a purge the first is passed over as if it had been purged, and then is there.
        "MQDMPR-3.1.7.1.7.available-deleted",
    )
    replaces = ("reading", _SecondFirst)


class _OtherStatus(Reading):
    def timeout_status(self, *, polled: bool) -> int:
        return MQ_ERROR


class WrongTimeoutStatus(Fault):
    """A read whose time is over fails with the generic MQ_ERROR."""

    name = "wrong-timeout-status"
    suite = "cursors"
    breaks = (
        "MQDMPR-3.1.7.1.10.io-timeout-code",
        "MQDMPR-3.1.7.1.10.no-wait-code",
        "MQDMPR-3.1.7.1.14.io-timeout-code",
        "MQDMPR-3.1.7.1.14.no-wait-code",
        "MQDMPR-3.1.7.1.15.io-timeout-code",
        "MQDMPR-3.1.7.1.15.no-wait-code",
        "MQDMPR-3.1.6.3.io-timeout-code",
    )
    replaces = ("reading", _OtherStatus)


class _TakingPeek(Reading):
    def peeked(self, position: Position) -> Result:
        shown = super().peeked(position)
        self.manager.delivery.delete(position, Reason.RECEIVED)
        return shown


class PeekRemovesMessage(Fault):
    """A peek takes the message out of its queue."""

    name = "peek-removes-message"
    suite = "cursors"
    breaks = (
        "MQDMPR-3.1.7.1.15.keeps",
        "MQDMPR-3.1.7.1.15.first-available",
        "MQDMPR-3.1.7.1.15.cursor-position",
        "MQDMPR-3.1.7.1.14.keeps",
        "MQDMPR-3.1.7.1.13.peek-keeps",
        "MQDMPR-3.1.7.1.10.first-available",
        "MQDMPR-3.2.7.2.read-stays",
        "MQDMPR-3.2.7.4.read-takes-current",
        "MQDMPR-3.1.7.1.9.once",
        "MQDMPR-3.1.7.1.10.cursor-position",
        # From outside, a message that a waiting peek took looks like one that an ended receive took late.
        "MQDMPR-3.1.7.1.17.takes-nothing",
        "MQDMPR-3.1.7.1.10.timed-out-takes-nothing",
    )
    replaces = ("reading", _TakingPeek)


class _KeepingReceive(Reading):
    def take(self, position: Position, transaction: Transaction | None) -> Result:
        return self.show(position) if transaction is None else super().take(position, transaction)


class ReceiveKeepsMessage(Fault):
    """A receive outside any transaction leaves the message in its queue, to be received again."""

    name = "receive-keeps-message"
    suite = "cursors"
    breaks = (
        "MQDMPR-3.1.7.1.10.removes",
        "MQDMPR-3.1.7.1.10.at-most-once",
        "MQDMPR-3.1.7.1.10.first-available",
        "MQDMPR-3.1.7.1.13.receive-removes",
        "MQDMPR-3.1.7.2.1.removed",
        "MQDMPR-3.1.7.2.1.total-bytes",
        "MQDMPR-3.2.7.4.continues",
        "MQDMPR-3.1.7.1.10.no-wait",
        "MQDMPR-3.1.7.1.15.no-wait",
        "MQDMPR-3.1.7.1.15.first-available",
        "MQDMPR-3.2.7.2.unread-seeks",
        "MQDMPR-3.2.7.4.unread-seeks",
        "MQDMPR-3.1.7.1.10.cursor-seeks",
        "MQDMPR-3.1.7.1.14.next-available",
        "MQDMPR-3.1.7.3.2.forward",
    )
    replaces = ("reading", _KeepingReceive)


class _OpenHanded(Reading):
    def take(self, position: Position, transaction: Transaction | None) -> Result:
        if transaction is None:
            return super().take(position, transaction)
        transaction.steps.append(Step(Operation.DEQUEUE, position))
        return self.show(position)


class UncommittedReceiveVisible(Fault):
    """A message received in an open transaction stays available to every reader."""

    name = "uncommitted-receive-visible"
    suite = "transactions"
    breaks = (
        "MQDMPR-3.1.7.1.10.transaction-locks",
        "MQDMPR-3.1.7.1.10.skips-locked",
        "MQDMPR-3.1.7.1.10.at-most-once",
        "MQDMPR-3.1.7.1.10.first-available",
        "MQDMPR-3.1.7.1.13.transaction-locks",
        "MQDMPR-3.1.7.1.15.skips-locked",
        "MQDMPR-3.1.1.11.uncommitted-receive-hidden",
        "MQDMPR-3.1.7.1.10.no-wait",
        "MQDMPR-3.1.7.1.15.no-wait",
        "MQDMPR-3.1.7.1.15.first-available",
        "MQDMPR-3.2.7.3.skips-unavailable",
    )
    replaces = ("reading", _OpenHanded)


class _RestlessCursors(Cursors):
    def get_for_peek(self, cursor: Cursor) -> Found:
        if cursor.state is CursorState.READ:
            found = self.seek(cursor)
            if found is not None:
                self.stand_at(cursor, found)
                return Outcome.SUCCEEDED, found
        return super().get_for_peek(cursor)


class CursorMovesOnPeek(Fault):
    """A peek with a cursor that has a peeked message goes on to the next one."""

    name = "cursor-moves-on-peek"
    suite = "cursors"
    breaks = (
        "MQDMPR-3.2.7.2.read-stays",
        "MQDMPR-3.2.7.2.already-received",
        "MQDMPR-3.1.7.1.15.cursor-position",
        "MQDMPR-3.1.7.1.15.message-already-received",
    )
    replaces = ("cursors", _RestlessCursors)


class _ForgetfulCursors(Cursors):
    def state_after_dequeue(self) -> CursorState:
        return CursorState.READ


class CursorStaysReadAfterReceive(Fault):
    """After a receive of the peeked message the cursor still counts as having peeked one."""

    name = "cursor-stays-read-after-receive"
    suite = "cursors"
    breaks = (
        "MQDMPR-3.2.7.4.becomes-unread",
        "MQDMPR-3.2.7.4.continues",
        "MQDMPR-3.2.7.4.unread-seeks",
        "MQDMPR-3.2.7.2.unread-seeks",
        "MQDMPR-3.2.7.3.illegal-cursor-action",
        "MQDMPR-3.2.7.3.illegal-cursor-action-code",
        "MQDMPR-3.1.7.1.14.illegal-cursor-action",
        "MQDMPR-3.1.7.1.14.illegal-cursor-action-code",
    )
    replaces = ("cursors", _ForgetfulCursors)


class _WillingCursors(Cursors):
    def get_next_for_peek(self, cursor: Cursor) -> Found:
        if cursor.state is CursorState.UNREAD:
            return self.get_for_peek(cursor)
        return super().get_next_for_peek(cursor)


class PeekNextOnUnreadCursor(Fault):
    """A peek-next with a cursor that has peeked nothing gives the next message instead of failing."""

    name = "peek-next-on-unread-cursor"
    suite = "cursors"
    breaks = (
        "MQDMPR-3.2.7.3.illegal-cursor-action",
        "MQDMPR-3.2.7.3.illegal-cursor-action-code",
        "MQDMPR-3.1.7.1.14.illegal-cursor-action",
        "MQDMPR-3.1.7.1.14.illegal-cursor-action-code",
        "MQDMPR-3.2.7.1.unread",
        "MQDMPR-3.2.7.4.becomes-unread",
        "MQDMPR-3.2.7.6.peek-unread",
        "MQDMPR-3.2.7.6.receive-unread",
    )
    replaces = ("cursors", _WillingCursors)


class _CarelessClose(Queues):
    def close_cursors(self, descriptor: Descriptor) -> None:
        return


class CursorSurvivesItsQueueClose(Fault):
    """Closing a handle leaves its cursors open."""

    name = "cursor-survives-its-queue-close"
    suite = "cursors"
    breaks = ("MQDMPR-3.1.7.1.6.cursors-closed",)
    replaces = ("queues", _CarelessClose)


READING_FAULTS: tuple[type[Fault], ...] = (
    ReceiveReturnsSecondMessage,
    WrongTimeoutStatus,
    PeekRemovesMessage,
    ReceiveKeepsMessage,
    UncommittedReceiveVisible,
    CursorMovesOnPeek,
    CursorStaysReadAfterReceive,
    PeekNextOnUnreadCursor,
    CursorSurvivesItsQueueClose,
)
