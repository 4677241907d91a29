"""Alternatives of readings about the messages that a transaction, purge, quota or expiry leaves in a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.embedded.alternatives.base import follows
from conformance.embedded.arrival import Arrival
from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import (
    Descriptor,
    Message,
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
)
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
    MQ_ERROR_QUEUE_NOT_AVAILABLE,
    MQ_ERROR_TRANSACTION_SEQUENCE,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

STATUS_INVALID_PARAMETER = 0xC000000D


@follows("purge-uncommitted-send=purged", "queues")
class _PurgesSends(Queues):
    """A purge also removes messages that open transactions have sent."""

    def purge_position(self, position: Position) -> None:
        if position.uncommitted:
            self.manager.delivery.remove(position)
        else:
            super().purge_position(position)


@follows("acknowledge-purged=received", "reading")
class _EndsAsReceived(Receiving):
    """A message that its reader took and keeps is reported as received, though its queue was purged meanwhile."""

    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        if acknowledge and read.position.state is State.PURGE_PENDING:
            read.position.state = State.LOCKED
        super().end(read, acknowledge=acknowledge)


@follows("abort-purged-reason=received", "transactions")
class _AbortsAsReceived(Transactions):
    """A purged message whose receive is aborted is reported as received."""

    def abort_step(self, step: UndoStep) -> None:
        if step.operation is Operation.DEQUEUE and step.position.state is State.PURGE_PENDING:
            self.manager.delivery.delete(step.position, Reason.RECEIVED)
        else:
            super().abort_step(step)


@follows("delete-locked=fails", "transactions")
class _FailsWithoutQueue(Transactions):
    """A transaction with a queue that was deleted meanwhile cannot commit; it is aborted."""

    def commit(self, transaction: Transaction) -> None:
        if any(step.position.queue.deleted for step in transaction.steps):
            self.abort(transaction)
            raise MqError(MQ_ERROR_QUEUE_NOT_AVAILABLE)
        super().commit(transaction)


@follows("target-journal-time=at-receive", "reading")
class _JournalsAtReceive(Receiving):
    """A receive in a transaction leaves its copy in the journal at once."""

    def take(self, position: Position, transaction: Transaction | None) -> Result:
        if transaction is not None:
            self.manager.delivery.journal(position)
        return super().take(position, transaction)


@follows("target-journal-time=at-receive", "delivery")
class _CopiesOnce(Delivery):
    """The first receive of a message decides whether it leaves a copy; a later one may, if that left none."""

    def __init__(self, manager: Manager) -> None:
        super().__init__(manager)
        self._received: dict[int, bool] = {}  # row of a position -> it has left a copy

    def journal(self, position: Position) -> None:
        if position.row not in self._received:
            journal = self.journal_of(position.queue) if position.queue.journaling else None
            self._received[position.row] = journal is not None and self.fits(journal, position.message)
            super().journal(position)

    def make_available(self, position: Position) -> None:
        if not self._received.get(position.row):
            self._received.pop(position.row, None)
        super().make_available(position)


@follows("commit-purged-move=purged", "transactions")
class _PurgedMove(Transactions):
    """A message purged while a move locks it is deleted at the commit."""

    def commit_step(self, step: UndoStep) -> None:
        if step.operation is Operation.MOVE and step.position.state is State.PURGE_PENDING:
            self.manager.delivery.delete(step.position, Reason.PURGED)
        else:
            super().commit_step(step)


@follows("R-MQRR-move-status=remote", "transactions")
class _RemoteMove(Transactions):
    """A move to a handle of another access, or to an unrelated queue, fails as over the remote interface."""

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


@follows("moved-lookup-identifier=kept-by-arrival", "transactions")
class _MovedByArrival(_KeepingMove):
    """A moved message keeps its identifier and takes the place of its first arrival."""


@follows("moved-lookup-identifier=kept-at-end", "transactions")
class _MovedAtEnd(_KeepingMove):
    """A moved message keeps its identifier and goes behind the others of its priority."""

    def place_of(self, position: Position, moved: Position) -> int:
        return moved.key


@follows("quota-uncommitted=at-commit", "delivery")
class _RoomAtCommit(Delivery):
    """Messages of open transactions do not count for quotas, and no quota refuses a transactional send or commit."""

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


@follows("expiry-while-locked=available", "delivery")
class _LocksKeep(Delivery):
    """A message that expires while locked is available again when its lock ends, and stays."""

    def expire(self, position: Position) -> None:
        if position.state is State.LOCKED and not position.uncommitted:
            position.message.expires_ms = None
        else:
            super().expire(position)


@follows("expiry-start=from-arrival", "arrival")
class _LivesFromArrival(Arrival):
    """The time to be received of a message counts from its arrival in the queue."""

    def place(self, queue: Queue, message: Message) -> None:
        _live_from(message, self.manager.clock.now_ms())
        super().place(queue, message)


@follows("expiry-start=from-arrival", "transactions")
class _LivesFromCommit(Transactions):
    """A message sent in a transaction arrives at the commit."""

    def commit_step(self, step: UndoStep) -> None:
        position = step.position
        if step.operation is Operation.ENQUEUE and position.queue.kind != "outgoing":
            _live_from(position.message, self.manager.clock.now_ms())
            position.expired = False
            if position.timer is not None:
                position.timer.cancel()
            self.manager.delivery.start_timer(position)
        super().commit_step(step)


def _live_from(message: Message, now_ms: int) -> None:
    if message.expires_ms is not None:
        message.expires_ms += now_ms - message.sent_ms


@follows("dead-letter-queue=one-for-all", "delivery")
class OneDeadLetterQueue(Delivery):
    """All messages share one dead-letter queue."""

    def dead_letter(self, message: Message) -> None:
        if message.fields["negative_journaling"]:
            self.copy(self.manager.queues.system("deadletter"), message)


@follows("subqueue-journal=none", "delivery")
class _NoJournalOfSubqueues(Delivery):
    """A message received from a subqueue leaves no copy."""

    def journal_of(self, queue: Queue) -> Queue | None:
        return queue.journal


_NOBODY = Descriptor("", "", "", None)  # the handle of a read that has ended


@follows("receive-end-twice=no-effect", "reading")
class _EndsAgain(Receiving):
    """To end a receive that has ended changes nothing, and fails only if the message is available."""

    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        if read.descriptor is not _NOBODY:
            super().end(read, acknowledge=acknowledge)
            self.manager.open_reads[read.handle] = OpenRead(read.handle, _NOBODY, read.position)
        elif read.position.queue.deleted:
            raise MqError(MQ_ERROR_QUEUE_NOT_AVAILABLE)
        elif read.position.state is State.AVAILABLE:
            raise MqError(MQ_ERROR_TRANSACTION_SEQUENCE)


@follows("lookup-removed-status=already-received", "delivery")
class _RemembersGiven(Delivery):
    """A seek for a message that is not there any more says so: every identifier given is remembered."""

    def __init__(self, manager: Manager) -> None:
        super().__init__(manager)
        self.given: set[int] = set()

    def start_timer(self, position: Position) -> None:
        self.given.add(position.lookup)
        super().start_timer(position)

    def remove(self, position: Position) -> None:
        if position.uncommitted:
            self.given.discard(position.lookup)
        super().remove(position)


@follows("lookup-removed-status=already-received", "reading")
class _AlreadyReceived(Receiving):
    """The seek itself."""

    def seek(self, queue: Queue, lookup: int, action: str, destructive: bool) -> Position:
        delivery = self.manager.delivery
        assert isinstance(delivery, _RemembersGiven)
        if action == "current" and lookup in delivery.given and queue.positions.find(lookup) is None:
            raise MqError(MQ_ERROR_MESSAGE_ALREADY_RECEIVED)
        return super().seek(queue, lookup, action, destructive)
