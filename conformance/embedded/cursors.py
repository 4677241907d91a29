"""The cursor's state machine (MS-MQDMPR 3.2 and its figure 3)."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from conformance.embedded.entities import (
    END_KEY,
    Cursor,
    CursorState,
    Descriptor,
    Position,
    State,
    Waiter,
    earliest_shown,
    is_shown,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager


class CursorOutcome(Enum):
    """The result of an event of MS-MQDMPR 3.2.7."""

    SUCCEEDED = "succeeded"
    ALREADY_RECEIVED = "already-received"
    ILLEGAL_CURSOR_ACTION = "illegal-cursor-action"
    NOT_FOUND = "not-found"
    WAITING = "waiting"


Found = tuple[CursorOutcome, Position | None]


class Cursors:
    """Opens, closes and moves cursors."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    def open(self, descriptor: Descriptor) -> Cursor:
        """Open Cursor (3.1.7.1.1) on a handle opened for reading."""
        self.manager.reading.readable_queue(descriptor)
        cursor = Cursor(self.manager.new_handle("c"), descriptor)
        descriptor.cursors.append(cursor)
        self.manager.cursor_handles[cursor.handle] = cursor
        return cursor

    def close(self, cursor: Cursor) -> None:
        """Close Cursor (3.1.7.1.2). Reads that wait with it are cancelled."""
        self.manager.reading.cancel_all([w for w in self._queue_waiters(cursor) if w.cursor is cursor])
        self.manager.cursor_handles.pop(cursor.handle, None)
        cursor.descriptor.cursors.remove(cursor)

    def get_for_peek(self, cursor: Cursor) -> Found:
        """Get Message For Peek (3.2.7.2)."""
        if cursor.state is CursorState.UNREAD:
            found = self.seek_for_peek(cursor)
            if found is None:
                cursor.state = CursorState.WAIT_PEEK
                return CursorOutcome.WAITING, None
            cursor.state = CursorState.READ
            self.stand_at(cursor, found)
            return CursorOutcome.SUCCEEDED, found
        if cursor.state is CursorState.READ:
            if cursor.position is not None and is_shown(cursor.position):
                return CursorOutcome.SUCCEEDED, cursor.position
            return self._current(cursor)
        return CursorOutcome.ILLEGAL_CURSOR_ACTION, None  # another read is waiting with this cursor

    def get_next_for_peek(self, cursor: Cursor) -> Found:
        """Get Next Message For Peek (3.2.7.3)."""
        if cursor.state is not CursorState.READ:
            return CursorOutcome.ILLEGAL_CURSOR_ACTION, None
        found = self.seek_for_peek(cursor)
        if found is None:
            cursor.state = CursorState.WAIT_PEEK
            return CursorOutcome.WAITING, None
        self.stand_at(cursor, found)
        return CursorOutcome.SUCCEEDED, found

    def get_next_for_dequeue(self, cursor: Cursor, *, no_wait: bool) -> Found:
        """Get Next Message For Dequeue (3.2.7.4)."""
        if cursor.state is CursorState.UNREAD:
            found = self.seek(cursor)
            if found is None:
                if no_wait:
                    return CursorOutcome.NOT_FOUND, None
                cursor.state = CursorState.WAIT_RECEIVE
                return CursorOutcome.WAITING, None
            self.stand_at(cursor, found)
            return CursorOutcome.SUCCEEDED, found
        if cursor.state is CursorState.READ:
            outcome, found = self._current(cursor)
            if outcome is CursorOutcome.SUCCEEDED:
                cursor.state = self.state_after_dequeue()
            return outcome, found
        return CursorOutcome.ILLEGAL_CURSOR_ACTION, None

    def message_available(self, cursor: Cursor, position: Position) -> None:
        """Message Available (3.2.7.5): move the cursor to the message, wherever its priority placed it."""
        if cursor.state is CursorState.WAIT_PEEK:
            cursor.state = CursorState.READ
        elif cursor.state is CursorState.WAIT_RECEIVE:
            cursor.state = CursorState.UNREAD
        self.stand_at(cursor, position)

    def wait_expired(self, cursor: Cursor) -> None:
        """Wait Time Expired (3.2.7.6): move the cursor behind the last message; for peeks too, by figure 3."""
        if cursor.state in (CursorState.WAIT_RECEIVE, CursorState.WAIT_PEEK):
            cursor.key = END_KEY
            cursor.position = None
            cursor.state = CursorState.UNREAD

    def seek(self, cursor: Cursor) -> Position | None:
        """Return the first available position behind the cursor."""
        queue = cursor.descriptor.queue
        return queue.positions.after(cursor.key) if queue is not None else None

    def seek_for_peek(self, cursor: Cursor) -> Position | None:
        """Return the first position behind the cursor that peeks see."""
        queue, found = cursor.descriptor.queue, self.seek(cursor)
        return found if queue is None else earliest_shown(queue, found, cursor.key)

    def stand_at(self, cursor: Cursor, position: Position) -> None:
        """Move the cursor to a position."""
        cursor.key = position.key
        cursor.position = position

    def state_after_dequeue(self) -> CursorState:
        """Return the state of a cursor after a receive of the message it peeked."""
        return CursorState.UNREAD

    def _current(self, cursor: Cursor) -> Found:
        position = cursor.position
        if position is not None and position.state is State.AVAILABLE:
            return CursorOutcome.SUCCEEDED, position
        return CursorOutcome.ALREADY_RECEIVED, None

    @staticmethod
    def _queue_waiters(cursor: Cursor) -> list[Waiter]:
        queue = cursor.descriptor.queue
        return list(queue.waiters) if queue is not None else []
