"""Faults of transactions: begin, prepare, commit, abort (MS-MQDMPR 3.1.4.3 to .5, 3.1.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from conformance.embedded.delivery import DEFAULTS, Delivery, Sending
from conformance.embedded.entities import (
    CursorState,
    MqError,
    Operation,
    Position,
    Queue,
    Reason,
    State,
    Transaction,
    UndoStep,
)
from conformance.embedded.faults.base import also, fault
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import CursorOutcome, Cursors, Receiving
from conformance.embedded.store import QueueRow, Store
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE, MQ_ERROR_TRANSACTION_SEQUENCE


class Ended(Transaction):
    """Stands for a transaction that has ended, so that what is asked of it can be told from other failures."""


def _refuse(transaction: Transaction | None) -> None:
    if isinstance(transaction, Ended):
        raise MqError(MQ_ERROR_TRANSACTION_SEQUENCE)


class Remembering(Transactions):
    """Knows the transactions that have ended, and refuses them as the text does. A fault makes an exception."""

    def named(self, handle: object) -> Transaction:
        try:
            return super().named(handle)
        except MqError:
            if isinstance(handle, str) and handle in self._begun():
                return Ended(handle, failure=MqError(MQ_ERROR_TRANSACTION_SEQUENCE))
            raise

    def begin(self) -> Transaction:
        transaction = super().begin()
        self._begun().add(transaction.handle)
        return transaction

    def prepare(self, transaction: Transaction) -> None:
        _refuse(transaction)
        super().prepare(transaction)

    def commit(self, transaction: Transaction) -> None:
        _refuse(transaction)
        super().commit(transaction)

    def abort(self, transaction: Transaction) -> None:
        _refuse(transaction)
        super().abort(transaction)

    def _begun(self) -> set[str]:
        begun: set[str] = self.__dict__.setdefault("begun", set())
        return begun


def of_ended(name: str, *breaks: str) -> Callable[[type[Remembering]], type[Remembering]]:
    """Register a fault of one call in a transaction that has ended; the other calls refuse it as ever."""

    def register(made: type[Remembering]) -> type[Remembering]:
        fault(name, "transactions", *breaks)(made)
        for method in (Sending.send, Receiving.receive, Receiving.by_lookup_id):
            also(name, method)(_strict)
        return made

    return register


def _strict(plain, self, *given, **named):
    _refuse(next((each for each in (*given, *named.values()) if isinstance(each, Ended)), None))
    return plain(*given, **named)


@of_ended("prepare-of-ended-succeeds", "MQDMPR-3.1.4.3.unknown", "MQDMPR-3.1.4.3.unknown-code")
class PrepareOfEndedSucceeds(Remembering):
    """Preparing a transaction that has ended succeeds and does nothing."""

    def prepare(self, transaction: Transaction) -> None:
        if not isinstance(transaction, Ended):
            super().prepare(transaction)


@of_ended("prepare-of-ended-wrong-status", "MQDMPR-3.1.4.3.unknown-code")
class PrepareOfEndedWrongStatus(Remembering):
    """Preparing a transaction that has ended fails with MQ_ERROR_INVALID_HANDLE."""

    def prepare(self, transaction: Transaction) -> None:
        if isinstance(transaction, Ended):
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        super().prepare(transaction)


@fault("ends-backwards-for-waiters", Transactions._end, "MQDMPR-3.1.1.14.in-order")
def ends_backwards_for_waiters(plain, self, transaction):
    """The acts of a transaction take effect last to first when it ends while a reader waits, who gets the last."""
    plain(transaction)  # the reads of its own are over: who waits now is somebody else
    queues: list[Queue] = [step.target or step.position.queue for step in transaction.steps]
    if any(queue.waiters for queue in queues):
        transaction.steps.reverse()


@fault("commit-reverses-sends", Transactions.commit, "MQDMPR-3.1.4.4.send-order", "MQDMPR-3.1.1.14.in-order")
def commit_reverses_sends(plain, self, transaction):
    """The messages a transaction sent to a queue stand there in the reverse order."""
    sends = [step.position for step in transaction.steps if step.operation is Operation.ENQUEUE]
    by_queue: dict[str, list[Position]] = {}
    for position in sends:
        by_queue.setdefault(position.queue.id, []).append(position)
    for positions in by_queue.values():
        messages = [position.message for position in reversed(positions)]
        for position, message in zip(positions, messages, strict=True):
            position.message = message
    plain(transaction)


@fault(
    "commit-forgets-second-queue", Transactions.commit, "MQDMPR-3.1.4.4.sends-appear",
    "MQDMPR-3.1.1.14.several-queues", "MQDMPR-3.1.4.4.all-together",
)  # fmt: skip
def commit_forgets_second_queue(plain, self, transaction):
    """Only messages for the first of several queues are there after a transaction's commit."""
    sends = [step for step in transaction.steps if step.operation is Operation.ENQUEUE]
    for step in sends:
        if step.position.queue is not sends[0].position.queue and step.position.state is not State.DELETED:
            self.manager.delivery.remove(step.position)
    plain(transaction)


@fault("abort-keeps-last-send", Transactions.abort, "MQDMPR-3.1.4.5.sends-vanish")
def abort_keeps_last_send(plain, self, transaction):
    """The last message a transaction sent is in its queue although the transaction was aborted."""
    sends = [step for step in transaction.steps if step.operation is Operation.ENQUEUE]
    if sends and sends[-1].position.state is not State.DELETED:
        transaction.steps.remove(sends[-1])
        self.commit_step(sends[-1])
    plain(transaction)


@fault("abort-returns-only-first", Transactions.abort, "MQDMPR-3.1.4.5.receives-return")
def abort_returns_only_first(plain, self, transaction):
    """Only the first of several messages comes back when a transaction that received them aborts."""
    receives = [step for step in transaction.steps if step.operation is Operation.DEQUEUE]
    for step in receives[1:]:
        if step.position.state is State.LOCKED:
            self.manager.delivery.remove(step.position)
    plain(transaction)


@fault("abort-returns-in-front", Transactions.give_back, "MQDMPR-3.1.4.5.receives-return-position")
def abort_returns_in_front(plain, self, position):
    """A message that returns by an abort stands in front of all others."""
    positions = position.queue.positions
    keys = [other.key for other in positions]
    positions.remove(position)
    position.key = min(keys) - 1
    positions.insert(position)
    plain(position)


@fault("abort-wakes-nobody", Transactions.give_back, "MQDMPR-3.1.4.5.wakes-readers")
def abort_wakes_nobody(plain, self, position):
    """A read that waits is not told of a message that an abort makes available again."""
    waiters = list(position.queue.waiters)
    position.queue.waiters.clear()
    plain(position)
    position.queue.waiters.extend(waiters)


@fault("commit-wakes-nobody", Transactions.commit_step, "MQDMPR-3.1.4.4.wakes-readers")
def commit_wakes_nobody(plain, self, step):
    """A read that waits is not told of a message that a commit makes available."""
    waiters = list(step.position.queue.waiters)
    step.position.queue.waiters.clear()
    plain(step)
    step.position.queue.waiters.extend(waiters)


@fault("abort-changes-lookup-id", Transactions.give_back, "MQDMPR-3.1.4.5.receives-return-unchanged")
def abort_changes_lookup_id(plain, self, position):
    """A message that returns by an abort has another lookup identifier than before."""
    positions = position.queue.positions
    positions.remove(position)
    position.lookup = positions.lookup_identifier(position.message, self.manager.next_sequence())
    positions.insert(position)
    plain(position)


@fault(
    "commit-leaves-locks", Transactions.commit_step, "MQDMPR-3.1.4.4.receives-gone",
    first_seen_as=("MQDMPR-3.1.7.2.1.total-bytes",), because="what stays locked is seen by nobody; only its bytes are",
)  # fmt: skip
def commit_leaves_locks(plain, self, step):
    """The messages a committed transaction received stay in their queue, locked for ever."""
    if step.operation is not Operation.DEQUEUE:
        plain(step)


@fault("purge-breaks-commit", Transactions.commit, "MQDMPR-3.1.7.1.7.locked-commit", "MQDMPR-3.1.4.4.success")
def purge_breaks_commit(plain, self, transaction):
    """A transaction cannot be committed when a queue it received from was purged meanwhile: it is aborted."""
    if any(step.position.state is State.PURGE_PENDING for step in transaction.steps):
        self.abort(transaction)
        raise MqError(MQ_ERROR_TRANSACTION_SEQUENCE)
    plain(transaction)


@fault(
    "abort-revives-purged", Transactions.abort_step, "MQDMPR-3.1.4.5.purged-receive", "MQDMPR-3.1.4.5.purged-deleted"
)
def abort_revives_purged(plain, self, step):
    """A message that was purged while a transaction held it is back after the abort."""
    if step.position.state is State.PURGE_PENDING and step.operation is Operation.DEQUEUE:
        step.position.state = State.LOCKED
    plain(step)


@fault(
    "transaction-usage-unchecked", "sending", "MQDMPR-3.1.7.1.9.transactional-queue",
    "MQDMPR-3.1.7.1.9.nontransactional-queue",
)  # fmt: skip
class TransactionUsageUnchecked(Sending):
    """A queue takes transactional and other messages alike."""

    @staticmethod
    def _check_usage(queue: Queue, transaction: Transaction | None) -> None:
        return


@fault("abort-commits-last-receive", Transactions.abort, "MQDMPR-3.1.4.5.receives-return")
def abort_commits_last_receive(plain, self, transaction):
    """An abort takes the last of several received messages for received."""
    held = [step for step in transaction.steps if step.operation is Operation.DEQUEUE]
    if len(held) > 1 and held[-1].position.state is State.LOCKED:
        transaction.steps.remove(held[-1])
        self.manager.delivery.delete(held[-1].position, Reason.RECEIVED)
    plain(transaction)


@fault(
    "recoverable-lost-on-restart", Delivery.keep, "MQDMPR-3.1.1.12.recoverable-survives",
    "MQMQ-2.2.19.2.recoverable-recovered",
)  # fmt: skip
def recoverable_lost_on_restart(plain, self, position):
    """A recoverable message sent outside a transaction is kept in memory only."""
    if position.message.transactional:
        plain(position)


@fault(
    "purge-forgets-locked", Queues.purge_position, "MQDMPR-3.1.7.1.7.purge-pending-state",
    "MQDMPR-3.1.4.5.purged-receive", "MQDMPR-3.1.7.1.12.purged",
)  # fmt: skip
def purge_forgets_locked(plain, self, position):
    """A purge passes over a message that a transaction or a begun receive holds: their end brings it back."""
    if position.state is not State.LOCKED:
        plain(position)


@fault(
    "transaction-outlives-abort", Transactions.abort, "MQDMPR-3.1.4.5.transaction-ends", "MQDMPR-3.1.4.4.unknown",
    "MQDMPR-3.1.4.5.unknown", "MQDMPR-3.1.4.3.unknown",
)  # fmt: skip
def transaction_outlives_abort(plain, self, transaction):
    """An aborted transaction can be used again, as if it had just begun."""
    plain(transaction)
    transaction.steps.clear()
    self.manager.open_transactions[transaction.handle] = transaction


@fault("transactions-share-an-identifier", Transactions.begin, "MQDMPR-3.1.1.14.identifier-unique")
def transactions_share_an_identifier(plain, self):
    """A transaction that begins while another is open has the other's identifier."""
    present = self.manager.open_transactions
    return next(iter(present.values())) if present else plain()


@fault("loses-message-on-abort", Transactions.give_back, "MQDMPR-3.1.4.5.receives-return")
def loses_message_on_abort(plain, self, position):
    """A message received in a transaction that aborts is gone."""
    self.manager.delivery.remove(position)


@fault(
    "abort-requeues-at-end", Transactions.give_back, "MQDMPR-3.1.4.5.receives-return-position",
    "MQDMPR-3.1.4.5.receives-return-unchanged",
)  # fmt: skip
def abort_requeues_at_end(plain, self, position):
    """A message received in a transaction that aborts comes back behind the others, as if it had just arrived."""
    self.manager.delivery.remove(position)
    self.manager.delivery.place(position.queue, position.message, limited=False)


@fault("commit-loses-last-send", Transactions.commit, "MQDMPR-3.1.4.4.sends-appear")
def commit_loses_last_send(plain, self, transaction):
    """The last message a transaction sent is not there after the commit."""
    sends = [step for step in transaction.steps if step.operation is Operation.ENQUEUE]
    if sends:
        transaction.steps.remove(sends[-1])
        if sends[-1].position.state is not State.DELETED:
            self.manager.delivery.remove(sends[-1].position)
    plain(transaction)


@fault("uncommitted-send-visible", Delivery.place, "MQDMPR-3.1.7.1.9.uncommitted-locked")
def uncommitted_send_visible(plain, self, queue, message, *, uncommitted=False, limited=True):
    """A message sent in an open transaction can be read before the commit."""
    position = plain(queue, message, uncommitted=uncommitted, limited=limited)
    if uncommitted:
        self.make_available(position)
    return position


@fault("commit-returns-receives", Transactions.commit, "MQDMPR-3.1.4.4.receives-gone")
def commit_returns_receives(plain, self, transaction):
    """The messages a transaction received are back in their queue after its commit."""
    kept = [step for step in transaction.steps if step.operation is Operation.DEQUEUE]
    transaction.steps = [step for step in transaction.steps if step.operation is not Operation.DEQUEUE]
    plain(transaction)
    for step in kept:
        if step.position.state is not State.DELETED:
            self.abort_step(step)


_OF_TRANSACTIONS: Final = ("priority", "delivery")


@fault(
    "prepare-publishes-sends", Transactions.prepare, "MQDMPR-3.1.4.3.changes-nothing-visible",
    "MQDMPR-3.1.7.1.9.uncommitted-locked",
)  # fmt: skip
def prepare_publishes_sends(plain, self, transaction):
    """The messages of a transaction can be read as soon as it is prepared."""
    plain(transaction)
    for step in transaction.steps:
        if step.operation is Operation.ENQUEUE and step.position.uncommitted:
            step.position.uncommitted = False
            self.manager.delivery.keep(step.position)
            self.manager.delivery.make_available(step.position)


@fault("prepare-ends-transaction", "transactions", "MQDMPR-3.1.4.4.success", "MQDMPR-3.1.4.5.success")
class PrepareEndsTransaction(Transactions):
    """A transaction that was prepared is not known any more, so that it can neither be committed nor aborted."""

    committing = False

    def prepare(self, transaction: Transaction) -> None:
        super().prepare(transaction)
        if not self.committing:
            del self.manager.open_transactions[transaction.handle]

    def commit(self, transaction: Transaction) -> None:
        self.committing = True
        super().commit(transaction)
        self.committing = False


@fault(
    "ended-transaction-accepted", Transactions.named, "MQDMPR-3.1.4.4.unknown", "MQDMPR-3.1.4.5.unknown",
    "MQDMPR-3.1.4.4.transaction-ends", "MQDMPR-3.1.4.5.transaction-ends", "MQDMPR-3.1.4.3.unknown",
)  # fmt: skip
def ended_transaction_accepted(plain, self, handle):
    """A transaction that has ended can be ended, and used, again."""
    try:
        return plain(handle)
    except MqError:
        if not isinstance(handle, str) or not handle.startswith("t"):
            raise
        again = Transaction(handle)
        self.manager.open_transactions[handle] = again
        return again


@fault(
    "ended-transaction-wrong-status", Transactions.named, "MQDMPR-3.1.4.4.unknown-code", "MQDMPR-3.1.4.5.unknown-code",
    first_seen_as=("MQDMPR-3.1.4.3.unknown-code",),
    because="a prepare of the transaction is tried before its second end, and answers alike",
)  # fmt: skip
def ended_transaction_wrong_status(plain, self, handle):
    """Ending a transaction that has ended fails with MQ_ERROR_INVALID_HANDLE."""
    try:
        return plain(handle)
    except MqError:
        raise MqError(MQ_ERROR_INVALID_HANDLE) from None


@fault(
    "transaction-outlives-commit", Transactions.commit, "MQDMPR-3.1.4.4.transaction-ends", "MQDMPR-3.1.4.4.unknown",
    "MQDMPR-3.1.4.5.unknown", "MQDMPR-3.1.4.3.unknown",
)  # fmt: skip
def transaction_outlives_commit(plain, self, transaction):
    """A committed transaction can be used again, as if it had just begun."""
    plain(transaction)
    transaction.steps.clear()
    self.manager.open_transactions[transaction.handle] = transaction


@fault(
    "every-message-first-in-transaction", Transactions.prepare, "MQDMPR-3.1.4.3.first-in-transaction",
    "MQDMPR-3.1.1.12.first-in-transaction",
)  # fmt: skip
def every_message_first_in_transaction(plain, self, transaction):
    """Every message of a transaction is marked as its first."""
    plain(transaction)
    for step in transaction.steps:
        if step.operation is Operation.ENQUEUE:
            step.position.message.fields["first_in_transaction"] = True


@fault(
    "no-message-last-in-transaction", Transactions.prepare, "MQDMPR-3.1.4.3.last-in-transaction",
    "MQDMPR-3.1.1.12.last-in-transaction",
)  # fmt: skip
def no_message_last_in_transaction(plain, self, transaction):
    """No message of a transaction is marked as its last."""
    plain(transaction)
    for step in transaction.steps:
        step.position.message.fields["last_in_transaction"] = False


@fault(
    "transaction-leaves-no-mark", Transactions.prepare, "MQDMPR-3.1.4.3.first-in-transaction",
    "MQDMPR-3.1.4.3.last-in-transaction", "MQMQ-2.2.19.2.transactional-recoverable",
    "MQMQ-2.2.19.1.transactional-priority-zero",
)  # fmt: skip
def transaction_leaves_no_mark(plain, self, transaction):
    """A message sent in a transaction has its own priority and delivery, and is marked neither as first nor as last."""
    plain(transaction)
    for step in transaction.steps:
        if step.operation is Operation.ENQUEUE:
            step.position.message.fields.update(first_in_transaction=False, last_in_transaction=False)


@also("transaction-leaves-no-mark", Sending.make)
def transaction_leaves_no_mark_make(plain, self, given, *, transactional):
    message = plain(given, transactional=transactional)
    message.fields.update({name: {**DEFAULTS, **given}[name] for name in _OF_TRANSACTIONS})
    return message


@fault(
    "receive-returns-second-message", Receiving.first, "MQDMPR-3.1.7.1.10.first-available",
    first_seen_as=("MQMQ-2.2.19.1.higher-priority-nearer-front",),
    because="the second message of a queue may be of lower priority, and then its place looks wrong",
)  # fmt: skip
def receive_returns_second_message(plain, self, queue, destructive):
    """A receive without cursor takes the second available message when there is one: the seek that skips the head."""
    found = plain(queue, destructive)
    behind = queue.positions.after(found.key) if found is not None and destructive else None
    return behind or found


@fault(
    "uncommitted-receive-visible", Receiving.take, "MQDMPR-3.1.7.1.10.transaction-locks",
    "MQDMPR-3.1.7.1.10.skips-locked", "MQDMPR-3.1.7.1.15.skips-locked",
)  # fmt: skip
def uncommitted_receive_visible(plain, self, position, transaction):
    """A message received in an open transaction stays available to every reader."""
    if transaction is None:
        return plain(position, transaction)
    transaction.steps.append(UndoStep(Operation.DEQUEUE, position))
    return self.show(position)


@fault(
    "peek-next-shows-locked", Cursors.get_next_for_peek, "MQDMPR-3.2.7.3.skips-unavailable",
    "MQDMPR-3.1.7.1.14.next-available", "MQDMPR-3.1.7.1.10.transaction-locks",
)  # fmt: skip
def peek_next_shows_locked(plain, self, cursor):
    """A peek-next shows a message that a transaction has received."""
    queue = cursor.descriptor.queue
    if cursor.state is CursorState.READ and queue is not None:
        hidden = [each for each in queue.positions if each.key > cursor.key and each.state is State.LOCKED]
        usual = self.seek(cursor)
        if hidden and not hidden[0].uncommitted and (usual is None or hidden[0].key < usual.key):
            self.stand_at(cursor, hidden[0])
            return CursorOutcome.SUCCEEDED, hidden[0]
    return plain(cursor)


@fault(
    "unfinished-committed-at-start", Delivery.place, "MQDMPR-3.1.3.unfinished-transaction-aborted",
    "MQDMPR-3.1.3.uncommitted-send-lost", "MQDMPR-3.1.1.11.uncommitted-receive-not-lost",
)  # fmt: skip
def unfinished_committed_at_start(plain, self, queue, message, *, uncommitted=False, limited=True):
    """A transaction that has not ended when the manager stops is committed at the next start."""
    position = plain(queue, message, uncommitted=uncommitted, limited=limited)
    if uncommitted:
        self.keep(position)
    return position


@also("unfinished-committed-at-start", Delivery.remove)
def unfinished_committed_at_start_remove(plain, self, position):
    plain(position)
    if position.uncommitted:
        self.manager.store.drop_message(position.row)


@also("unfinished-committed-at-start", Receiving.take)
def unfinished_committed_at_start_take(plain, self, position, transaction):
    if transaction is not None:
        self.manager.store.drop_message(position.row)
    return plain(position, transaction)


def _plain(row: QueueRow) -> dict[str, object]:
    known = "PROPID_Q_TRANSACTION" in row.properties
    return {**row.properties, "PROPID_Q_TRANSACTION": 0} if known else row.properties


@fault(
    "restarted-queue-is-plain", Store.queues, "MQDMPR-3.1.1.persistent-survives",
    "MQDMPR-3.1.1.2.private-attributes-persistent",
)  # fmt: skip
def restarted_queue_is_plain(plain, self):
    """After a start no queue is transactional."""
    return [replace(row, properties=_plain(row)) for row in plain()]


@fault(
    "returns-with-another-sent-time", Transactions.give_back, "MQDMPR-3.1.4.5.receives-return-unchanged",
    "MQDMPR-3.1.1.12.sent-time",
)  # fmt: skip
def returns_with_another_sent_time(plain, self, position):
    """A message that an aborted receive gives back has the time of the abort as its sent time."""
    fields = position.message.fields
    position.message.fields = {**fields, "sent_time": fields["sent_time"] + 1}
    plain(position)
