"""Faults that only concurrency shows: a lock with a hole, through which another request sees a call half done.

`manager.elsewhere()` is the hole: it performs the requests that have arrived meanwhile. Without such requests these
faults do nothing wrong. Some check afterwards which request won, so that they show one race and not a crash.
"""

from __future__ import annotations

from conformance.embedded.delivery import Delivery, Sending
from conformance.embedded.entities import (
    Message,
    Queue,
    Reason,
    State,
    Transaction,
)
from conformance.embedded.faults.base import also, fault
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.embedded.transactions import Transactions


@fault(
    "two-receivers-one-message", Receiving.take, "MQDMPR-3.1.7.1.10.at-most-once", "MQDMPR-3.1.7.1.10.removes",
    races=True,
)  # fmt: skip
def two_receivers_one_message(plain, self, position, transaction):
    """Two receives at once take the same message: it is still available between their search and their removal."""
    if transaction is None:
        self.manager.elsewhere()
    return plain(position, transaction)


@fault(
    "transaction-locks-late", Receiving.take, "MQDMPR-3.1.7.1.10.transaction-locks", "MQDMPR-3.1.7.1.10.at-most-once",
    races=True,
)  # fmt: skip
def transaction_locks_late(plain, self, position, transaction):
    """A receive in a transaction locks its message after another reader could have taken it too."""
    if transaction is not None:
        self.manager.elsewhere()
    return plain(position, transaction)


@fault(
    "two-reads-begun-on-one", Receiving.begin, "MQDMPR-3.1.7.1.11.locks", "MQDMPR-3.1.7.1.10.at-most-once",
    first_seen_as=("MQDMPR-3.1.7.1.10.removes",),
    because="the read that ends first removes the message, and the other still has it", races=True,
)  # fmt: skip
def two_reads_begun_on_one(plain, self, at, position):
    """Two reads in two phases that begin at once get the same message."""
    self.manager.elsewhere()
    return plain(at, position)


@fault(
    "wake-up-lost", Receiving._wait, "MQDMPR-3.1.7.1.10.waits", "MQDMPR-3.1.7.1.10.wakes", "MQDMPR-3.1.7.1.15.waits",
    "MQDMPR-3.1.7.1.15.wakes", "MQDMPR-3.1.7.1.10.first-available", races=True,
)  # fmt: skip
def wake_up_lost(plain, self, read):
    """A message that arrives just before a read begins to wait does not end the wait."""
    if read.timeout_ms:
        self.manager.elsewhere()
    plain(read)


@fault("commit-seen-in-pieces", Transactions.commit_step, "MQDMPR-3.1.4.4.all-together", races=True)
def commit_seen_in_pieces(plain, self, step):
    """Another reader can see some of what a commit does before the rest is done."""
    plain(step)
    self.manager.elsewhere()


@fault(
    "abort-seen-in-pieces", Transactions.abort, "MQDMPR-3.1.1.2.arrival-order",
    "MQDMPR-3.1.4.5.receives-return-position", "MQDMPR-3.1.7.1.10.first-available", races=True,
)  # fmt: skip
def abort_seen_in_pieces(plain, self, transaction):
    """Another reader can take a message that an abort gave back before those in front of it are back."""
    if not any(step.position.queue.waiters for step in transaction.steps):
        transaction.steps.reverse()
    plain(transaction)


@also("abort-seen-in-pieces", Transactions.abort_step)
def abort_seen_in_pieces_abort_step(plain, self, step):
    plain(step)
    self.manager.elsewhere()


@fault(
    "transaction-ends-twice", Transactions.commit, "MQDMPR-3.1.4.5.unknown", "MQDMPR-3.1.4.4.unknown",
    "MQDMPR-3.1.4.4.transaction-ends", "MQDMPR-3.1.4.5.transaction-ends", races=True,
)  # fmt: skip
def transaction_ends_twice(plain, self, transaction):
    """A commit and an abort of one transaction at once both succeed."""
    self.manager.elsewhere()
    if transaction.handle in self.manager.open_transactions:
        plain(transaction)


@also("transaction-ends-twice", Transactions.abort)
def transaction_ends_twice_abort(plain, self, transaction):
    self.manager.elsewhere()
    if transaction.handle in self.manager.open_transactions:
        plain(transaction)


class _Contended(Sending):
    """Tells, after a hole, whether the queue is as it was before."""

    def quiet(self, queue: Queue) -> bool:
        before = queue.bytes, len(queue.positions)
        self.manager.elsewhere()
        return before == (queue.bytes, len(queue.positions))


@fault("send-lost-in-contention", "sending", "MQDMPR-3.1.7.1.9.available", "MQDMPR-3.1.7.1.9.once", races=True)
class SendLostInContention(_Contended):
    """A message sent while another is being sent is lost, and its sender is not told."""

    def enqueue(self, queue: Queue, message: Message, transaction: Transaction | None) -> int:
        quiet = self.quiet(queue)
        lookup = super().enqueue(queue, message, transaction)
        position = queue.positions.find(lookup)
        if not quiet and position is not None and position.state is State.AVAILABLE:
            self.manager.delivery.remove(position)
        return lookup


@fault("send-repeated-in-contention", "sending", "MQDMPR-3.1.7.1.9.once", races=True)
class SendRepeatedInContention(_Contended):
    """A message sent while another is being sent is in its queue twice."""

    def enqueue(self, queue: Queue, message: Message, transaction: Transaction | None) -> int:
        quiet = self.quiet(queue)
        lookup = super().enqueue(queue, message, transaction)
        if not quiet and transaction is None:
            self.manager.delivery.place(queue, message, limited=False)
        return lookup


@fault(
    "two-arrivals-one-waiter", Receiving.satisfied, "MQDMPR-3.1.7.3.1.cleaned-up", "MQDMPR-3.1.7.1.9.available",
    "MQDMPR-3.1.7.1.9.once", races=True,
)  # fmt: skip
def two_arrivals_one_waiter(plain, self, waiter, position):
    """Two messages that arrive at once are both given to one waiting receive, which shows one of them."""
    self.manager.elsewhere()
    if waiter in waiter.queue.waiters:
        plain(waiter, position)
    elif waiter.destructive and position.state is State.AVAILABLE:
        self.manager.delivery.delete(position, Reason.RECEIVED)


@fault(
    "cancelled-read-still-takes", Receiving.cancel, "MQDMPR-3.1.7.1.17.takes-nothing", "MQDMPR-3.1.7.3.1.cleaned-up",
    first_seen_as=("MQDMPR-3.1.7.1.9.available",),
    because="the reader is told nothing, so the message looks as if it had never been there", races=True,
)  # fmt: skip
def cancelled_read_still_takes(plain, self, tag):
    """A receive that is cancelled while a message arrives ends as cancelled, and the message is gone."""
    waiter = next((w for q in self.manager.queues.all() for w in q.waiters if w.tag == tag), None)
    if waiter is not None and waiter.destructive:
        answer, waiter.answer = waiter.answer, lambda result: None
        self.manager.elsewhere()
        if waiter not in waiter.queue.waiters:
            answer({"status": 0xC00E0008})
            return
        waiter.answer = answer
    plain(tag)


@fault(
    "move-races-receive", Transactions.relocate, "MQDMPR-3.1.7.1.10.at-most-once", "MQDMPR-3.1.7.1.10.removes",
    "MQDMPR-3.1.7.1.16.moved", races=True,
)  # fmt: skip
def move_races_receive(plain, self, position, target):
    """A message that is received while it is moved is received and is in the target."""
    self.manager.elsewhere()
    plain(position, target)


@fault(
    "two-exclusive-opens", Queues.excluded, "MQDMPR-3.1.7.1.5.exclusive-then-exclusive",
    "MQDMPR-3.1.7.1.5.exclusive-then-exclusive-code", races=True,
)  # fmt: skip
def two_exclusive_opens(plain, self, queue, access, share):
    """Two exclusive opens at once both succeed."""
    found = plain(queue, access, share)
    self.manager.elsewhere()
    return found


@fault(
    "two-creates-one-name", Queues.properties_to_keep, "MQMP-3.1.4.5.queue-exists",
    "MQMP-3.1.4.5.existing-queue-unaltered", "MQMP-3.1.4.5.queue-exists-code", races=True,
)  # fmt: skip
def two_creates_one_name(plain, self, given, *, creating):
    """Two creations of one path name at once both succeed, and one of the queues is lost."""
    kept = plain(given, creating=creating)
    if creating:
        taken = dict(self._by_path)
        self.manager.elsewhere()
        self._by_path = taken
    return kept


@fault(
    "bytes-update-lost", Sending.enqueue, "MQDMPR-3.1.1.2.total-bytes", "MQDMPR-3.1.7.2.1.total-bytes",
    "MQDMPR-3.1.7.2.2.total-bytes", races=True,
)  # fmt: skip
def bytes_update_lost(plain, self, queue, message, transaction):
    """A change of a queue's bytes is lost while a send counts its own; the messages are those that should be there."""
    lookup = plain(queue, message, transaction)
    if transaction is None and queue.kind in ("private", "public"):
        counted = queue.bytes
        self.manager.elsewhere()  # the message is there for everyone by now: only its bytes are being written
        queue.bytes = counted
    return lookup


@fault(
    "oldest-waiter-starves", Delivery.make_available, "MQDMPR-3.1.7.2.2.fifo-in-handle",
    "MQDMPR-3.1.1.16.waiting-reads-in-order", first_seen_as=("MQDMPR-3.1.7.1.10.wakes",),
    because="the waits are on several handles too, where the text has no order and every one is to be woken",
)  # fmt: skip
def oldest_waiter_starves(plain, self, position):
    """While three receives or more wait, the oldest of them is passed over."""
    waiters = position.queue.waiters
    oldest = waiters[0] if len([each for each in waiters if each.destructive]) > 2 else None
    if oldest is not None:
        waiters.remove(oldest)
    plain(position)
    if oldest is not None:
        waiters.insert(0, oldest)
