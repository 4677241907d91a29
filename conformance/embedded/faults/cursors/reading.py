"""Faults of peeks, receives and cursors."""

from __future__ import annotations

from conformance.embedded.cursors import CursorOutcome, Cursors, Found
from conformance.embedded.entities import (
    Cursor,
    CursorState,
    Descriptor,
    Position,
    Reason,
    Result,
    Transaction,
)
from conformance.embedded.faults.base import Fault
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.spec.constants.hresults import MQ_ERROR


class _OtherStatus(Receiving):
    def timeout_status(self, *, polled: bool) -> int:
        return MQ_ERROR


class WrongTimeoutStatus(Fault):
    """A read whose time is over fails with the generic MQ_ERROR."""

    name = "wrong-timeout-status"
    breaks = (
        "MQDMPR-3.1.7.1.10.io-timeout-code",
        "MQDMPR-3.1.7.1.15.io-timeout-code",
        "MQDMPR-3.1.7.1.14.io-timeout-code",
        "MQDMPR-3.1.7.1.15.no-wait-code",
    )
    replaces = ("reading", _OtherStatus)


class _TakingPeek(Receiving):
    def peeked(self, position: Position) -> Result:
        shown = super().peeked(position)
        self.manager.delivery.delete(position, Reason.RECEIVED)
        return shown


class PeekRemovesMessage(Fault):
    """A peek takes the message out of its queue."""

    name = "peek-removes-message"
    breaks = ("MQDMPR-3.1.7.1.15.keeps",)
    replaces = ("reading", _TakingPeek)


class _KeepingReceive(Receiving):
    def take(self, position: Position, transaction: Transaction | None) -> Result:
        return self.show(position) if transaction is None else super().take(position, transaction)


class ReceiveKeepsMessage(Fault):
    """A receive outside any transaction leaves the message in its queue, to be received again."""

    name = "receive-keeps-message"
    breaks = (
        "MQDMPR-3.1.7.1.10.removes",
        "MQDMPR-3.1.7.1.10.at-most-once",
    )
    replaces = ("reading", _KeepingReceive)


class _RestlessCursors(Cursors):
    def get_for_peek(self, cursor: Cursor) -> Found:
        if cursor.state is CursorState.READ:
            found = self.seek(cursor)
            if found is not None:
                self.stand_at(cursor, found)
                return CursorOutcome.SUCCEEDED, found
        return super().get_for_peek(cursor)


class CursorMovesOnPeek(Fault):
    """A peek with a cursor that has a peeked message goes on to the next one."""

    name = "cursor-moves-on-peek"
    breaks = (
        "MQDMPR-3.2.7.2.read-stays",
        "MQDMPR-3.1.7.1.15.cursor-position",
        "MQDMPR-3.2.7.2.current-ends",
    )
    replaces = ("cursors", _RestlessCursors)


class _ForgetfulCursors(Cursors):
    def state_after_dequeue(self) -> CursorState:
        return CursorState.READ


class CursorStaysReadAfterReceive(Fault):
    """After a receive of the peeked message the cursor still counts as having peeked one."""

    name = "cursor-stays-read-after-receive"
    breaks = (
        "MQDMPR-3.2.7.4.becomes-unread",
        "MQDMPR-3.2.7.4.continues",
        "MQDMPR-3.2.7.4.unread-seeks",
    )
    replaces = ("cursors", _ForgetfulCursors)


class _WillingCursors(Cursors):
    def get_next_for_peek(self, cursor: Cursor) -> Found:
        if cursor.state is CursorState.UNREAD and self.seek(cursor) is not None:
            return self.get_for_peek(cursor)
        return super().get_next_for_peek(cursor)


class PeekNextOnUnreadCursor(Fault):
    """A peek-next with a cursor that has peeked nothing gives the next message instead of failing."""

    name = "peek-next-on-unread-cursor"
    breaks = (
        "MQDMPR-3.2.7.3.illegal-cursor-action",
        "MQDMPR-3.2.7.3.illegal-cursor-action-code",
        "MQDMPR-3.1.7.1.14.illegal-cursor-action",
        "MQDMPR-3.1.7.1.14.illegal-cursor-action-code",
    )
    replaces = ("cursors", _WillingCursors)


class _CarelessClose(Queues):
    def close_cursors(self, descriptor: Descriptor) -> None:
        return


class CursorSurvivesItsQueueClose(Fault):
    """Closing a handle leaves its cursors open."""

    name = "cursor-survives-its-queue-close"
    breaks = ("MQDMPR-3.1.7.1.6.cursors-closed",)
    replaces = ("queues", _CarelessClose)
