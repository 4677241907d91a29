"""Faults of the end of a transaction: prepare, commit, abort, and what is left of it afterwards."""

from __future__ import annotations

from conformance.embedded.entities import MqError, Operation, Position, Queue, Reason, State, Step, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import BYTES, DISORDER, LOST, SURPLUS, WAKING, dmpr
from conformance.embedded.sending import Sending
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import MQ_ERROR_TRANSACTION_SEQUENCE


class _ReversingCommit(Transactions):
    def commit(self, transaction: Transaction) -> None:
        sends = [step.position for step in transaction.steps if step.operation is Operation.ENQUEUE]
        by_queue: dict[str, list[Position]] = {}
        for position in sends:
            by_queue.setdefault(position.queue.id, []).append(position)
        for positions in by_queue.values():
            messages = [position.message for position in reversed(positions)]
            for position, message in zip(positions, messages, strict=True):
                position.message = message
        super().commit(transaction)


class CommitReversesSends(Fault):
    """The messages a transaction sent to a queue stand there in the reverse order."""

    name = "commit-reverses-sends"
    suite = "transactions"
    breaks = (
        *dmpr(
            "3.1.4.4.send-order",
            "3.1.1.14.in-order",
            "3.1.7.1.13.gives-message",
            "3.1.7.1.13.takes-position",
            "3.1.4.3.first-in-transaction",
            "3.1.4.3.last-in-transaction",
        ),
        *DISORDER,
    )
    replaces = ("transactions", _ReversingCommit)


class _ShortSighted(Transactions):
    def commit(self, transaction: Transaction) -> None:
        sends = [step for step in transaction.steps if step.operation is Operation.ENQUEUE]
        for step in sends:
            if step.position.queue is not sends[0].position.queue and step.position.state is not State.DELETED:
                self.manager.delivery.remove(step.position)
        super().commit(transaction)


class CommitForgetsSecondQueue(Fault):
    """Of what a transaction sent to several queues, only the messages for the first are there after the commit."""

    name = "commit-forgets-second-queue"
    suite = "transactions"
    breaks = (
        *dmpr(
            "3.1.4.4.sends-appear",
            "3.1.4.4.all-together",
            "3.1.4.4.wakes-readers",
            "3.1.1.14.several-queues",
            "3.1.7.1.27.copy-enqueued",
        ),
        *LOST,
    )
    replaces = ("transactions", _ShortSighted)


class _KeepingAbort(Transactions):
    def abort(self, transaction: Transaction) -> None:
        sends = [step for step in transaction.steps if step.operation is Operation.ENQUEUE]
        if sends and sends[-1].position.state is not State.DELETED:
            transaction.steps.remove(sends[-1])
            self.commit_step(sends[-1])
        super().abort(transaction)


class AbortKeepsLastSend(Fault):
    """The last message a transaction sent is in its queue although the transaction was aborted."""

    name = "abort-keeps-last-send"
    suite = "transactions"
    breaks = (*dmpr("3.1.4.5.sends-vanish", "3.1.1.11.uncommitted-send-invisible"), *SURPLUS, *WAKING)
    replaces = ("transactions", _KeepingAbort)


class _SparingAbort(Transactions):
    def abort(self, transaction: Transaction) -> None:
        receives = [step for step in transaction.steps if step.operation is Operation.DEQUEUE]
        for step in receives[1:]:
            if step.position.state is State.LOCKED:
                self.manager.delivery.remove(step.position)
        super().abort(transaction)


class AbortReturnsOnlyFirst(Fault):
    """Of several messages received in a transaction that aborts, only the first comes back."""

    name = "abort-returns-only-first"
    suite = "transactions"
    breaks = (*dmpr("3.1.4.5.receives-return", "3.1.4.5.wakes-readers", "3.1.1.14.several-queues"), *LOST)
    replaces = ("transactions", _SparingAbort)


class _FrontingAbort(Transactions):
    def give_back(self, position: Position) -> None:
        positions = position.queue.positions
        keys = [other.key for other in positions]
        positions.remove(position)
        position.key = min(keys) - 1
        positions.insert(position)
        super().give_back(position)


class AbortReturnsInFront(Fault):
    """A message that returns by an abort stands in front of all others."""

    name = "abort-returns-in-front"
    suite = "transactions"
    breaks = (*dmpr("3.1.4.5.receives-return-position", "3.1.4.5.receives-return"), *DISORDER)
    replaces = ("transactions", _FrontingAbort)


class _QuietAbort(Transactions):
    def give_back(self, position: Position) -> None:
        waiters = list(position.queue.waiters)
        position.queue.waiters.clear()
        super().give_back(position)
        position.queue.waiters.extend(waiters)


class AbortWakesNobody(Fault):
    """A read that waits is not told of a message that an abort makes available again."""

    name = "abort-wakes-nobody"
    suite = "transactions"
    breaks = (*dmpr("3.1.4.5.wakes-readers"), *WAKING)
    replaces = ("transactions", _QuietAbort)


class _QuietCommit(Transactions):
    def commit_step(self, step: Step) -> None:
        waiters = list(step.position.queue.waiters)
        step.position.queue.waiters.clear()
        super().commit_step(step)
        step.position.queue.waiters.extend(waiters)


class CommitWakesNobody(Fault):
    """A read that waits is not told of a message that a commit makes available."""

    name = "commit-wakes-nobody"
    suite = "transactions"
    breaks = (*dmpr("3.1.4.4.wakes-readers", "3.1.4.4.move"), *WAKING)
    replaces = ("transactions", _QuietCommit)


class _RenumberingAbort(Transactions):
    def give_back(self, position: Position) -> None:
        positions = position.queue.positions
        positions.remove(position)
        position.lookup = positions.lookup_identifier(position.message, self.manager.next_sequence())
        positions.insert(position)
        super().give_back(position)


class AbortChangesLookupId(Fault):
    """A message that returns by an abort has another lookup identifier than before."""

    name = "abort-changes-lookup-id"
    suite = "transactions"
    breaks = (
        *dmpr("3.1.4.5.receives-return-unchanged", "3.1.4.5.receives-return", "3.1.1.12.lookup-identifier-order"),
        *DISORDER,
    )
    replaces = ("transactions", _RenumberingAbort)


class _LeakingCommit(Transactions):
    def commit_step(self, step: Step) -> None:
        if step.operation is not Operation.DEQUEUE:
            super().commit_step(step)


class CommitLeavesLocks(Fault):
    """The messages a committed transaction received stay in their queue, locked for ever."""

    name = "commit-leaves-locks"
    suite = "transactions"
    breaks = (
        *dmpr(
            "3.1.4.4.receives-gone",
            "3.1.4.4.all-together",
            "3.1.7.1.10.operation-reason",
            "3.1.7.1.10.transaction-records",
            "3.1.7.3.3.message-not-found",
            "3.1.7.3.3.message-not-found-code",
            "3.1.7.3.3.neighbour-not-found",
            "3.1.7.3.3.seek-current",
            "3.1.7.3.3.locked",
            "3.1.1.11.state-deleted",
            "3.1.7.2.1.state-deleted",
            "3.1.7.2.1.removed",
            "3.1.7.1.12.not-begun",
        ),
        *BYTES,
    )
    replaces = ("transactions", _LeakingCommit)


class _BrokenByPurge(Transactions):
    def commit(self, transaction: Transaction) -> None:
        if any(step.position.state is State.PURGE_PENDING for step in transaction.steps):
            self.abort(transaction)
            raise MqError(MQ_ERROR_TRANSACTION_SEQUENCE)
        super().commit(transaction)


class PurgeBreaksCommit(Fault):
    """A transaction cannot be committed when a queue it received from was purged meanwhile: it is aborted."""

    name = "purge-breaks-commit"
    suite = "transactions"
    breaks = (*dmpr("3.1.7.1.7.locked-commit", "3.1.4.4.purged-receive", "3.1.4.4.success"), *LOST)
    replaces = ("transactions", _BrokenByPurge)


class _Deaf(Transactions):
    def abort_step(self, step: Step) -> None:
        if step.position.state is State.PURGE_PENDING and step.operation is Operation.DEQUEUE:
            step.position.state = State.LOCKED
        super().abort_step(step)


class AbortRevivesPurged(Fault):
    """A message that was purged while a transaction held it is back after the abort."""

    name = "abort-revives-purged"
    suite = "transactions"
    breaks = (
        *dmpr(
            "3.1.4.5.purged-receive",
            "3.1.4.5.purged-deleted",
            "3.1.4.5.unpurged-return",
            "3.1.7.1.7.locked-purge-pending",
            "3.1.1.11.state-purge-pending",
        ),
        *SURPLUS,
    )
    replaces = ("transactions", _Deaf)


class _AnyUsage(Sending):
    @staticmethod
    def _check_usage(queue: Queue, transaction: Transaction | None) -> None:
        return


class TransactionUsageUnchecked(Fault):
    """A queue takes transactional and other messages alike."""

    name = "transaction-usage-unchecked"
    suite = "transactions"
    breaks = (
        *dmpr(
            "3.1.7.1.9.transactional-queue",
            "3.1.7.1.9.nontransactional-queue",
            "3.1.1.2.transactional",
            "3.1.1.2.transactional-off",
        ),
        *SURPLUS,
    )
    replaces = ("sending", _AnyUsage)


class _Unordered(Transactions):
    def abort(self, transaction: Transaction) -> None:
        held = [step for step in transaction.steps if step.operation is Operation.DEQUEUE]
        if len(held) > 1 and held[-1].position.state is State.LOCKED:
            transaction.steps.remove(held[-1])
            self.manager.delivery.delete(held[-1].position, Reason.RECEIVED)
        super().abort(transaction)


class AbortCommitsLastReceive(Fault):
    """An abort takes the last of several received messages for received."""

    name = "abort-commits-last-receive"
    suite = "transactions"
    breaks = (*dmpr("3.1.4.5.receives-return", "3.1.4.5.wakes-readers", "3.1.1.14.several-queues"), *LOST)
    replaces = ("transactions", _Unordered)


TRANSACTION_FAULTS: tuple[type[Fault], ...] = (
    CommitReversesSends,
    CommitForgetsSecondQueue,
    AbortKeepsLastSend,
    AbortReturnsOnlyFirst,
    AbortReturnsInFront,
    AbortWakesNobody,
    CommitWakesNobody,
    AbortChangesLookupId,
    CommitLeavesLocks,
    PurgeBreaksCommit,
    AbortRevivesPurged,
    TransactionUsageUnchecked,
    AbortCommitsLastReceive,
)
