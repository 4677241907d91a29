"""Faults that change a cursor, or a message, that a call has nothing to do with (MS-MQDMPR 3.1.7.1.2, .10, 3.2.7)."""

from __future__ import annotations

from conformance.embedded.cursors import CursorOutcome, Cursors
from conformance.embedded.entities import START_KEY, Cursor, CursorState, Descriptor, Position, Transaction
from conformance.embedded.faults.base import fault
from conformance.embedded.receiving import Caller, Receiving


@fault("closed-cursor-rewinds-others", Cursors.close, "MQDMPR-3.1.7.1.2.others-kept")
def closed_cursor_rewinds_others(plain, self, cursor):
    """Closing a cursor sends the other cursors of its handle back to the front of the queue."""
    plain(cursor)
    for other in cursor.descriptor.cursors:
        if other.state is CursorState.READ:
            other.state, other.key, other.position = CursorState.UNREAD, START_KEY, None


@fault(
    "illegal-peek-next-advances", Cursors.get_next_for_peek, "MQDMPR-3.2.7.3.illegal-cursor-action-stays",
    "MQDMPR-3.2.7.4.continues", "MQDMPR-3.2.7.4.unread-seeks", "MQDMPR-3.2.7.2.unread-seeks",
    "MQDMPR-3.2.7.1.starts-before-first",
)  # fmt: skip
def illegal_peek_next_advances(plain, self, cursor):
    """A peek-next with a cursor that has no peeked message is refused, and takes the cursor a message further."""
    outcome, found = plain(cursor)
    if outcome is CursorOutcome.ILLEGAL_CURSOR_ACTION:
        skipped = self.seek(cursor)
        if skipped is not None:
            self.stand_at(cursor, skipped)
    return outcome, found


@fault(
    "timed-out-cursor-is-stuck", Cursors.wait_expired, "MQDMPR-3.2.7.6.usable", "MQDMPR-3.2.7.6.receive-at-end",
    "MQDMPR-3.2.7.6.receive-unread", "MQDMPR-3.2.7.6.peek-unread", first_seen_as=("MQDMPR-3.1.7.1.10.waits",),
    because="the first read with such a cursor that finds no message is refused where it would wait",
)  # fmt: skip
def timed_out_cursor_is_stuck(plain, self, cursor):
    """A cursor whose wait timed out counts as waiting for ever: every later read with it is refused."""
    waiting = cursor.state
    plain(cursor)
    cursor.state = waiting


@fault("last-message-for-every-handle", "reading", "MQDMPR-3.1.7.1.10.at-most-once", "MQDMPR-3.1.7.1.10.removes")
class LastMessageForEveryHandle(Receiving):
    """The last message of a queue that one handle receives is received by the next handle that asks, too."""

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
