"""Faults that only concurrency shows: a lock with a hole, through which another request sees a call half done.

`manager.elsewhere()` is the hole: it performs the requests that have arrived meanwhile. Without such requests these
faults do nothing wrong. Some check afterwards which request won, so that they show one race and not a crash.
"""

from __future__ import annotations

from typing import Any

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import (
    Descriptor,
    Message,
    Position,
    Queue,
    Reason,
    Result,
    State,
    Transaction,
    UndoStep,
    Waiter,
)
from conformance.embedded.faults.base import Fault
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Read, Receiving
from conformance.embedded.sending import Sending
from conformance.embedded.transactions import Transactions


class Race(Fault):
    """A fault that needs a second request at the same time."""

    races = True


class _SlowTake(Receiving):
    def take(self, position: Position, transaction: Transaction | None) -> Result:
        if transaction is None:
            self.manager.elsewhere()
        return super().take(position, transaction)


class TwoReceiversOneMessage(Race):
    """Two receives at once take the same message: it is still available between their search and their removal."""

    name = "two-receivers-one-message"
    breaks = (
        "MQDMPR-3.1.7.1.10.at-most-once",
        "MQDMPR-3.1.7.1.10.removes",
    )
    replaces = ("reading", _SlowTake)


class _SlowLock(Receiving):
    def take(self, position: Position, transaction: Transaction | None) -> Result:
        if transaction is not None:
            self.manager.elsewhere()
        return super().take(position, transaction)


class TransactionLocksLate(Race):
    """A receive in a transaction locks its message after another reader could have taken it too."""

    name = "transaction-locks-late"
    breaks = (
        "MQDMPR-3.1.7.1.10.transaction-locks",
        "MQDMPR-3.1.7.1.10.at-most-once",
    )
    replaces = ("reading", _SlowLock)


class _SlowBegin(Receiving):
    def begin(self, at: Descriptor, position: Position) -> Result:
        self.manager.elsewhere()
        return super().begin(at, position)


class TwoReadsBegunOnOne(Race):
    """Two reads in two phases that begin at once get the same message."""

    name = "two-reads-begun-on-one"
    breaks = (
        "MQDMPR-3.1.7.1.11.locks",
        "MQDMPR-3.1.7.1.10.at-most-once",
    )
    first_seen_as = ("MQDMPR-3.1.7.1.10.removes",)
    because = "the read that ends first removes the message, and the other still has it"
    replaces = ("reading", _SlowBegin)


class _DeafWait(Receiving):
    def _wait(self, read: Read) -> None:
        if read.timeout_ms:
            self.manager.elsewhere()
        super()._wait(read)


class WakeUpLost(Race):
    """A message that arrives just before a read begins to wait does not end the wait."""

    name = "wake-up-lost"
    breaks = (
        "MQDMPR-3.1.7.1.10.waits",
        "MQDMPR-3.1.7.1.10.wakes",
        "MQDMPR-3.1.7.1.15.waits",
        "MQDMPR-3.1.7.1.15.wakes",
        "MQDMPR-3.1.7.1.10.first-available",
    )
    replaces = ("reading", _DeafWait)


class _PiecemealCommit(Transactions):
    def commit_step(self, step: UndoStep) -> None:
        super().commit_step(step)
        self.manager.elsewhere()


class CommitSeenInPieces(Race):
    """Another reader can see some of what a commit does before the rest is done."""

    name = "commit-seen-in-pieces"
    breaks = ("MQDMPR-3.1.4.4.all-together",)
    replaces = ("transactions", _PiecemealCommit)


class _PiecemealAbort(Transactions):
    def abort(self, transaction: Transaction) -> None:
        if not any(step.position.queue.waiters for step in transaction.steps):
            transaction.steps.reverse()
        super().abort(transaction)

    def abort_step(self, step: UndoStep) -> None:
        super().abort_step(step)
        self.manager.elsewhere()


class AbortSeenInPieces(Race):
    """Another reader can take a message that an abort gave back before those in front of it are back."""

    name = "abort-seen-in-pieces"
    breaks = (
        "MQDMPR-3.1.1.2.arrival-order",
        "MQDMPR-3.1.4.5.receives-return-position",
        "MQDMPR-3.1.7.1.10.first-available",
    )
    replaces = ("transactions", _PiecemealAbort)


class _TwiceEnded(Transactions):
    def commit(self, transaction: Transaction) -> None:
        self.manager.elsewhere()
        if transaction.handle in self.manager.open_transactions:
            super().commit(transaction)

    def abort(self, transaction: Transaction) -> None:
        self.manager.elsewhere()
        if transaction.handle in self.manager.open_transactions:
            super().abort(transaction)


class TransactionEndsTwice(Race):
    """Of a commit and an abort of one transaction at once, both succeed."""

    name = "transaction-ends-twice"
    breaks = (
        "MQDMPR-3.1.4.5.unknown",
        "MQDMPR-3.1.4.4.unknown",
        "MQDMPR-3.1.4.4.transaction-ends",
        "MQDMPR-3.1.4.5.transaction-ends",
    )
    replaces = ("transactions", _TwiceEnded)


class _Contended(Sending):
    """Tells, after a hole, whether the queue is as it was before."""

    def quiet(self, queue: Queue) -> bool:
        before = queue.bytes, len(queue.positions)
        self.manager.elsewhere()
        return before == (queue.bytes, len(queue.positions))


class _LossySend(_Contended):
    def enqueue(self, queue: Queue, message: Message, transaction: Transaction | None) -> int:
        quiet = self.quiet(queue)
        lookup = super().enqueue(queue, message, transaction)
        position = queue.positions.find(lookup)
        if not quiet and position is not None and position.state is State.AVAILABLE:
            self.manager.delivery.remove(position)
        return lookup


class SendLostInContention(Race):
    """A message sent while another is being sent is lost, and its sender is not told."""

    name = "send-lost-in-contention"
    breaks = (
        "MQDMPR-3.1.7.1.9.available",
        "MQDMPR-3.1.7.1.9.once",
    )
    replaces = ("sending", _LossySend)


class _EchoingSend(_Contended):
    def enqueue(self, queue: Queue, message: Message, transaction: Transaction | None) -> int:
        quiet = self.quiet(queue)
        lookup = super().enqueue(queue, message, transaction)
        if not quiet and transaction is None:
            self.manager.delivery.place(queue, message, limited=False)
        return lookup


class SendRepeatedInContention(Race):
    """A message sent while another is being sent is in its queue twice."""

    name = "send-repeated-in-contention"
    breaks = ("MQDMPR-3.1.7.1.9.once",)
    replaces = ("sending", _EchoingSend)


class _DoubleServe(Receiving):
    def satisfied(self, waiter: Waiter, position: Position) -> None:
        self.manager.elsewhere()
        if waiter in waiter.queue.waiters:
            super().satisfied(waiter, position)
        elif waiter.destructive and position.state is State.AVAILABLE:
            self.manager.delivery.delete(position, Reason.RECEIVED)


class TwoArrivalsOneWaiter(Race):
    """Two messages that arrive at once are both given to one waiting receive, which shows one of them."""

    name = "two-arrivals-one-waiter"
    breaks = (
        "MQDMPR-3.1.7.3.1.cleaned-up",
        "MQDMPR-3.1.7.1.9.available",
        "MQDMPR-3.1.7.1.9.once",
    )
    replaces = ("reading", _DoubleServe)


class _HalfCancelled(Receiving):
    def cancel(self, tag: Any) -> None:
        waiter = next((w for q in self.manager.queues.all() for w in q.waiters if w.tag == tag), None)
        if waiter is not None and waiter.destructive:
            answer, waiter.answer = waiter.answer, lambda result: None
            self.manager.elsewhere()
            if waiter not in waiter.queue.waiters:
                answer({"status": 0xC00E0008})
                return
            waiter.answer = answer
        super().cancel(tag)


class CancelledReadStillTakes(Race):
    """A receive that is cancelled while a message arrives ends as cancelled, and the message is gone."""

    name = "cancelled-read-still-takes"
    breaks = (
        "MQDMPR-3.1.7.1.17.takes-nothing",
        "MQDMPR-3.1.7.3.1.cleaned-up",
    )
    first_seen_as = ("MQDMPR-3.1.7.1.9.available",)
    because = "the reader is told nothing, so the message looks as if it had never been there"
    replaces = ("reading", _HalfCancelled)


class _SlowMove(Transactions):
    def relocate(self, position: Position, target: Queue) -> None:
        self.manager.elsewhere()
        super().relocate(position, target)


class MoveRacesReceive(Race):
    """A message that is received while it is moved is received and is in the target."""

    name = "move-races-receive"
    breaks = (
        "MQDMPR-3.1.7.1.10.at-most-once",
        "MQDMPR-3.1.7.1.10.removes",
        "MQDMPR-3.1.7.1.16.moved",
    )
    replaces = ("transactions", _SlowMove)


class _SlowOpen(Queues):
    def excluded(self, queue: Queue, access: str, share: str) -> bool:
        found = super().excluded(queue, access, share)
        self.manager.elsewhere()
        return found


class TwoExclusiveOpens(Race):
    """Two exclusive opens at once both succeed."""

    name = "two-exclusive-opens"
    breaks = (
        "MQDMPR-3.1.7.1.5.exclusive-then-exclusive",
        "MQDMPR-3.1.7.1.5.exclusive-then-exclusive-code",
    )
    replaces = ("queues", _SlowOpen)


class _SlowCreate(Queues):
    def properties_to_keep(self, given: dict[str, Any], *, creating: bool) -> dict[str, Any]:
        kept = super().properties_to_keep(given, creating=creating)
        if creating:
            taken = dict(self._by_path)
            self.manager.elsewhere()
            self._by_path = taken
        return kept


class TwoCreatesOneName(Race):
    """Two creations of one path name at once both succeed, and one of the queues is lost."""

    name = "two-creates-one-name"
    breaks = (
        "MQMP-3.1.4.5.queue-exists",
        "MQMP-3.1.4.5.existing-queue-unaltered",
        "MQMP-3.1.4.5.queue-exists-code",
    )
    replaces = ("queues", _SlowCreate)


class _LostUpdate(Sending):
    def enqueue(self, queue: Queue, message: Message, transaction: Transaction | None) -> int:
        lookup = super().enqueue(queue, message, transaction)
        if transaction is None and queue.kind in ("private", "public"):
            counted = queue.bytes
            self.manager.elsewhere()  # the message is there for everyone by now: only its bytes are being written
            queue.bytes = counted
        return lookup


class BytesUpdateLost(Race):
    """What changes a queue's bytes while a send counts its own is lost; the messages are those that should be there."""

    name = "bytes-update-lost"
    breaks = (
        "MQDMPR-3.1.1.2.total-bytes",
        "MQDMPR-3.1.7.2.1.total-bytes",
        "MQDMPR-3.1.7.2.2.total-bytes",
    )
    replaces = ("sending", _LostUpdate)


class _Starving(Delivery):
    def make_available(self, position: Position) -> None:
        waiters = position.queue.waiters
        oldest = waiters[0] if len([each for each in waiters if each.destructive]) > 2 else None
        if oldest is not None:
            waiters.remove(oldest)
        super().make_available(position)
        if oldest is not None:
            waiters.insert(0, oldest)


class OldestWaiterStarves(Fault):
    """While three receives or more wait, the oldest of them is passed over."""

    name = "oldest-waiter-starves"
    breaks = (
        "MQDMPR-3.1.7.2.2.fifo-in-handle",
        "MQDMPR-3.1.1.16.waiting-reads-in-order",
    )
    first_seen_as = ("MQDMPR-3.1.7.1.10.wakes",)
    because = "the waits are on several handles too, where the text has no order and every one is to be woken"
    replaces = ("delivery", _Starving)
