"""Alternatives of readings about the messages that a transaction, purge, quota or expiry leaves in a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.embedded.alternatives.base import follows
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
    State,
)
from conformance.embedded.packet_delivery import Arrival
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


@follows("purge-uncommitted-send=purged", Queues.purge_position)
def purge_uncommitted_send_purged(plain, self, position):
    """A purge also removes messages that open transactions have sent."""
    if position.uncommitted:
        self.manager.delivery.remove(position)
    else:
        plain(position)


@follows("acknowledge-purged=received", Receiving.end)
def acknowledge_purged_received(plain, self, read, *, acknowledge):
    """A message that its reader took and keeps is reported as received, though its queue was purged meanwhile."""
    if acknowledge and read.position.state is State.PURGE_PENDING:
        read.position.state = State.LOCKED
    plain(read, acknowledge=acknowledge)


@follows("abort-purged-reason=received", Transactions.abort_step)
def abort_purged_reason_received(plain, self, step):
    """A purged message whose receive is aborted is reported as received."""
    if step.operation is Operation.DEQUEUE and step.position.state is State.PURGE_PENDING:
        self.manager.delivery.delete(step.position, Reason.RECEIVED)
    else:
        plain(step)


@follows("delete-locked=fails", Transactions.commit)
def delete_locked_fails(plain, self, transaction):
    """A transaction with a queue that was deleted meanwhile cannot commit; it is aborted."""
    if any(step.position.queue.deleted for step in transaction.steps):
        self.abort(transaction)
        raise MqError(MQ_ERROR_QUEUE_NOT_AVAILABLE)
    plain(transaction)


@follows("target-journal-time=at-receive", Receiving.take)
def target_journal_time_at_receive(plain, self, position, transaction):
    """A receive in a transaction leaves its copy in the journal at once."""
    if transaction is not None:
        self.manager.delivery.journal(position)
    return plain(position, transaction)


@follows("target-journal-time=at-receive", Delivery.__init__)
def target_journal_time_at_receive_init(plain, self, manager):
    """The first receive of a message decides whether it leaves a copy; a later one may, if that left none."""
    plain(manager)
    self._received = {}  # row of a position -> it has left a copy


@follows("target-journal-time=at-receive", Delivery.journal)
def target_journal_time_at_receive_journal(plain, self, position):
    if position.row not in self._received:
        journal = self.journal_of(position.queue) if position.queue.journaling else None
        self._received[position.row] = journal is not None and self.fits(journal, position.message)
        plain(position)


@follows("target-journal-time=at-receive", Delivery.make_available)
def target_journal_time_at_receive_make_available(plain, self, position):
    if not self._received.get(position.row):
        self._received.pop(position.row, None)
    plain(position)


@follows("commit-purged-move=purged", Transactions.commit_step)
def commit_purged_move_purged(plain, self, step):
    """A message purged while a move locks it is deleted at the commit."""
    if step.operation is Operation.MOVE and step.position.state is State.PURGE_PENDING:
        self.manager.delivery.delete(step.position, Reason.PURGED)
    else:
        plain(step)


@follows("R-MQRR-move-status=remote", Transactions.move)
def mqrr_move_status_remote(plain, self, source, lookup, destination, transaction):
    """A move to a handle of another access, or to an unrelated queue, fails as over the remote interface."""
    remote = {MQ_ERROR_ACCESS_DENIED: MQ_ERROR_INVALID_HANDLE, MQ_ERROR_INVALID_PARAMETER: STATUS_INVALID_PARAMETER}
    try:
        plain(source, lookup, destination, transaction)
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


@follows("quota-uncommitted=at-commit", Delivery.fits)
def quota_uncommitted_at_commit(plain, self, queue, message):
    """Messages of open transactions do not count for quotas, and no quota refuses a transactional send or commit."""
    held = [each.message.size for each in queue.positions if each.uncommitted]
    everywhere = sum(
        each.message.size for other in self.manager.queues.all() for each in other.positions if each.uncommitted
    )
    self.manager.message_bytes -= everywhere
    queue.bytes -= sum(held)
    try:
        return plain(queue, message)
    finally:
        queue.bytes += sum(held)
        self.manager.message_bytes += everywhere


@follows("expiry-while-locked=available", Delivery.expire)
def expiry_while_locked_available(plain, self, position):
    """A message that expires while locked is available again when its lock ends, and stays."""
    if position.state is State.LOCKED and not position.uncommitted:
        position.message.expires_ms = None
    else:
        plain(position)


@follows("expiry-start=from-arrival", Arrival.place)
def expiry_start_from_arrival(plain, self, queue, message):
    """The time to be received of a message counts from its arrival in the queue."""
    _live_from(message, self.manager.clock.now_ms())
    plain(queue, message)


@follows("expiry-start=from-arrival", Transactions.commit_step)
def expiry_start_from_arrival_commit_step(plain, self, step):
    """A message sent in a transaction arrives at the commit."""
    position = step.position
    if step.operation is Operation.ENQUEUE and position.queue.kind != "outgoing":
        _live_from(position.message, self.manager.clock.now_ms())
        position.expired = False
        if position.timer is not None:
            position.timer.cancel()
        self.manager.delivery.start_timer(position)
    plain(step)


def _live_from(message: Message, now_ms: int) -> None:
    if message.expires_ms is not None:
        message.expires_ms += now_ms - message.sent_ms


@follows("dead-letter-queue=one-for-all", "delivery")
class OneDeadLetterQueue(Delivery):
    """All messages share one dead-letter queue."""

    def dead_letter(self, message: Message) -> None:
        if message.fields["negative_journaling"]:
            self.copy(self.manager.queues.system("deadletter"), message)


@follows("subqueue-journal=none", Delivery.journal_of)
def subqueue_journal_none(plain, self, queue):
    """A message received from a subqueue leaves no copy."""
    return queue.journal


_NOBODY = Descriptor("", "", "", None)  # the handle of a read that has ended


@follows("receive-end-twice=no-effect", Receiving.end)
def receive_end_twice_no_effect(plain, self, read, *, acknowledge):
    """To end a receive that has ended changes nothing, and fails only if the message is available."""
    if read.descriptor is not _NOBODY:
        plain(read, acknowledge=acknowledge)
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


@follows("lookup-removed-status=already-received", Receiving.seek)
def lookup_removed_status_already_received(plain, self, queue, lookup, action, destructive):
    """The seek itself."""
    delivery = self.manager.delivery
    assert isinstance(delivery, _RemembersGiven)
    if action == "current" and lookup in delivery.given and queue.positions.find(lookup) is None:
        raise MqError(MQ_ERROR_MESSAGE_ALREADY_RECEIVED)
    return plain(queue, lookup, action, destructive)
