"""Faults of the end of a transaction: prepare, commit, abort, and the state afterwards."""

from __future__ import annotations

from conformance.embedded.entities import MqError, Operation, Position, Queue, Reason, State, Transaction, UndoStep
from conformance.embedded.faults.base import Fault
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
    breaks = (
        "MQDMPR-3.1.4.4.send-order",
        "MQDMPR-3.1.1.14.in-order",
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
    breaks = (
        "MQDMPR-3.1.4.4.sends-appear",
        "MQDMPR-3.1.1.14.several-queues",
        "MQDMPR-3.1.4.4.all-together",
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
    breaks = ("MQDMPR-3.1.4.5.sends-vanish",)
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
    breaks = ("MQDMPR-3.1.4.5.receives-return",)
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
    breaks = ("MQDMPR-3.1.4.5.receives-return-position",)
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
    breaks = ("MQDMPR-3.1.4.5.wakes-readers",)
    replaces = ("transactions", _QuietAbort)


class _QuietCommit(Transactions):
    def commit_step(self, step: UndoStep) -> None:
        waiters = list(step.position.queue.waiters)
        step.position.queue.waiters.clear()
        super().commit_step(step)
        step.position.queue.waiters.extend(waiters)


class CommitWakesNobody(Fault):
    """A read that waits is not told of a message that a commit makes available."""

    name = "commit-wakes-nobody"
    breaks = ("MQDMPR-3.1.4.4.wakes-readers",)
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
    breaks = ("MQDMPR-3.1.4.5.receives-return-unchanged",)
    replaces = ("transactions", _RenumberingAbort)


class _LeakingCommit(Transactions):
    def commit_step(self, step: UndoStep) -> None:
        if step.operation is not Operation.DEQUEUE:
            super().commit_step(step)


class CommitLeavesLocks(Fault):
    """The messages a committed transaction received stay in their queue, locked for ever."""

    name = "commit-leaves-locks"
    breaks = ("MQDMPR-3.1.4.4.receives-gone",)
    first_seen_as = ("MQDMPR-3.1.7.2.1.total-bytes",)
    because = "what stays locked is seen by nobody; only its bytes are"
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
    breaks = (
        "MQDMPR-3.1.7.1.7.locked-commit",
        "MQDMPR-3.1.4.4.success",
    )
    replaces = ("transactions", _BrokenByPurge)


class _Deaf(Transactions):
    def abort_step(self, step: UndoStep) -> None:
        if step.position.state is State.PURGE_PENDING and step.operation is Operation.DEQUEUE:
            step.position.state = State.LOCKED
        super().abort_step(step)


class AbortRevivesPurged(Fault):
    """A message that was purged while a transaction held it is back after the abort."""

    name = "abort-revives-purged"
    breaks = (
        "MQDMPR-3.1.4.5.purged-receive",
        "MQDMPR-3.1.4.5.purged-deleted",
    )
    replaces = ("transactions", _Deaf)


class _AnyUsage(Sending):
    @staticmethod
    def _check_usage(queue: Queue, transaction: Transaction | None) -> None:
        return


class TransactionUsageUnchecked(Fault):
    """A queue takes transactional and other messages alike."""

    name = "transaction-usage-unchecked"
    breaks = (
        "MQDMPR-3.1.7.1.9.transactional-queue",
        "MQDMPR-3.1.7.1.9.nontransactional-queue",
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
    breaks = ("MQDMPR-3.1.4.5.receives-return",)
    replaces = ("transactions", _Unordered)
