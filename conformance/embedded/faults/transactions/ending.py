"""Faults of the end of a transaction: prepare, commit, abort, and the state afterwards."""

from __future__ import annotations

from conformance.embedded.entities import MqError, Operation, Position, Queue, Reason, State, Transaction
from conformance.embedded.faults.base import fault
from conformance.embedded.sending import Sending
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import MQ_ERROR_TRANSACTION_SEQUENCE


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
    """Of what a transaction sent to several queues, only the messages for the first are there after the commit."""
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
    """Of several messages received in a transaction that aborts, only the first comes back."""
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
