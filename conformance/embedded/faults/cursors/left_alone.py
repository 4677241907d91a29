"""Faults that change a cursor, or a message, that a call has nothing to do with (MS-MQDMPR 3.1.7.1.2, .10, 3.2.7)."""

from __future__ import annotations

from conformance.embedded.cursors import CursorOutcome, Cursors, Found
from conformance.embedded.entities import START_KEY, Cursor, CursorState, Descriptor, Position, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.receiving import Caller, Receiving


class _CloseRewinds(Cursors):
    def close(self, cursor: Cursor) -> None:
        super().close(cursor)
        for other in cursor.descriptor.cursors:
            if other.state is CursorState.READ:
                other.state, other.key, other.position = CursorState.UNREAD, START_KEY, None


class ClosedCursorRewindsOthers(Fault):
    """Closing a cursor sends the other cursors of its handle back to the front of the queue."""

    name = "closed-cursor-rewinds-others"
    breaks = ("MQDMPR-3.1.7.1.2.others-kept",)
    replaces = ("cursors", _CloseRewinds)


class _IllegalAdvances(Cursors):
    def get_next_for_peek(self, cursor: Cursor) -> Found:
        outcome, found = super().get_next_for_peek(cursor)
        if outcome is CursorOutcome.ILLEGAL_CURSOR_ACTION:
            skipped = self.seek(cursor)
            if skipped is not None:
                self.stand_at(cursor, skipped)
        return outcome, found


class IllegalPeekNextAdvances(Fault):
    """A peek-next with a cursor that has no peeked message is refused, and takes the cursor a message further."""

    name = "illegal-peek-next-advances"
    breaks = (
        "MQDMPR-3.2.7.3.illegal-cursor-action-stays",
        "MQDMPR-3.2.7.4.continues",
        "MQDMPR-3.2.7.4.unread-seeks",
        "MQDMPR-3.2.7.2.unread-seeks",
        "MQDMPR-3.2.7.1.starts-before-first",
    )
    replaces = ("cursors", _IllegalAdvances)


class _Stuck(Cursors):
    def wait_expired(self, cursor: Cursor) -> None:
        waiting = cursor.state
        super().wait_expired(cursor)
        cursor.state = waiting


class TimedOutCursorIsStuck(Fault):
    """A cursor whose wait timed out counts as waiting for ever: every later read with it is refused."""

    name = "timed-out-cursor-is-stuck"
    breaks = (
        "MQDMPR-3.2.7.6.usable",
        "MQDMPR-3.2.7.6.receive-at-end",
        "MQDMPR-3.2.7.6.receive-unread",
        "MQDMPR-3.2.7.6.peek-unread",
    )
    first_seen_as = ("MQDMPR-3.1.7.1.10.waits",)
    because = "the first read with such a cursor that finds no message is refused where it would wait"
    replaces = ("cursors", _Stuck)


class _Twice(Receiving):
    _last: tuple[Descriptor, Position] | None = None

    def receive(
        self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int, transaction: Transaction | None
    ) -> None:
        queue = self.readable_queue(at, destructive=True)
        last, plain = self._last, cursor is None and transaction is None and timeout_ms == 0
        before = self.first(queue, True) if plain else None
        if plain and before is None and last is not None and last[0] is not at and last[0].queue is queue:
            self._last = None
            caller.answer(self.show(last[1]))
            return
        super().receive(caller, at, cursor, timeout_ms, transaction)
        if before is not None:
            self._last = at, before


class LastMessageForEveryHandle(Fault):
    """The last message of a queue that one handle receives is received by the next handle that asks, too."""

    name = "last-message-for-every-handle"
    breaks = ("MQDMPR-3.1.7.1.10.at-most-once", "MQDMPR-3.1.7.1.10.removes")
    replaces = ("reading", _Twice)
