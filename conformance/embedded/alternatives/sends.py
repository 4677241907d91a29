"""Alternatives of readings about sends, and about the properties of messages and queues."""

from __future__ import annotations

from typing import Any, Final

from conformance.embedded.alternatives.base import follows
from conformance.embedded.entities import INFINITE, SEQUENCE_BITS, Message, MqError, PositionList, Queue, State
from conformance.embedded.management import Management
from conformance.embedded.queues import COMPUTED, SETTABLE, Queues
from conformance.embedded.sending import DEFAULT_PRIORITY, MAX_LABEL, Sending
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_ILLEGAL_PROPID,
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_PROPERTY,
    MQ_ERROR_PROPERTY_NOTALLOWED,
    MQ_ERROR_QUEUE_NOT_AVAILABLE,
    MQ_ERROR_SHARING_VIOLATION,
    MQ_ERROR_TRANSACTION_USAGE,
    MQ_INFORMATION_PROPERTY,
)

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
