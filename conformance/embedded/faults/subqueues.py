"""Faults of moves to subqueues and of reads in two phases (MS-MQDMPR 3.1.7.1.11, .12, .16)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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
    Transaction,
    UndoStep,
)
from conformance.embedded.faults.base import also, fault
from conformance.embedded.faults.cursors.positions import informing
from conformance.embedded.faults.transactions import Ended, Remembering, of_ended
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Caller, Receiving
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import (
    MQ_ERROR,
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
    MQ_ERROR_MESSAGE_NOT_FOUND,
    MQ_INFORMATION_OPERATION_PENDING,
)


@fault("move-leaves-copy", Transactions.relocate, "MQDMPR-3.1.7.1.16.moved")
def move_leaves_copy(plain, self, position, target):
    """A moved message is in the target and still in the source."""
    self.manager.delivery.place(target, replace(position.message), limited=False)
    self.manager.delivery.make_available(position)


@fault("move-loses-message", Transactions.relocate, "MQDMPR-3.1.7.1.16.moved")
def move_loses_message(plain, self, position, target):
    """A moved message is in neither queue."""
    self.manager.delivery.remove(position)


def transaction_target(step: UndoStep) -> Queue:
    """The queue a recorded move goes to."""
    assert step.target is not None
    return step.target


@fault(
    "move-ignores-transaction", Transactions.move, "MQDMPR-3.1.7.1.16.in-transaction", "MQDMPR-3.1.4.5.move",
    "MQDMPR-3.1.7.1.16.transaction-locks",
)  # fmt: skip
def move_ignores_transaction(plain, self, source, lookup, destination, transaction):
    """A move in a transaction is done at once, and stays when the transaction aborts."""
    plain(source, lookup, destination, transaction)
    if transaction is not None and transaction.steps[-1].target is not None:
        step = transaction.steps.pop()
        self.relocate(step.position, transaction_target(step))


@fault("aborted-move-happens", Transactions.abort_step, "MQDMPR-3.1.4.5.move", "MQDMPR-3.1.7.1.16.in-transaction")
def aborted_move_happens(plain, self, step):
    """A message moved in a transaction that aborts is in the target."""
    if step.operation is Operation.MOVE and step.position.state is State.LOCKED:
        self.relocate(step.position, transaction_target(step))
    else:
        plain(step)


@fault("committed-move-forgotten", Transactions.commit_step, "MQDMPR-3.1.4.4.move")
def committed_move_forgotten(plain, self, step):
    """A message moved in a transaction is back in the source after the commit."""
    if step.operation is Operation.MOVE:
        self.manager.delivery.make_available(step.position)
    else:
        plain(step)


@fault("aborted-move-loses-message", Transactions.abort_step, "MQDMPR-3.1.4.5.move")
def aborted_move_loses_message(plain, self, step):
    """A message moved in a transaction that aborts is gone from both queues."""
    if step.operation is Operation.MOVE and step.position.state is State.LOCKED:
        self.manager.delivery.remove(step.position)
    else:
        plain(step)


@fault("move-drops-label", Transactions.relocate, "MQDMPR-3.1.7.1.16.unchanged")
def move_drops_label(plain, self, position, target):
    """A moved message has lost its label."""
    fields = {**position.message.fields, "label": ""}
    moved = replace(position.message, fields=fields)
    self.manager.delivery.remove(position)
    self.manager.delivery.place(target, moved, limited=False)


@fault("move-changes-identifier", Transactions.relocate, "MQDMPR-3.1.7.1.16.unchanged")
def move_changes_identifier(plain, self, position, target):
    """A moved message has another message identifier than before."""
    ordinal = self.manager.next_sequence() & 0xFFFFFFFF
    fields = {**position.message.fields, "identifier": {"source": self.manager.guid, "ordinal": ordinal}}
    position.message.fields = fields
    plain(position, target)


@fault("move-wakes-nobody", Transactions.relocate, "MQDMPR-3.1.7.1.16.wakes-readers")
def move_wakes_nobody(plain, self, position, target):
    """A read that waits on a subqueue is not told of a message that is moved there."""
    waiters = list(target.waiters)
    target.waiters.clear()
    plain(position, target)
    target.waiters.extend(waiters)


@fault("move-jumps-priority", Transactions.relocate, "MQDMPR-3.1.7.1.16.target-order")
def move_jumps_priority(plain, self, position, target):
    """A moved message stands in front of all others in the target, whatever its priority and arrival."""
    others = [other.key for other in target.positions]
    plain(position, target)
    moved = next((other for other in target.positions if other.message is position.message), None)
    if moved is not None and others:
        target.positions.remove(moved)
        moved.key = min(others) - 1
        target.positions.insert(moved)


@fault(
    "move-steals-locked", Transactions.move, "MQRR-3.1.4.10.locked-under-transaction",
    "MQRR-3.1.4.10.locked-under-transaction-code",
)  # fmt: skip
def move_steals_locked(plain, self, source, lookup, destination, transaction):
    """A message that a transaction has received can be moved away from under it."""
    position = source.queue.positions.find(lookup) if source.queue is not None else None
    held = position is not None and position.state is State.LOCKED and not position.uncommitted
    if position is not None and held:
        position.state = State.AVAILABLE
    try:
        plain(source, lookup, destination, transaction)
    except MqError:
        if position is not None and held:
            position.state = State.LOCKED
        raise


@fault("purge-empties-subqueues", Queues.purge, "MQDMPR-3.1.7.1.7.other-queues-kept")
def purge_empties_subqueues(plain, self, descriptor):
    """A purge of a queue empties its subqueues too."""
    plain(descriptor)
    for subqueue in descriptor.queue.subqueues.values() if descriptor.queue is not None else ():
        for position in subqueue.positions:
            self.purge_position(position)


@fault("subqueue-ends-with-last-handle", Queues.close, "MQDMPR-3.1.7.1.6.messages-kept")
def subqueue_ends_with_last_handle(plain, self, descriptor):
    """The messages of a subqueue are gone when nobody has it open any more."""
    queue = descriptor.queue
    plain(descriptor)
    if queue is not None and queue.kind == "subqueue" and not queue.descriptors and not queue.deleted:
        for position in queue.positions:
            if position.state is State.AVAILABLE:
                self.manager.delivery.delete(position, Reason.PURGED)


@fault(
    "subqueues-are-one", Queues._subqueue, "MQDMPR-3.1.1.2.subqueue-collection",
    first_seen_as=("MQDMPR-3.1.7.1.16.moved",),
    because="that two subqueues are one shows in a message that was moved to the other",
)  # fmt: skip
def subqueues_are_one(plain, self, parent, name):
    """All subqueues of a queue are the one that was opened first, under whatever name."""
    return next(iter(parent.subqueues.values()), None) or plain(parent, name)


@fault("move-leaks-bytes", Transactions.relocate, "MQDMPR-3.1.1.2.total-bytes")
def move_leaks_bytes(plain, self, position, target):
    """A move leaves the bytes of its message on the account of the source."""
    source, size = position.queue, position.message.size
    plain(position, target)
    self.manager.delivery.account(source, size)


@fault("move-between-strangers", Transactions.move, "MQRR-3.1.4.10.related-queues", "MQRR-3.1.4.10.related-queues-code")
def move_between_strangers(plain, self, source, lookup, destination, transaction):
    """A message can be moved to any queue that is open for moving, related to the source or not."""
    queue, target = source.queue, destination.queue
    if queue is None or target is None or (queue.parent or queue) is (target.parent or target):
        plain(source, lookup, destination, transaction)
        return
    before, target.parent = target.parent, queue.parent or queue
    try:
        plain(source, lookup, destination, transaction)
    finally:
        target.parent = before


@fault("move-ignores-access", Transactions.move, "MQRR-3.1.4.10.move-access", "MQRR-3.1.4.10.move-access-code")
def move_ignores_access(plain, self, source, lookup, destination, transaction):
    """A message can be moved to a subqueue that was not opened for moving."""
    before, destination.access = destination.access, "move"
    try:
        plain(source, lookup, destination, transaction)
    finally:
        destination.access = before


@fault(
    "move-of-nothing-succeeds", Transactions.move, "MQRR-3.1.4.10.message-not-found",
    "MQRR-3.1.4.10.message-not-found-code",
)  # fmt: skip
def move_of_nothing_succeeds(plain, self, source, lookup, destination, transaction):
    """A move of a message that is not there succeeds and does nothing."""
    queue = source.queue
    if queue is not None and not queue.deleted and queue.positions.find(lookup) is None:
        return
    plain(source, lookup, destination, transaction)


@fault(
    "move-refusal-generic", Transactions.move, "MQRR-3.1.4.10.related-queues-code",
    "MQRR-3.1.4.10.message-not-found-code", "MQRR-3.1.4.10.move-access-code", "MQRR-3.1.4.10.transaction-usage-code",
    "MQRR-3.1.4.10.locked-under-transaction-code",
)  # fmt: skip
def move_refusal_generic(plain, self, source, lookup, destination, transaction):
    """Whatever is wrong with a move, it fails with the generic MQ_ERROR."""
    try:
        plain(source, lookup, destination, transaction)
    except MqError:
        raise MqError(MQ_ERROR) from None


@fault(
    "move-usage-unchecked", Transactions.move, "MQRR-3.1.4.10.transaction-usage",
    "MQRR-3.1.4.10.transaction-usage-code", "MQDMPR-3.1.7.1.16.in-transaction",
)  # fmt: skip
def move_usage_unchecked(plain, self, source, lookup, destination, transaction):
    """A move in a transaction between queues that are not transactional is done at once."""
    target = destination.queue
    usual = target is not None and not target.transactional
    plain(source, lookup, destination, None if usual else transaction)


@fault(
    "abort-revives-purged-move", Transactions.abort_step, "MQDMPR-3.1.4.5.purged-receive",
    "MQDMPR-3.1.4.5.purged-deleted", "MQDMPR-3.1.7.1.7.purge-pending-state",
)  # fmt: skip
def abort_revives_purged_move(plain, self, step):
    """A message that was purged while a move in a transaction held it is back in the source after the abort."""
    if step.operation is Operation.MOVE and step.position.state is State.PURGE_PENDING:
        step.position.state = State.LOCKED
    plain(step)


@fault("subqueue-opens-for-send", Queues._queue_to_open, "MQMP-3.1.4.17.subqueue-send-access")
def subqueue_opens_for_send(plain, self, name, access):
    """A subqueue can be opened for send, and messages can be sent to it."""
    if access == "send" and name.parts.get("subqueue"):
        return plain(name, "receive")
    return plain(name, access)


@fault("subqueues-outlive-their-queue", "queues", "MQDMPR-3.1.7.1.3.no-subqueues", "MQDMPR-3.1.7.1.4.messages-deleted")
class SubqueuesOutliveTheirQueue(Queues):
    """A queue made under the name of a deleted one has its subqueues, and their messages."""

    def delete(self, format_name: str) -> None:
        queue = self.find_local(format_name)
        if queue is not None and queue.parent is None:
            held = {
                name: [replace(each.message) for each in subqueue.positions if each.state is State.AVAILABLE]
                for name, subqueue in queue.subqueues.items()
            }
            self._left()[queue.path.lower()] = held
        super().delete(format_name)

    def create(self, path_name: str, given: dict[str, Any]) -> str:
        made = super().create(path_name, given)
        queue = self.find_local(made)
        if queue is not None:
            for name, messages in self._left().pop(queue.path.lower(), {}).items():
                subqueue = self._subqueue(queue, name)
                self._store(subqueue)
                for message in messages:
                    self.manager.delivery.place(subqueue, message, limited=False)
        return made

    def forget(self) -> None:
        self._left().clear()
        super().forget()

    def _left(self) -> dict[str, dict[str, list[Message]]]:
        left: dict[str, dict[str, list[Message]]] = self.__dict__.setdefault("left", {})
        return left


@fault("begun-read-deletes", Receiving.begin, "MQDMPR-3.1.7.1.12.restores")
def begun_read_deletes(plain, self, at, position):
    """A read in two phases takes its message out at the first phase; the second does nothing."""
    shown = plain(at, position)
    self.manager.delivery.delete(position, Reason.RECEIVED)
    return shown


@also("begun-read-deletes", Receiving.end)
def begun_read_deletes_end(plain, self, read, *, acknowledge):
    del self.manager.open_reads[read.handle]


@fault("begun-read-stays-visible", Receiving.begin, "MQDMPR-3.1.7.1.11.locks")
def begun_read_stays_visible(plain, self, at, position):
    """A message whose read has begun is still given to other readers."""
    shown = plain(at, position)
    position.state = State.AVAILABLE
    return shown


@fault("ended-read-returns", Receiving.end, "MQDMPR-3.1.7.1.12.deletes")
def ended_read_returns(plain, self, read, *, acknowledge):
    """The message of a read in two phases comes back although its end acknowledged it."""
    plain(read, acknowledge=False)


@fault("rejected-read-deletes", Receiving.end, "MQDMPR-3.1.7.1.12.restores")
def rejected_read_deletes(plain, self, read, *, acknowledge):
    """The message of a read in two phases is gone although its end rejected it."""
    plain(read, acknowledge=True)


@fault("rejected-read-requeues", Receiving.end, "MQDMPR-3.1.7.1.12.restores")
def rejected_read_requeues(plain, self, read, *, acknowledge):
    """The message of a rejected read comes back behind the others, as if it had just arrived."""
    position = read.position
    locked = position.state is State.LOCKED and not position.queue.deleted
    plain(read, acknowledge=acknowledge)
    if locked and not acknowledge and position.state is State.AVAILABLE:
        self.manager.delivery.remove(position)
        self.manager.delivery.place(position.queue, position.message, limited=False)


@fault("purge-spares-begun-read", Receiving.end, "MQDMPR-3.1.7.1.12.purged", "MQDMPR-3.1.7.1.7.purge-pending-state")
def purge_spares_begun_read(plain, self, read, *, acknowledge):
    """A message whose read had begun when its queue was purged comes back when the read is rejected."""
    if read.position.state is State.PURGE_PENDING:
        read.position.state = State.LOCKED
    plain(read, acknowledge=acknowledge)


@fault(
    "rejected-read-wakes-nobody", Receiving.end, "MQDMPR-3.1.7.1.10.wakes", "MQDMPR-3.1.7.1.15.wakes",
    "MQDMPR-3.1.7.1.12.restores",
)  # fmt: skip
def rejected_read_wakes_nobody(plain, self, read, *, acknowledge):
    """A read that waits is not told of a message that comes back from a rejected read."""
    queue = read.position.queue
    waiters = list(queue.waiters)
    queue.waiters.clear()
    try:
        plain(read, acknowledge=acknowledge)
    finally:
        queue.waiters.extend(waiters)


@fault(
    "end-of-lost-read-succeeds", Receiving.end, "MQDMPR-3.1.7.1.12.queue-not-available",
    "MQDMPR-3.1.7.1.12.queue-not-available-code",
)  # fmt: skip
def end_of_lost_read_succeeds(plain, self, read, *, acknowledge):
    """Ending a read succeeds although its queue was deleted meanwhile."""
    try:
        plain(read, acknowledge=acknowledge)
    except MqError:
        return


@fault("end-of-lost-read-wrong-status", Receiving.end, "MQDMPR-3.1.7.1.12.queue-not-available-code")
def end_of_lost_read_wrong_status(plain, self, read, *, acknowledge):
    """Ending a read whose queue was deleted meanwhile fails with the generic MQ_ERROR."""
    try:
        plain(read, acknowledge=acknowledge)
    except MqError:
        raise MqError(MQ_ERROR) from None


@fault("begun-read-stops-expiry", Receiving.begin, "MQDMPR-3.1.2.4.expires")
def begun_read_stops_expiry(plain, self, at, position):
    """A message whose read was begun and rejected lives for ever, whatever its time to be received."""
    shown = plain(at, position)
    if position.timer is not None:
        position.timer.cancel()
    return shown


@also("begun-read-stops-expiry", Receiving.end)
def begun_read_stops_expiry_end(plain, self, read, *, acknowledge):
    plain(read, acknowledge=acknowledge)
    if read.position.state is State.AVAILABLE and read.position.message.expires_ms is not None:
        read.position.message.expires_ms = None


@fault("begun-read-leaks-bytes", Receiving.begin, "MQDMPR-3.1.1.2.total-bytes", "MQDMPR-3.1.7.2.1.total-bytes")
def begun_read_leaks_bytes(plain, self, at, position):
    """A read in two phases takes the bytes of its message off twice: when it begins and when it ends."""
    self.manager.delivery.account(position.queue, -position.message.size)
    return plain(at, position)


@fault(
    "reads-beside-begun-take-last", Receiving.first, "MQDMPR-3.1.7.1.10.first-available",
    first_seen_as=("MQMQ-2.2.19.1.higher-priority-nearer-front",),
    because="the last message of a queue may be of lower priority, and then its place looks wrong",
)  # fmt: skip
def reads_beside_begun_take_last(plain, self, queue, destructive):
    """While a read in two phases is open, other reads take the last message instead of the first."""
    found = plain(queue, destructive)
    if found is not None and self.manager.open_reads:
        return found.queue.positions.before(1 << 80)
    return found


@fault("begun-read-answers-information", Receiving.receive_begin, "MQDMPR-3.1.7.1.11.mq-ok")
def begun_read_answers_information(plain, self, caller, at, cursor, timeout_ms):
    """The first phase of a read in two phases answers MQ_INFORMATION_OPERATION_PENDING with its message."""
    plain(informing(caller), at, cursor, timeout_ms)


@fault("read-end-answers-information", Receiving.end, "MQDMPR-3.1.7.1.12.mq-ok")
def read_end_answers_information(plain, self, read, *, acknowledge):
    """The second phase of a read in two phases that takes its message answers MQ_INFORMATION_OPERATION_PENDING."""
    plain(read, acknowledge=acknowledge)
    if acknowledge:
        raise MqError(MQ_INFORMATION_OPERATION_PENDING)


class _Twice(Receiving):
    """Does something when a read in two phases is ended again, and refuses that all the same."""

    def again(self, read: OpenRead, *, acknowledge: bool) -> None:
        raise AssertionError("every subclass says what")

    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        ended: dict[str, OpenRead] = self.__dict__.setdefault("ended", {})
        if read.handle in ended:
            if not read.position.queue.deleted:
                self.again(read, acknowledge=acknowledge)
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        purged = read.position.state is State.PURGE_PENDING
        super().end(read, acknowledge=acknowledge)
        if purged:
            return  # what a purge took is another demand
        # It stays known under a handle nobody can close, so that only another end finds it.
        read.descriptor = Descriptor("", "receive", "deny_none", None)
        ended[read.handle] = self.manager.open_reads[read.handle] = read


@fault("second-end-deletes", "reading", "MQDMPR-3.1.7.1.12.not-begun-ends")
class SecondEndDeletes(_Twice):
    """A message that came back from a rejected read is deleted when that read is ended again, which fails."""

    def again(self, read: OpenRead, *, acknowledge: bool) -> None:
        if acknowledge and read.position.state is State.AVAILABLE:
            self.manager.delivery.remove(read.position)


@fault("second-end-revives", "reading", "MQDMPR-3.1.7.1.12.no-resurrection")
class SecondEndRevives(_Twice):
    """A message that the end of a read deleted is back when that read is ended again as rejected, which fails."""

    def again(self, read: OpenRead, *, acknowledge: bool) -> None:
        position: Position = read.position
        if not acknowledge and position.state is State.DELETED:
            position.state = State.LOCKED
            position.queue.positions.insert(position)
            self.manager.delivery.account(position.queue, position.message.size)
            self.manager.delivery.keep(position)
            self.manager.delivery.make_available(position)


def _renamed(caller: Caller, status: int, told: int) -> Caller:
    """The caller, to whom one status is answered in place of another."""
    answer = caller.answer
    caller.answer = lambda result: answer({"status": told} if result["status"] == status else result)
    return caller


@fault("cursor-begin-wrong-status", Receiving.receive_begin, "MQDMPR-3.1.7.1.11.message-not-found-code")
def cursor_begin_wrong_status(plain, self, caller, at, cursor, timeout_ms):
    """The first phase of a read that finds nothing behind its cursor fails with MQ_ERROR_INVALID_PARAMETER."""
    try:
        plain(caller, at, cursor, timeout_ms)
    except MqError as failure:
        if cursor is None or failure.status != MQ_ERROR_MESSAGE_NOT_FOUND:
            raise
        raise MqError(MQ_ERROR_INVALID_PARAMETER) from None


@fault("begin-timeout-wrong-status", Receiving.receive_begin, "MQDMPR-3.1.7.1.11.io-timeout-code")
def begin_timeout_wrong_status(plain, self, caller, at, cursor, timeout_ms):
    """The first phase of a read whose time is over fails with MQ_ERROR_INVALID_PARAMETER."""
    told = _renamed(caller, MQ_ERROR_IO_TIMEOUT, MQ_ERROR_INVALID_PARAMETER)
    plain(told, at, cursor, timeout_ms)


@fault(
    "begin-passes-over-lost", Receiving.receive_begin, "MQDMPR-3.1.7.1.11.message-already-received",
    "MQDMPR-3.1.7.1.11.message-already-received-code",
)  # fmt: skip
def begin_passes_over_lost(plain, self, caller, at, cursor, timeout_ms):
    """The first phase of a read takes the front of the queue when the message of its cursor is gone."""
    try:
        plain(caller, at, cursor, timeout_ms)
    except MqError as failure:
        if cursor is None or failure.status != MQ_ERROR_MESSAGE_ALREADY_RECEIVED:
            raise
        plain(caller, at, None, timeout_ms)


@fault(
    "begin-wraps-around", Receiving.receive_begin, "MQDMPR-3.1.7.1.11.message-not-found",
    "MQDMPR-3.1.7.1.11.message-not-found-code", "MQDMPR-3.2.7.4.not-found", "MQDMPR-3.2.7.4.unread-seeks",
    "MQDMPR-3.2.7.4.continues",
)  # fmt: skip
def begin_wraps_around(plain, self, caller, at, cursor, timeout_ms):
    """The first phase of a read that finds nothing behind its cursor takes the front of the queue."""
    try:
        plain(caller, at, cursor, timeout_ms)
    except MqError as failure:
        if cursor is None or failure.status != MQ_ERROR_MESSAGE_NOT_FOUND:
            raise
        plain(caller, at, None, timeout_ms)


@of_ended(
    "move-in-ended-transaction", "MQRR-3.1.4.10.transaction-sequence", "MQRR-3.1.4.10.transaction-sequence-code",
    "MQDMPR-3.1.4.4.transaction-ends", "MQDMPR-3.1.4.5.transaction-ends",
)  # fmt: skip
class MoveInEndedTransaction(Remembering):
    """A move in a transaction that has ended is done at once, as if it were in none."""

    def move(self, source: Descriptor, lookup: int, destination: Descriptor, transaction: Transaction | None) -> None:
        transactional = destination.queue is not None and destination.queue.transactional
        unbound = isinstance(transaction, Ended) and transactional  # MS-MQRR 3.1.4.10 refuses other targets before
        super().move(source, lookup, destination, None if unbound else transaction)


@of_ended("move-in-ended-transaction-wrong-status", "MQRR-3.1.4.10.transaction-sequence-code")
class MoveInEndedTransactionWrongStatus(Remembering):
    """A move in a transaction that has ended fails with MQ_ERROR_INVALID_HANDLE."""

    def move(self, source: Descriptor, lookup: int, destination: Descriptor, transaction: Transaction | None) -> None:
        if isinstance(transaction, Ended):
            transaction.failure = MqError(MQ_ERROR_INVALID_HANDLE)
        super().move(source, lookup, destination, transaction)
