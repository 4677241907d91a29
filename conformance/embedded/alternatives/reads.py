"""Alternatives of readings about reads: which message is found, who waits, and the status of a failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from conformance.embedded.alternatives.base import follows
from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import (
    END_KEY,
    INFINITE,
    SEQUENCE_BITS,
    Cursor,
    CursorState,
    Descriptor,
    Message,
    MqError,
    OpenRead,
    Position,
    PositionList,
    Queue,
    State,
    Waiter,
)
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import STATUS_NOT_FOUND, Caller, CursorOutcome, Cursors, Receiving
from conformance.spec.constants.hresults import (
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION,
    MQ_ERROR_MESSAGE_NOT_FOUND,
    MQ_ERROR_QUEUE_DELETED,
    MQ_ERROR_QUEUE_NOT_AVAILABLE,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_TRANSACTION_USAGE,
    MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
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


Json = Any


@follows("waiting-readers-order=peeks-first", Delivery.make_available)
def waiting_readers_order_peeks_first(plain, self, position):
    """A message serves every waiting peek, then one receive."""
    position.queue.waiters.sort(key=lambda waiter: waiter.destructive)
    plain(position)


@follows("zero-time-to-be-received=nobody", Delivery.make_available)
def zero_time_to_be_received_nobody(plain, self, position):
    """A message with time to be received 0 expires before a waiting reader gets it."""
    if not position.expired and position.message.fields["time_to_be_received"] == 0 and self._is_over(position):
        position.state = State.AVAILABLE
        self.expire(position)
        return
    plain(position)


@follows("cancel-peek=not-found", Receiving.cancel)
def cancel_peek_not_found(plain, self, tag):
    """No call can cancel a waiting peek."""
    for queue in self.manager.queues.all():
        if any(waiter.tag == tag and not waiter.destructive for waiter in queue.waiters):
            raise MqError(STATUS_NOT_FOUND)
    plain(tag)


@follows("delete-waiting-read=at-timeout", Queues.end_waits)
def delete_waiting_read_at_timeout(plain, self, queue):
    """A read that waits on a deleted queue ends at its time-out."""


@follows("pending-reads-at-cursor-close=at-timeout", Cursors.close)
def pending_reads_at_cursor_close_at_timeout(plain, self, cursor):
    """A read that waits with a closed cursor gets no more messages and ends at its time-out."""
    queue = cursor.descriptor.queue
    if queue is not None:
        queue.waiters[:] = [waiter for waiter in queue.waiters if waiter.cursor is not cursor]
    plain(cursor)


@follows("timeout-unit=seconds", Receiving.patience)
def timeout_unit_seconds(plain, self, timeout_ms):
    """Time-outs count seconds."""
    return timeout_ms if timeout_ms == INFINITE else timeout_ms * 1000


@follows("waiting-readers-order=by-handle", Delivery.make_available)
def waiting_readers_order_by_handle(plain, self, position):
    """A message goes to the readers of the handle that was opened first, then to those of the next."""
    opened = position.queue.descriptors
    position.queue.waiters.sort(key=lambda waiter: opened.index(waiter.descriptor))
    plain(position)


class _Translating(Receiving):
    """Replaces one status with another."""

    changed: ClassVar[Mapping[int, int]] = {}

    def _translated(self, status: int) -> int:
        return self.changed.get(status, status)

    def readable_queue(self, at: Descriptor, *, destructive: bool = False) -> Queue:
        try:
            return super().readable_queue(at, destructive=destructive)
        except MqError as failure:
            raise MqError(self._translated(failure.status)) from None

    def cancel_all(self, waiters: list[Waiter], status: int = 0xC00E0008) -> None:
        super().cancel_all(waiters, self._translated(status))

    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        try:
            super().end(read, acknowledge=acknowledge)
        except MqError as failure:
            raise MqError(self._translated(failure.status)) from None


@follows("deleted-queue-status=queue-deleted", "reading")
class _QueueDeleted(_Translating):
    """A call on a handle whose queue was deleted fails with MQ_ERROR_QUEUE_DELETED."""

    changed: ClassVar[Mapping[int, int]] = {MQ_ERROR_QUEUE_NOT_AVAILABLE: MQ_ERROR_QUEUE_DELETED}


@follows("zero-timeout-status=io-timeout", Cursors.get_next_for_dequeue)
def zero_timeout_status_io_timeout(plain, self, cursor, *, no_wait):
    """A read with time-out 0 that finds nothing fails with MQ_ERROR_IO_TIMEOUT, with a cursor too."""
    outcome, found = plain(cursor, no_wait=no_wait)
    if outcome is CursorOutcome.NOT_FOUND:
        raise MqError(MQ_ERROR_IO_TIMEOUT)
    return outcome, found


@follows("zero-timeout-status=message-not-found", Receiving.timeout_status)
def zero_timeout_status_message_not_found(plain, self, *, polled):
    """A read with time-out 0 that finds nothing fails with MQ_ERROR_MESSAGE_NOT_FOUND."""
    return MQ_ERROR_MESSAGE_NOT_FOUND if polled else plain(polled=polled)


@follows("unknown-public-queue-status=queue-not-found", Queues.open)
def unknown_public_queue_status_queue_not_found(plain, self, format_name, access, share):
    """Opening an unknown public queue for send fails with MQ_ERROR_QUEUE_NOT_FOUND."""
    try:
        return plain(format_name, access, share)
    except MqError as failure:
        public = "," not in format_name and self.manager.names.format_name(format_name).kind == "public"
        if failure.status == MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION and public:
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND) from None
        raise


@follows("begun-receive-at-close=locked", Queues.close)
def begun_receive_at_close_locked(plain, self, descriptor):
    """A message whose receive was begun stays locked when the handle is closed, and nobody can end that receive."""
    reads = self.manager.open_reads
    for read in [read for read in reads.values() if read.descriptor is descriptor]:
        del reads[read.handle]
    plain(descriptor)
