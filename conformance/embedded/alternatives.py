"""The other side of a reading: parts that follow an alternative which this implementation does not follow by itself.

`embedded+R-MQDMPR-waiting-readers-order=peeks-first` is the implementation with that alternative. Unlike a fault, it is
something an implementer can defend; `hello` then declares it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from conformance.embedded.cursors import Cursors, Found, Outcome
from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import (
    INFINITE,
    Cursor,
    CursorState,
    Descriptor,
    Message,
    MqError,
    OpenRead,
    Operation,
    Position,
    Queue,
    Reason,
    State,
    Step,
    Transaction,
    Waiter,
)
from conformance.embedded.positions import SEQUENCE_BITS, PositionList
from conformance.embedded.queues import Queues
from conformance.embedded.reading import Caller, Reading
from conformance.embedded.sending import Sending
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_INVALID_PARAMETER,
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
    from conformance.embedded.manager import Parts

Json = Any
STATUS_INVALID_PARAMETER = 0xC000000D
STATUS_NOT_FOUND = 0xC0000225


class Alternative:
    """One alternative of a reading. replaces: a part of `Parts` and the subclass that follows it."""

    reading: ClassVar[str]
    alternative: ClassVar[str]
    replaces: ClassVar[tuple[str, type]]

    def apply(self, parts: Parts) -> None:
        """Put the class in place and declare the alternative."""
        part, following = self.replaces
        present = getattr(parts, part)
        setattr(parts, part, type(following.__name__, (following, present), {}))
        parts.readings[self.reading] = self.alternative


ALTERNATIVES: dict[str, type[Alternative]] = {}


def _follows(name: str, part: str) -> Callable[[type], type]:
    """Register a subclass of a part as `reading=alternative`."""
    reading, _, word = (name if name.startswith("R-") else f"R-MQDMPR-{name}").partition("=")

    def register(following: type) -> type:
        made = type(
            following.__name__,
            (Alternative,),
            {"__doc__": following.__doc__, "reading": reading, "alternative": word, "replaces": (part, following)},
        )
        ALTERNATIVES[f"{reading}={word}"] = made
        return following

    return register


# Waiting readers


@_follows("waiting-readers-order=peeks-first", "delivery")
class _PeeksFirst(Delivery):
    """Every waiting peek, then one receive."""

    def make_available(self, position: Position) -> None:
        position.queue.waiters.sort(key=lambda waiter: waiter.destructive)
        super().make_available(position)


@_follows("zero-time-to-be-received=nobody", "delivery")
class _GoneAtOnce(Delivery):
    """A message with time to be received zero is over before a reader that waits could get it."""

    def make_available(self, position: Position) -> None:
        if not position.expired and position.message.fields["time_to_be_received"] == 0 and self._is_over(position):
            position.state = State.AVAILABLE
            self.expire(position)
            return
        super().make_available(position)


@_follows("cancel-peek=not-found", "reading")
class _UntaggedPeeks(Reading):
    """A waiting peek has no name by which it could be cancelled."""

    def cancel(self, tag: Json) -> None:
        for queue in self.manager.queues.all():
            if any(waiter.tag == tag and not waiter.destructive for waiter in queue.waiters):
                raise MqError(STATUS_NOT_FOUND)
        super().cancel(tag)


@_follows("delete-waiting-read=at-timeout", "queues")
class _WaitsOn(Queues):
    """A read that waits on a deleted queue ends when its time is over."""

    def end_waits(self, queue: Queue) -> None:
        return


@_follows("pending-reads-at-cursor-close=at-timeout", "cursors")
class _OutlivingWaits(Cursors):
    """A read that waits with a closed cursor ends when its time is over: no message reaches it any more."""

    def close(self, cursor: Cursor) -> None:
        queue = cursor.descriptor.queue
        if queue is not None:
            queue.waiters[:] = [waiter for waiter in queue.waiters if waiter.cursor is not cursor]
        super().close(cursor)


@_follows("timeout-unit=seconds", "reading")
class _Seconds(Reading):
    """Time-outs count seconds."""

    def patience(self, timeout_ms: int) -> int:
        return timeout_ms if timeout_ms == INFINITE else timeout_ms * 1000


# Statuses


class _Translating(Reading):
    """Puts one status in the place of another."""

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


@_follows("deleted-queue-status=queue-deleted", "reading")
class _QueueDeleted(_Translating):
    """A call on a handle whose queue was deleted fails with MQ_ERROR_QUEUE_DELETED."""

    changed: ClassVar[Mapping[int, int]] = {MQ_ERROR_QUEUE_NOT_AVAILABLE: MQ_ERROR_QUEUE_DELETED}


@_follows("zero-timeout-status=io-timeout", "cursors")
class _AlwaysTimeout(Cursors):
    """A read without time to wait that finds nothing fails with MQ_ERROR_IO_TIMEOUT, with a cursor too."""

    def get_next_for_dequeue(self, cursor: Cursor, *, no_wait: bool) -> Found:
        outcome, found = super().get_next_for_dequeue(cursor, no_wait=no_wait)
        if outcome is Outcome.NOT_FOUND:
            raise MqError(MQ_ERROR_IO_TIMEOUT)
        return outcome, found


@_follows("zero-timeout-status=message-not-found", "reading")
class _AlwaysNotFound(Reading):
    """A read without time to wait that finds nothing fails with MQ_ERROR_MESSAGE_NOT_FOUND."""

    def timeout_status(self, *, polled: bool) -> int:
        return MQ_ERROR_MESSAGE_NOT_FOUND if polled else super().timeout_status(polled=polled)


@_follows("unknown-public-queue-status=queue-not-found", "queues")
class _PublicNotFound(Queues):
    """Opening an unknown public queue for send fails with MQ_ERROR_QUEUE_NOT_FOUND."""

    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        try:
            return super().open(format_name, access, share)
        except MqError as failure:
            public = "," not in format_name and self.manager.names.format_name(format_name).kind == "public"
            if failure.status == MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION and public:
                raise MqError(MQ_ERROR_QUEUE_NOT_FOUND) from None
            raise


# Lookup identifiers


class _Seeking(Reading):
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


@_follows("lookup-locked-status=transaction-usage", "reading")
class _LockedUsage(_Seeking):
    """Reading a locked message by its identifier fails with MQ_ERROR_TRANSACTION_USAGE, a receive too."""


@_follows("lookup-locked-status=locked-under-transaction", "reading")
class _LockedUnder(_Seeking):
    """Reading a locked message by its identifier fails with MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION."""

    def locked_status(self) -> int:
        return MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION


@_follows("lookup-first-last=must-exist", "reading")
class _MustExist(Reading):
    """First and last fail, too, when no message has the identifier."""

    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        if queue.positions.find(lookup) is None:
            raise MqError(MQ_ERROR_MESSAGE_NOT_FOUND)
        return super().seek(queue, lookup, action, destructive)


@_follows("lookup-neighbour-of-removed=nearest", "reading")
class _Nearest(Reading):
    """The neighbour of a message that is gone is the one with the nearest identifier on that side."""

    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        if action in ("next", "previous") and queue.positions.find(lookup) is None:
            there = [each for each in queue.positions if each.state is State.AVAILABLE]
            behind = action == "next"
            side = [each for each in there if (each.lookup > lookup) is behind]
            if not side:
                raise MqError(MQ_ERROR_MESSAGE_NOT_FOUND)
            return (min if behind else max)(side, key=lambda each: each.lookup)
        return super().seek(queue, lookup, action, destructive)


@_follows("lookup-identifier-priority=within-priority", "positions")
class _PlainIdentifiers(PositionList):
    """Only transactional messages have their priority in the lookup identifier."""

    @staticmethod
    def lookup_identifier(message: Message, sequence: int) -> int:
        high = 7 - int(message.fields["priority"]) if message.transactional else 0
        return high << SEQUENCE_BITS | sequence


# Cursors


@_follows("poll-at-end=no-effect", "reading")
class _UnmovedByPolls(Reading):
    """A read with a cursor and no time to wait leaves the cursor as it was when it finds nothing."""

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


@_follows("cursor-locked-message=other-failure", "cursors")
class _LockedFailure(Cursors):
    """A read with a cursor whose message is locked fails as a read of a locked message does."""

    def _current(self, cursor: Cursor) -> Found:
        if cursor.position is not None and cursor.position.state is State.LOCKED:
            raise MqError(MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION)
        return super()._current(cursor)


# Transactions, moves, purge


@_follows("purge-uncommitted-send=purged", "queues")
class _PurgesSends(Queues):
    """A purge takes along what transactions have sent and not committed."""

    def purge_position(self, position: Position) -> None:
        if position.uncommitted:
            self.manager.delivery.remove(position)
        else:
            super().purge_position(position)


@_follows("commit-purged-move=purged", "transactions")
class _PurgedMove(Transactions):
    """A message that was purged while a move held it is gone at the commit."""

    def commit_step(self, step: Step) -> None:
        if step.operation is Operation.MOVE and step.position.state is State.PURGE_PENDING:
            self.manager.delivery.delete(step.position, Reason.PURGED)
        else:
            super().commit_step(step)


@_follows("R-MQRR-move-status=remote", "transactions")
class _RemoteMove(Transactions):
    """A move to a handle that is not for moving, or to a stranger, fails as it does over the remote interface."""

    def move(self, source: Descriptor, lookup: int, destination: Descriptor, transaction: Transaction | None) -> None:
        remote = {MQ_ERROR_ACCESS_DENIED: MQ_ERROR_INVALID_HANDLE, MQ_ERROR_INVALID_PARAMETER: STATUS_INVALID_PARAMETER}
        try:
            super().move(source, lookup, destination, transaction)
        except MqError as failure:
            raise MqError(remote.get(failure.status, failure.status)) from None


class _KeepingMove(Transactions):
    """A moved message keeps its lookup identifier."""

    def place_of(self, position: Position, moved: Position) -> int:
        return position.key

    def relocate(self, position: Position, target: Queue) -> None:
        waiters, target.waiters = target.waiters, []
        delivery = self.manager.delivery
        delivery.remove(position)
        moved = delivery.place(target, position.message, limited=False)
        target.waiters = waiters
        if moved.state is State.DELETED:
            return
        target.positions.remove(moved)
        moved.key, moved.lookup = self.place_of(position, moved), position.lookup
        target.positions.insert(moved)
        delivery.keep(moved)
        delivery.make_available(moved)


@_follows("moved-lookup-identifier=kept-by-arrival", "transactions")
class _MovedByArrival(_KeepingMove):
    """A moved message keeps its identifier and stands where its first arrival puts it."""


@_follows("moved-lookup-identifier=kept-at-end", "transactions")
class _MovedAtEnd(_KeepingMove):
    """A moved message keeps its identifier and stands behind the others of its priority."""

    def place_of(self, position: Position, moved: Position) -> int:
        return moved.key


# Quotas, journals, expiry


@_follows("quota-uncommitted=at-commit", "delivery")
class _RoomAtCommit(Delivery):
    """What open transactions sent does not count for quotas, and no quota refuses a transactional send or commit."""

    def fits(self, queue: Queue, message: Message) -> bool:
        held = [each.message.size for each in queue.positions if each.uncommitted]
        everywhere = sum(
            each.message.size for other in self.manager.queues.all() for each in other.positions if each.uncommitted
        )
        self.manager.message_bytes -= everywhere
        queue.bytes -= sum(held)
        try:
            return super().fits(queue, message)
        finally:
            queue.bytes += sum(held)
            self.manager.message_bytes += everywhere


@_follows("expiry-while-locked=available", "delivery")
class _LocksKeep(Delivery):
    """A message whose time ran out while it was locked is available again when its lock ends, and stays."""

    def expire(self, position: Position) -> None:
        if position.state is State.AVAILABLE:
            super().expire(position)
        elif position.state is State.LOCKED and not position.uncommitted:
            position.message.expires_ms = None
        else:
            super().expire(position)


@_follows("dead-letter-queue=one-for-all", "delivery")
class _OneDeadLetterQueue(Delivery):
    """One dead-letter queue is for all messages."""

    def dead_letter(self, message: Message) -> None:
        if message.fields["negative_journaling"]:
            self.copy(self.manager.queues.system("deadletter"), message)


# Sending


@_follows("send-after-delete=refused", "sending")
class _RefusesLost(Sending):
    """A send by a handle whose queue was deleted fails."""

    def send(self, descriptor: Descriptor, given: dict[str, Json], transaction: Transaction | None) -> dict[str, Json]:
        if descriptor.access == "send" and descriptor.queue is not None and descriptor.queue.deleted:
            raise MqError(MQ_ERROR_QUEUE_NOT_AVAILABLE)
        return super().send(descriptor, given, transaction)


@_follows("access-enforced=not-delivered", "sending")
class _DropsMisused(Sending):
    """A send whose use of a transaction does not fit its queue succeeds, and the message is not delivered."""

    def send(self, descriptor: Descriptor, given: dict[str, Json], transaction: Transaction | None) -> dict[str, Json]:
        try:
            return super().send(descriptor, given, transaction)
        except MqError as failure:
            if failure.status != MQ_ERROR_TRANSACTION_USAGE:
                raise
            return {}


@_follows("multiple-send-partial=others", "sending")
class _ServesOthers(Sending):
    """When the send to one of several queues fails, the others get their copies all the same."""

    def send(self, descriptor: Descriptor, given: dict[str, Json], transaction: Transaction | None) -> dict[str, Json]:
        if not descriptor.elements:
            return super().send(descriptor, given, transaction)
        elements, failed = descriptor.elements, None
        answer: dict[str, Json] = {}
        for element in elements:
            descriptor.elements = [element]
            try:
                answer = super().send(descriptor, given, transaction)
            except MqError as failure:
                failed = failed or failure
            finally:
                descriptor.elements = elements
        if failed is not None:
            raise failed
        return {"identifier": answer["identifier"]}


@_follows("share-with-peek=local-api", "queues")
class _ExclusiveReaders(Queues):
    """An exclusive reader excludes every other reader, peeks included, and is excluded by every other."""

    def excluded(self, queue: Queue, access: str, share: str) -> bool:
        reading = ("receive", "peek", "receive_admin", "peek_admin")
        others = [each for each in queue.descriptors if each.access in reading]
        if access not in reading or not others:
            return False
        return share == "deny_receive" or any(each.share == "deny_receive" for each in others)
