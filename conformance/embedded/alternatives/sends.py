"""Alternatives of readings about sends, properties of messages and queues, and messages that something leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.embedded.alternatives.base import follows
from conformance.embedded.coordination import PREPARED, Coordination
from conformance.embedded.delivery import DEFAULT_PRIORITY, MAX_LABEL, Delivery, Sending
from conformance.embedded.entities import (
    INFINITE,
    SEQUENCE_BITS,
    Descriptor,
    Message,
    MqError,
    OpenRead,
    Operation,
    Position,
    PositionList,
    Queue,
    Reason,
    State,
)
from conformance.embedded.management import Management
from conformance.embedded.packet_reading import Arrival
from conformance.embedded.queues import COMPUTED, SETTABLE, Queues
from conformance.embedded.receiving import Receiving
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_ILLEGAL_PROPID,
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
    MQ_ERROR_PROPERTY,
    MQ_ERROR_PROPERTY_NOTALLOWED,
    MQ_ERROR_QUEUE_NOT_AVAILABLE,
    MQ_ERROR_SHARING_VIOLATION,
    MQ_ERROR_TRANSACTION_SEQUENCE,
    MQ_ERROR_TRANSACTION_USAGE,
    MQ_INFORMATION_PROPERTY,
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


@follows("dtc-read-only=read-only", Coordination.prepare)
def dtc_read_only_read_only(plain, self, identifier, *, single_phase):
    """A transaction that did nothing is over when its coordinator asks for its vote."""
    answer = plain(identifier, single_phase=single_phase)
    if answer == PREPARED and not self.holds_work(identifier):
        self.commit(identifier)
        return "read_only"
    return answer


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


Json = Any


@follows("send-after-delete=refused", Sending.send)
def send_after_delete_refused(plain, self, descriptor, given, transaction):
    """A send by a handle whose queue was deleted fails."""
    if descriptor.access == "send" and descriptor.queue is not None and descriptor.queue.deleted:
        raise MqError(MQ_ERROR_QUEUE_NOT_AVAILABLE)
    return plain(descriptor, given, transaction)


@follows("access-enforced=not-delivered", Sending.send)
def access_enforced_not_delivered(plain, self, descriptor, given, transaction):
    """A send that is transactional where its queue is not, or the reverse, succeeds, but is not delivered."""
    try:
        return plain(descriptor, given, transaction)
    except MqError as failure:
        if failure.status != MQ_ERROR_TRANSACTION_USAGE:
            raise
        return {}


@follows("multiple-send-partial=others", Sending.send)
def multiple_send_partial_others(plain, self, descriptor, given, transaction):
    """If the send to one of several queues fails, the others still get their copies."""
    if not descriptor.elements:
        return plain(descriptor, given, transaction)
    elements, failed = descriptor.elements, None
    answer: dict[str, Json] = {}
    for element in elements:
        descriptor.elements = [element]
        try:
            answer = plain(descriptor, given, transaction)
        except MqError as failure:
            failed = failed or failure
        finally:
            descriptor.elements = elements
    if failed is not None:
        raise failed
    return {"identifier": answer["identifier"]}


@follows("multiple-send-partial=none", Sending.send)
def multiple_send_partial_none(plain, self, descriptor, given, transaction):
    """If the send to one of several queues would fail, no queue gets a copy."""
    delivery, room = self.manager.delivery, list[Queue]()
    message = self.make(given, transactional=transaction is not None)
    try:
        for queue in (each.queue for each in descriptor.elements if descriptor.access == "send"):
            if queue is not None and not queue.deleted:
                self._check_usage(queue, transaction)
                if not delivery.fits(queue, message):
                    raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
                delivery.account(queue, message.size)
                room.append(queue)
    finally:
        for queue in room:
            delivery.account(queue, -message.size)
    return plain(descriptor, given, transaction)


@follows("share-with-peek=local-api", Queues.excluded)
def share_with_peek_local_api(plain, self, queue, access, share):
    """An exclusive reader excludes every other reader, peeks included, and is excluded by every other."""
    reading = ("receive", "peek", "receive_admin", "peek_admin")
    others = [each for each in queue.descriptors if each.access in reading]
    if access not in reading or not others:
        return False
    return share == "deny_receive" or any(each.share == "deny_receive" for each in others)


@follows("exclusive-move=accepted", Queues.excluded)
def exclusive_move_accepted(plain, self, queue, access, share):
    """A handle for move is opened whoever reads the queue."""
    return access != "move" and plain(queue, access, share)


@follows("exclusive-send=accepted", Queues.open)
def exclusive_send_accepted(plain, self, format_name, access, share):
    """A handle for send can be exclusive: no exclusive receiver lets it in, and it keeps out nobody."""
    exclusive = access == "send" and share == "deny_receive" and "," not in format_name
    opened = plain(format_name, access, "deny_none" if exclusive else share)
    others = opened.queue.descriptors if exclusive and opened.queue is not None else []
    if any((each.access, each.share) == ("receive", "deny_receive") for each in others):
        self.close(opened)
        raise MqError(MQ_ERROR_SHARING_VIOLATION)
    return opened


@follows("multiple-send-identifier=distinct", Sending.enqueue)
def multiple_send_identifier_distinct(plain, self, queue, message, transaction):
    """Each copy of a message to several queues has an identifier of its own."""
    if "destinations" in (message.carried or {}):
        ordinal = self.manager.next_sequence() & INFINITE
        message.fields["identifier"] = {**message.fields["identifier"], "ordinal": ordinal}
    return plain(queue, message, transaction)


@follows("transactional-priority=default", "sending")
class _ShowsDefault(Sending):
    """A received transactional message shows the default priority; it is placed by none."""

    def shown(self, given: dict[str, Json]) -> int:
        """Return the priority that the message shows."""
        return DEFAULT_PRIORITY

    def make(self, given: dict[str, Json], *, transactional: bool) -> Message:
        message = super().make(given, transactional=transactional)
        if transactional:
            message.fields["priority"] = self.shown(given)
        return message


@follows("transactional-priority=own", "sending")
class _ShowsOwn(_ShowsDefault):
    """A received transactional message shows the priority that its sender gave it; it is placed by none."""

    def shown(self, given: dict[str, Json]) -> int:
        return int(given.get("priority", DEFAULT_PRIORITY))


@follows("transactional-priority=default", "positions")
@follows("transactional-priority=own", "positions")
class _ByArrival(PositionList):
    """Transactional messages have one place among the priorities, whatever they show."""

    @staticmethod
    def order(message: Message, sequence: int) -> int:
        return 7 << SEQUENCE_BITS | sequence if message.transactional else PositionList.order(message, sequence)

    lookup_identifier = order


@follows("R-MQMQ-long-label=truncated", Sending.label_bytes)
def mqmq_long_label_truncated(plain, self, fields):
    """A label is cut to 249 characters, and the message is sent (MS-MQMP 3.1.5.2)."""
    label = fields["label"]
    if isinstance(label, str) and len(label) > MAX_LABEL // 2:  # a shorter one fits even as surrogate pairs
        elements = label.encode("utf-16-le", "surrogatepass")[: 2 * MAX_LABEL]
        fields["label"] = elements.decode("utf-16-le", "surrogatepass")
    return plain(fields)


_OF_PROPERTIES: Final = (MQ_ERROR_ILLEGAL_PROPERTY_VALUE, MQ_ERROR_ILLEGAL_PROPID, MQ_ERROR_PROPERTY_NOTALLOWED)


@follows("R-MQMP-property-status=summary", Queues.properties_to_keep)
def mqmp_property_status_summary(plain, self, given, *, creating):
    """A call fails with MQ_ERROR_PROPERTY, whatever is wrong with a property."""
    try:
        return plain(given, creating=creating)
    except MqError as failure:
        raise _summed(failure) from None


@follows("R-MQMP-property-status=summary", Queues.get)
def mqmp_property_status_summary_get(plain, self, format_name, names):
    try:
        return plain(format_name, names)
    except MqError as failure:
        raise _summed(failure) from None


def _summed(failure: MqError) -> MqError:
    return MqError(MQ_ERROR_PROPERTY) if failure.status in _OF_PROPERTIES else failure


@follows("R-MQMP-property-not-applicable=ignored", Queues.create)
def mqmp_property_not_applicable_ignored(plain, self, path_name, given):
    """A property that a call cannot write or tell is passed over: the call does the rest, and says so in its status."""
    kept = {name: value for name, value in given.items() if name in SETTABLE or name == "PROPID_Q_PATHNAME"}
    format_name = plain(path_name, kept)
    if len(kept) < len(given):
        raise MqError(MQ_INFORMATION_PROPERTY, {"format_name": format_name})
    return format_name


@follows("R-MQMP-property-not-applicable=ignored", Queues.set)
def mqmp_property_not_applicable_ignored_set(plain, self, format_name, given):
    kept = {name: value for name, value in given.items() if name in SETTABLE and SETTABLE[name].after_creation}
    plain(format_name, kept)
    if len(kept) < len(given):
        raise MqError(MQ_INFORMATION_PROPERTY)


@follows("R-MQMP-property-not-applicable=ignored", Queues.get)
def mqmp_property_not_applicable_ignored_get(plain, self, format_name, names):
    found = plain(format_name, [name for name in names if name in SETTABLE or name in COMPUTED])
    if len(found) < len(names):
        raise MqError(MQ_INFORMATION_PROPERTY, {"properties": found})
    return found


@follows("R-MQMQ-private-base-priority=kept", Queues.only_public)
def mqmq_private_base_priority_kept(plain, self, properties, private):
    """A private queue has the base priority that was written last."""


def _held(queue: Queue | None) -> int:
    """Return the bytes of messages that a transaction or a begun receive holds; transfers hold nothing."""
    away = queue is not None and queue.kind == "outgoing"
    return sum(
        each.message.size
        for each in (() if queue is None else queue.positions)
        if each.uncommitted or (each.state is not State.AVAILABLE and not away)
    )


@follows("total-bytes=available", Queues.counts)
def total_bytes_available(plain, self, format_name):
    """The bytes of a queue are those of its available messages."""
    answer = plain(format_name)
    return {**answer, "bytes": answer["bytes"] - _held(self.managed(format_name))}


@follows("total-bytes=available", Management.bytes_in_queue)
def total_bytes_available_bytes_in_queue(plain, self, queue):
    """So says management."""
    return plain(queue) - _held(queue)


@follows("total-bytes=available", Management.bytes_in_all_queues)
def total_bytes_available_bytes_in_all_queues(plain, self):
    return str(int(plain()) - sum(map(_held, self.manager.queues.all())))
