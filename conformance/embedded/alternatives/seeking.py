"""Alternatives of readings about lookup identifiers and cursors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.embedded.alternatives.base import follows
from conformance.embedded.cursors import Cursors
from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import (
    END_KEY,
    Cursor,
    CursorState,
    Descriptor,
    Message,
    MqError,
    Position,
    Queue,
    State,
    Waiter,
)
from conformance.embedded.positions import SEQUENCE_BITS, PositionList
from conformance.embedded.receiving import Caller, Receiving
from conformance.spec.constants.hresults import (
    MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION,
    MQ_ERROR_MESSAGE_NOT_FOUND,
    MQ_ERROR_TRANSACTION_USAGE,
)

if TYPE_CHECKING:
    pass


class _Seeking(Receiving):
    """Reads by lookup identifier that fail in another way."""

    def locked_status(self) -> int:
        return MQ_ERROR_TRANSACTION_USAGE

    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        try:
            return super().seek(queue, lookup, action, destructive)
        except MqError:
            named = queue.positions.find(lookup)
            if action == "current" and named is not None and named.state is State.LOCKED:
                raise MqError(self.locked_status()) from None
            raise


@follows("lookup-locked-status=transaction-usage", "reading")
class _LockedUsage(_Seeking):
    """Reading a locked message by its identifier fails with MQ_ERROR_TRANSACTION_USAGE, a receive too."""


@follows("lookup-locked-status=locked-under-transaction", "reading")
class _LockedUnder(_Seeking):
    """Reading a locked message by its identifier fails with MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION."""

    def locked_status(self) -> int:
        return MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION


@follows("lookup-first-last=must-exist", Receiving.seek)
def lookup_first_last_must_exist(plain, self, queue, lookup, action, destructive):
    """First and last fail, too, if no message has the identifier."""
    if queue.positions.find(lookup) is None:
        raise MqError(MQ_ERROR_MESSAGE_NOT_FOUND)
    return plain(queue, lookup, action, destructive)


@follows("lookup-neighbour-of-removed=nearest", Receiving.seek)
def lookup_neighbour_of_removed_nearest(plain, self, queue, lookup, action, destructive):
    """The neighbour of a removed message is the message with the nearest identifier on that side."""
    if action in ("next", "previous") and queue.positions.find(lookup) is None:
        there = [each for each in queue.positions if each.state is State.AVAILABLE]
        behind = action == "next"
        side = [each for each in there if (each.lookup > lookup) is behind]
        if not side:
            raise MqError(MQ_ERROR_MESSAGE_NOT_FOUND)
        return (min if behind else max)(side, key=lambda each: each.lookup)
    return plain(queue, lookup, action, destructive)


@follows("lookup-identifier-priority=within-priority", "positions")
class _PlainIdentifiers(PositionList):
    """Only transactional messages have their priority in the lookup identifier."""

    @staticmethod
    def lookup_identifier(message: Message, sequence: int) -> int:
        high = 7 - int(message.fields["priority"]) if message.transactional else 0
        return high << SEQUENCE_BITS | sequence


@follows("poll-at-end=no-effect", "reading")
class _UnmovedByPolls(Receiving):
    """A read with a cursor and time-out 0 that finds nothing leaves the cursor unchanged."""

    def peek(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        self._before = self._place(cursor)
        super().peek(caller, at, cursor, timeout_ms)

    def peek_next(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        self._before = self._place(cursor)
        super().peek_next(caller, at, cursor, timeout_ms)

    def _fail(self, waiter: Waiter, status: int) -> None:
        polled = waiter not in waiter.queue.waiters and not waiter.queue.deleted
        super()._fail(waiter, status)
        if polled and waiter.cursor is not None and not waiter.destructive:
            waiter.cursor.state, waiter.cursor.key, waiter.cursor.position = self._before

    @staticmethod
    def _place(cursor: Cursor | None) -> tuple[CursorState, int, Position | None]:
        return (CursorState.UNREAD, 0, None) if cursor is None else (cursor.state, cursor.key, cursor.position)


@follows("peek-next-without-cursor=peeks", Receiving.peek_next)
def peek_next_without_cursor_peeks(plain, self, caller, at, cursor, timeout_ms):
    """A peek of the next message without a cursor is a plain peek."""
    (self.peek if cursor is None else plain)(caller, at, cursor, timeout_ms)


@follows("cursor-locked-message=other-failure", Cursors._current)
def cursor_locked_message_other_failure(plain, self, cursor):
    """A read with a cursor on a locked message fails like a read of a locked message."""
    if cursor.position is not None and cursor.position.state is State.LOCKED:
        raise MqError(MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION)
    return plain(cursor)


@follows("peek-timeout-position=as-before", Cursors.wait_expired)
def peek_timeout_position_as_before(plain, self, cursor):
    """A waiting peek that times out leaves its cursor where it was."""
    if cursor.state is CursorState.WAIT_PEEK:
        cursor.state = CursorState.UNREAD
    else:
        plain(cursor)


@follows("parked-cursor-after-timeout=sees-arrivals", Cursors.__init__)
def parked_cursor_after_timeout_sees_arrivals(plain, self, manager):
    """A cursor behind the last message sees what has arrived since it got there."""
    plain(manager)
    self._since = {}


@follows("parked-cursor-after-timeout=sees-arrivals", Cursors.wait_expired)
def parked_cursor_after_timeout_sees_arrivals_wait_expired(plain, self, cursor):
    plain(cursor)
    queue = cursor.descriptor.queue
    self._since[cursor.handle] = max((each.row for each in queue.positions), default=0) if queue is not None else 0


@follows("parked-cursor-after-timeout=sees-arrivals", Cursors.seek)
def parked_cursor_after_timeout_sees_arrivals_seek(plain, self, cursor):
    queue, since = cursor.descriptor.queue, self._since.get(cursor.handle)
    if cursor.key != END_KEY or queue is None or since is None:
        return plain(cursor)
    arrived = (each for each in queue.positions if each.state is State.AVAILABLE and each.row > since)
    return next(arrived, None)


@follows("removed-position=next-at-removal", Delivery.remove)
def removed_position_next_at_removal(plain, self, position):
    """A cursor at a removed message goes on with the message that was next to it, and on from there."""
    behind = next((each.key for each in position.queue.positions if each.key > position.key), None)
    plain(position)
    for cursor in self.manager.cursor_handles.values():
        if cursor.position is position and behind is not None:
            cursor.key = behind - 1
