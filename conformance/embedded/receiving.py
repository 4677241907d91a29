"""Peek, receive, two-phase reads, lookups and waiting reads, and the cursor's state machine (MS-MQDMPR 3.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import (
    END_KEY,
    INFINITE,
    Cursor,
    CursorState,
    Descriptor,
    MqError,
    OpenRead,
    Operation,
    Position,
    Queue,
    Reason,
    Result,
    State,
    Transaction,
    UndoStep,
    Waiter,
    earliest_shown,
    is_shown,
)
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_ILLEGAL_CURSOR_ACTION,
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
    MQ_ERROR_MESSAGE_NOT_FOUND,
    MQ_ERROR_OPERATION_CANCELLED,
    MQ_ERROR_QUEUE_NOT_AVAILABLE,
    MQ_ERROR_TRANSACTION_SEQUENCE,
    MQ_ERROR_TRANSACTION_USAGE,
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


Json = Any
STATUS_NOT_FOUND = 0xC0000225
LAST_LOOKUP = (1 << 64) - 1

_CURSOR_FAILURES = {
    CursorOutcome.ALREADY_RECEIVED: MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
    CursorOutcome.ILLEGAL_CURSOR_ACTION: MQ_ERROR_ILLEGAL_CURSOR_ACTION,
    CursorOutcome.NOT_FOUND: MQ_ERROR_MESSAGE_NOT_FOUND,
}


class ShownMessage(dict[str, Json]):
    """A message in the form of the protocol. position: the place it was read at."""

    __slots__ = ("position",)
    position: Position


class Caller:
    """The request that a read answers. answer: called once with the result. pending: called if the read must wait.

    session, request: identify it for a cancel. transaction: the one the read takes part in.
    """

    __slots__ = ("answer", "pending", "session", "tag", "transaction")

    def __init__(
        self, session: object, request: Json, answer: Callable[[Result], None], pending: Callable[[], None]
    ) -> None:
        self.session = session
        self.tag = (session, request)
        self.answer = answer
        self.pending = pending
        self.transaction: Transaction | None = None


@dataclass(slots=True, eq=False)
class Read:
    """A read in progress. destructive: it removes its message. finish: makes the answer from the position found."""

    caller: Caller
    at: Descriptor
    cursor: Cursor | None
    timeout_ms: int
    destructive: bool
    finish: Callable[[Position], Result]


class Receiving:
    """Gives messages to readers."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    # The reads of the protocol. Each answers its caller, now or later, or raises MqError.

    def receive(
        self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int, transaction: Transaction | None
    ) -> None:
        """Dequeue Message (3.1.7.1.10)."""
        queue = self.readable_queue(at, destructive=True)
        self._check_usage(queue, transaction)
        caller.transaction = transaction
        self._dequeue(Read(caller, at, cursor, timeout_ms, True, lambda position: self.take(position, transaction)))

    def receive_begin(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        """Dequeue Message Begin (3.1.7.1.11)."""
        self.readable_queue(at, destructive=True)
        self._dequeue(Read(caller, at, cursor, timeout_ms, True, lambda position: self.begin(at, position)))

    def peek(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        """Peek Message (3.1.7.1.15)."""
        queue = self.readable_queue(at)
        read = Read(caller, at, cursor, timeout_ms, False, self.peeked)
        if cursor is None:
            self._first(read, queue)
        else:
            self._own(at, cursor)
            self._with_cursor(read, self.manager.cursors.get_for_peek(cursor))

    def peek_next(self, caller: Caller, at: Descriptor, cursor: Cursor | None, timeout_ms: int) -> None:
        """Peek Next Message (3.1.7.1.14)."""
        self.readable_queue(at)
        if cursor is None:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        self._own(at, cursor)
        found = self.manager.cursors.get_next_for_peek(cursor)
        self._with_cursor(Read(caller, at, cursor, timeout_ms, False, self.peeked), found)

    def by_lookup_id(
        self,
        caller: Caller,
        at: Descriptor,
        lookup: int,
        action: str,
        *,
        destructive: bool,
        transaction: Transaction | None = None,
    ) -> None:
        """Read Message By Lookup Identifier (3.1.7.1.13)."""
        queue = self.readable_queue(at, destructive=destructive)
        if destructive:
            self._check_usage(queue, transaction)
        position = self.seek(queue, lookup, action, destructive)
        caller.answer(self.take(position, transaction) if destructive else self.peeked(position))

    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        """Seek Available Message Position With Id (3.1.7.3.3). First and last ignore the identifier."""
        positions = queue.positions
        found: Position | None
        if action == "first" or (action == "next" and lookup == 0):
            found = positions.first_available()
        elif action == "last" or (action == "previous" and lookup == LAST_LOOKUP):
            found = positions.before(1 << 80)
        else:
            named = positions.find(lookup)
            if named is None:
                raise MqError(MQ_ERROR_MESSAGE_NOT_FOUND)
            if action == "next":
                found = positions.after(named.key)
            elif action == "previous":
                found = positions.before(named.key)
            elif named.state is State.AVAILABLE or (not destructive and is_shown(named)):
                found = named
            else:
                raise MqError(MQ_ERROR_MESSAGE_NOT_FOUND if destructive else MQ_ERROR_TRANSACTION_USAGE)
        if found is None:
            raise MqError(MQ_ERROR_MESSAGE_NOT_FOUND)
        return found

    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        """Dequeue Message End (3.1.7.1.12)."""
        del self.manager.open_reads[read.handle]
        position = read.position
        if position.queue.deleted:
            raise MqError(MQ_ERROR_QUEUE_NOT_AVAILABLE)
        delivery = self.manager.delivery
        if position.state is State.AVAILABLE:
            raise MqError(MQ_ERROR_TRANSACTION_SEQUENCE)
        if position.state is State.PURGE_PENDING:
            delivery.delete(position, Reason.PURGED)
        elif acknowledge:
            delivery.delete(position, Reason.RECEIVED)
        else:
            delivery.make_available(position)

    def cancel(self, tag: Json) -> None:
        """Cancel Waiting Message Read Request (3.1.7.1.17). Raises MqError(STATUS_NOT_FOUND) if none waits."""
        for queue in self.manager.queues.all():
            for waiter in queue.waiters:
                if waiter.tag == tag:
                    self.cancel_all([waiter])
                    return
        raise MqError(STATUS_NOT_FOUND)

    # Processing the position found.

    def show(self, position: Position) -> Result:
        """Return the message of a position in the form of the protocol."""
        message = ShownMessage(position.message.fields)
        message.position = position
        message["lookup_identifier"] = str(position.lookup)
        message["arrival_time"] = position.arrival
        return {"status": 0, "message": message}

    def peeked(self, position: Position) -> Result:
        """Return a message and leave it in its queue."""
        return self.show(position)

    def take(self, position: Position, transaction: Transaction | None) -> Result:
        """Remove a message from its queue, or lock it for a transaction."""
        if transaction is None:
            self.manager.delivery.delete(position, Reason.RECEIVED)
        else:
            position.state = State.LOCKED
            transaction.steps.append(UndoStep(Operation.DEQUEUE, position))
        return self.show(position)

    def begin(self, at: Descriptor, position: Position) -> Result:
        """Lock a message for a two-phase read."""
        position.state = State.LOCKED
        read = OpenRead(self.manager.new_handle("r"), at, position)
        self.manager.open_reads[read.handle] = read
        return {**self.show(position), "read": read.handle}

    # Finding a position, or waiting for one.

    def readable_queue(self, at: Descriptor, *, destructive: bool = False) -> Queue:
        """Return the queue of a handle. Raises MqError if the handle does not allow such a read."""
        allowed = ("receive", "receive_admin") if destructive else ("receive", "peek", "receive_admin", "peek_admin")
        if at.access not in allowed or at.queue is None:
            raise MqError(MQ_ERROR_ACCESS_DENIED)
        if at.queue.deleted:
            raise MqError(MQ_ERROR_QUEUE_NOT_AVAILABLE)
        return at.queue

    def first(self, queue: Queue, destructive: bool) -> Position | None:
        """Return the position for a read without cursor."""
        found = queue.positions.first_available()
        return found if destructive else earliest_shown(queue, found)

    def timeout_status(self, *, polled: bool) -> int:
        """Return the status of a read whose time-out has passed. polled: its time-out was 0."""
        return MQ_ERROR_IO_TIMEOUT

    def patience(self, timeout_ms: int) -> int:
        """Return the milliseconds that a read with this time-out waits."""
        return timeout_ms

    def _dequeue(self, read: Read) -> None:
        queue = self.readable_queue(read.at, destructive=True)
        if read.cursor is None:
            self._first(read, queue)
        else:
            self._own(read.at, read.cursor)
            found = self.manager.cursors.get_next_for_dequeue(read.cursor, no_wait=read.timeout_ms == 0)
            self._with_cursor(read, found)

    def _first(self, read: Read, queue: Queue) -> None:
        position = self.first(queue, read.destructive)
        if position is not None:
            read.caller.answer(read.finish(position))
        else:
            self._wait(read)

    def _with_cursor(self, read: Read, found: Found) -> None:
        outcome, position = found
        if outcome is CursorOutcome.WAITING:
            self._wait(read)
        elif position is None:
            raise MqError(_CURSOR_FAILURES[outcome])
        else:
            read.caller.answer(read.finish(position))

    def _wait(self, read: Read) -> None:
        """Wait For New Message (3.1.7.3.1). The time-out is in milliseconds."""
        queue, caller = self.readable_queue(read.at), read.caller
        waiter = Waiter(caller.tag, read.at, queue, read.destructive, read.cursor, read.finish, caller.answer)
        timeout_ms = self.patience(read.timeout_ms)
        if timeout_ms == 0:
            self._fail(waiter, self.timeout_status(polled=True))
            return
        if timeout_ms != INFINITE:
            clock = self.manager.clock
            due_ms = clock.now_ms() + timeout_ms
            waiter.timer = clock.at(due_ms, lambda: self._fail(waiter, self.timeout_status(polled=False)))
        queue.waiters.append(waiter)
        if caller.transaction is not None:
            caller.transaction.waiters.append(waiter)
        caller.pending()

    def satisfied(self, waiter: Waiter, position: Position) -> None:
        """Give a waiting read its message."""
        self._forget(waiter)
        if waiter.cursor is not None:
            self.manager.cursors.message_available(waiter.cursor, position)
        waiter.answer(waiter.finish(position))

    def cancel_all(self, waiters: list[Waiter], status: int = MQ_ERROR_OPERATION_CANCELLED) -> None:
        """End these waits with a failure. Skips those that have already ended."""
        for waiter in waiters:
            if waiter in waiter.queue.waiters:
                self._fail(waiter, status)

    def _fail(self, waiter: Waiter, status: int) -> None:
        self._forget(waiter)
        if waiter.cursor is not None:
            self.manager.cursors.wait_expired(waiter.cursor)
        waiter.answer({"status": status})

    @staticmethod
    def _forget(waiter: Waiter) -> None:
        if waiter.timer is not None:
            waiter.timer.cancel()
        if waiter in waiter.queue.waiters:
            waiter.queue.waiters.remove(waiter)

    @staticmethod
    def _own(at: Descriptor, cursor: Cursor) -> None:
        if cursor.descriptor is not at:
            raise MqError(MQ_ERROR_INVALID_HANDLE)

    @staticmethod
    def _check_usage(queue: Queue, transaction: Transaction | None) -> None:
        if transaction is not None and not queue.transactional:
            raise MqError(MQ_ERROR_TRANSACTION_USAGE)
