"""Check, complete and enqueue messages of applications; place, release, delete, expire and copy them."""

from __future__ import annotations

import base64
import binascii
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import (
    INFINITE,
    Descriptor,
    Message,
    MqError,
    Operation,
    Position,
    Queue,
    Reason,
    State,
    Transaction,
    UndoStep,
    Waiter,
)
from conformance.embedded.packet_layout import TX_INDEX_MAX
from conformance.embedded.store import MessageRow
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_ILLEGAL_PROPERTY_SIZE,
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_LABEL_TOO_LONG,
    MQ_ERROR_TRANSACTION_USAGE,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

ACK_REACH_QUEUE = 0x0002
NACK_REACH_QUEUE_TIMEOUT = 0x8002
INSECURE = frozenset({0x8000, 0x8004, 0x8006, 0x8007, 0x800B})  # they tell of queues and rights (MS-MQQB 3.1.7.15)
_EXPIRING_KINDS = frozenset({"private", "public", "subqueue", "outgoing"})  # 3.1.2.4: journals do not lose messages


class Delivery:
    """Places messages in queues and notifies waiting readers."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    def place(self, queue: Queue, message: Message, *, uncommitted: bool = False, limited: bool = True) -> Position:
        """Enqueue Message (3.1.7.1.9): insert the message, available at once unless it is uncommitted.

        Raises MqError if the message would exceed the quota of the queue or of the manager, and `limited` is true.
        """
        if limited and not self.fits(queue, message):
            raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
        sequence = self.manager.next_sequence()
        positions = queue.positions
        position = Position(
            positions.order(message, sequence),
            positions.lookup_identifier(message, sequence),
            sequence,
            message,
            queue,
            self.manager.clock.now_ms() // 1000,
        )
        positions.insert(position)
        self.account(queue, message.size)
        self.start_timer(position)
        if uncommitted:
            position.uncommitted = True
        else:
            self.keep(position)
            self.make_available(position)
        return position

    def fits(self, queue: Queue, message: Message) -> bool:
        """Return true if a message fits the quotas of queue and manager. Quotas are in kilobytes; all ones is none."""
        manager = self.manager
        used, limit = (
            (manager.journal_bytes, manager.journal_quota_kb)
            if queue.is_journal
            else (manager.message_bytes, manager.message_quota_kb)
        )
        return _within(used + message.size, limit) and _within(queue.bytes + message.size, queue.quota_kb)

    def account(self, queue: Queue, size: int) -> None:
        """Add `size`, which may be negative, to the bytes of a queue and of the manager."""
        queue.bytes += size
        if queue.kind == "outgoing":
            self.manager.queues.fills(queue)
        if queue.is_journal:
            self.manager.journal_bytes += size
        else:
            self.manager.message_bytes += size

    def keep(self, position: Position) -> None:
        """Store a position if its message is recoverable."""
        message = position.message
        if message.recoverable:
            self.manager.store.put_message(
                MessageRow(
                    position.row,
                    position.queue.id,
                    position.lookup,
                    position.key,
                    position.arrival,
                    message.size,
                    message.sent_ms,
                    message.expires_ms,
                    message.transactional,
                    message.fields,
                    message.carried,
                    position.state is State.PURGE_PENDING,
                )
            )

    def start_timer(self, position: Position) -> None:
        """Start the Time To Be Received timer (3.1.2.4), which counts from the time of the send."""
        due = position.message.expires_ms
        if due is not None and position.queue.kind in _EXPIRING_KINDS:
            position.timer = self.manager.clock.at(due, lambda: self.expire(position))

    def make_available(self, position: Position) -> None:
        """Message Position Available (3.1.7.2.2): serve the waiting readers, up to the first that removes it."""
        if position.expired:
            self.delete(position, Reason.EXPIRED)
            return
        position.state = State.AVAILABLE
        for waiter in list(position.queue.waiters):
            if waiter not in position.queue.waiters:
                continue  # the answer to an earlier waiter ended this one
            self.satisfy(waiter, position)
            if waiter.destructive:
                break
        if position.state is State.AVAILABLE and self._is_over(position):
            self.expire(position)

    def satisfy(self, waiter: Waiter, position: Position) -> None:
        """Waiting Message Read Satisfied (3.1.7.3.6)."""
        self.manager.reading.satisfied(waiter, position)

    def delete(self, position: Position, reason: Reason) -> None:
        """Message Position Deleted (3.1.7.2.1), with the copies and acknowledgements its reason requires."""
        if position.state is State.DELETED:
            return
        queue = position.queue
        if reason is Reason.RECEIVED:
            self.journal(position)
        self.remove(position)
        if reason is Reason.EXPIRED:
            self.dead_letter(position.message)
        self.acknowledge_removal(position.message, queue, reason)

    def journal(self, position: Position) -> None:
        """Copy a received message to the journal of its queue, if that has one and journaling is on."""
        if position.queue.journaling and position.queue.kind in ("private", "public", "subqueue"):
            self.copy(self.journal_of(position.queue), position.message)

    def journal_of(self, queue: Queue) -> Queue | None:
        """Return the journal of a queue; a subqueue, which is part of its queue, has that of the queue."""
        return (queue.parent or queue).journal

    def remove(self, position: Position) -> None:
        """Remove a position from its queue and the store, without copies or acknowledgements."""
        position.state = State.DELETED
        position.queue.positions.remove(position)
        self.account(position.queue, -position.message.size)
        if position.timer is not None:
            position.timer.cancel()
        if position.message.recoverable and not position.uncommitted:
            self.manager.store.drop_message(position.row)

    def expire(self, position: Position) -> None:
        """Time To Be Received Timer Expired (3.1.7.2.7); a locked message expires only if its lock is released."""
        if position.state is State.AVAILABLE:
            self.delete(position, Reason.EXPIRED)
        elif position.state is State.LOCKED:
            position.expired = True

    def copy(self, queue: Queue | None, message: Message) -> None:
        """Copy a message to a journal or dead-letter queue; if that queue is full, discard the copy."""
        if queue is not None and self.fits(queue, message):
            self.place(queue, replace(message, expires_ms=None))

    def dead_letter(self, message: Message) -> None:
        """Copy an undelivered message to the dead-letter queue (transactional or not, as it is) if it asks for that."""
        if message.fields["negative_journaling"]:
            self.copy(self.manager.queues.system("deadxact" if message.transactional else "deadletter"), message)

    def arrived(self, message: Message, queue: Queue) -> None:
        """Journal and acknowledge a message that has finally arrived in a local queue."""
        if queue.kind == "outgoing":
            return
        if message.fields["positive_journaling"]:
            self.copy(self.manager.queues.system("journal"), message)
        self.acknowledge_arrival(message, queue)

    def acknowledge_arrival(self, message: Message, queue: Queue) -> None:
        """Acknowledge an arrival to the administration queue if the message asks for that."""
        if "positive_arrival" in message.fields["acknowledgements"]:
            self.acknowledge(message, queue, ACK_REACH_QUEUE)

    def acknowledge_removal(self, message: Message, queue: Queue, reason: Reason) -> None:
        """Acknowledge a removal to the administration queue if the message asks for that."""
        wanted = message.fields["acknowledgements"]
        if not wanted or queue.is_journal:
            return
        if queue.kind == "outgoing":
            if reason is Reason.EXPIRED and "negative_arrival" in wanted:
                self.acknowledge(message, queue, NACK_REACH_QUEUE_TIMEOUT)
        elif ("positive_receive" if reason is Reason.RECEIVED else "negative_receive") in wanted:
            self.acknowledge(message, queue, reason.value)

    def acknowledge(self, message: Message, origin: Queue, message_class: int) -> None:
        """Send Administration Acknowledgment for a message that is or was in a queue."""
        self.acknowledge_from(message, self.manager.queues.direct_name(origin), message_class)

    def acknowledge_from(self, message: Message, origin: str, message_class: int) -> None:
        """Send Administration Acknowledgment (MS-MQQB 3.1.7.15)."""
        name = message.fields.get("administration_queue")
        queue = self.administration_queue(name) if name and self.permitted(message_class) else None
        if queue is None or queue.transactional:
            return
        identifier = message.fields["identifier"]
        correlation = uuid.UUID(identifier["source"]).bytes_le + identifier["ordinal"].to_bytes(4, "little")
        positive = message_class in (ACK_REACH_QUEUE, Reason.RECEIVED.value)
        fields = {
            "class": message_class,
            "correlation_identifier": base64.b64encode(correlation).decode("ascii"),
            "body": "" if positive or message.fields["privacy"] != "none" else message.fields["body"],
            "delivery": message.fields["delivery"],
            "time_to_reach_queue": INFINITE,
            "response_queue": origin,
        }
        acknowledgement = self.manager.sending.make(fields, transactional=False)
        if self.fits(queue, acknowledgement):
            self.place(queue, acknowledgement)

    def permitted(self, message_class: int) -> bool:
        """Return true unless such acknowledgments are not sent (SendInsecureNacks is true here)."""
        return True

    def administration_queue(self, name: str) -> Queue | None:
        """Return the queue of acknowledgments, which may be an outgoing one; None for a name that none can go to."""
        queues = self.manager.queues
        found = queues.find_local(name)
        if found is not None:
            return found if found.kind in ("private", "public") else None
        try:
            descriptor = queues.open(name, "send", "deny_none")
        except MqError:
            return None
        queues.close(descriptor)
        return descriptor.queue

    def _is_over(self, position: Position) -> bool:
        due = position.message.expires_ms
        return due is not None and position.queue.kind in _EXPIRING_KINDS and due <= self.manager.clock.now_ms()


def _within(size: int, limit_kb: int) -> bool:
    return limit_kb == 0xFFFFFFFF or size <= limit_kb * 1024


Json = Any
MAX_LABEL = 249  # characters of UTF-16, without the terminating null (MS-MQDMPR 3.1.1.12)
MAX_MESSAGE_BYTES = 0x00400000  # the limit of BaseHeader.PacketSize
DEFAULT_PRIORITY = 3
DEFAULT_TIME_TO_REACH_QUEUE = 345_600  # seconds
NULL_CORRELATION = "AAAAAAAAAAAAAAAAAAAAAAAAAAA="
CLASS_UNUSED = 0x1E00  # bits that no message class uses (MS-MQMQ 2.2.18.1.6)
HEADER_BYTES = 16 + 48 + 56  # fixed parts of BaseHeader, UserHeader and MessagePropertiesHeader

DEFAULTS: dict[str, Json] = {
    "body": "",
    "body_type": 0,
    "label": "",
    "priority": DEFAULT_PRIORITY,
    "delivery": "express",
    "class": 0,
    "application_tag": 0,
    "correlation_identifier": NULL_CORRELATION,
    "positive_journaling": False,
    "negative_journaling": False,
    "acknowledgements": [],
    "time_to_reach_queue": DEFAULT_TIME_TO_REACH_QUEUE,
    "time_to_be_received": INFINITE,
    "trace": False,
    "extension": "",
    "authentication": "none",
    "privacy": "none",
}
_NUMBERS = {
    "body_type": INFINITE,
    "class": 0xFFFF,
    "application_tag": INFINITE,
    "time_to_reach_queue": INFINITE,
    "time_to_be_received": INFINITE,
}
_TEXTS = ("label", "administration_queue", "response_queue")
_FLAGS = ("positive_journaling", "negative_journaling", "trace")
_ACKNOWLEDGEMENTS = frozenset({"positive_arrival", "positive_receive", "negative_arrival", "negative_receive"})
_WORDS = {
    "delivery": ("express", "recoverable"),
    "authentication": ("none", "sig10", "sig20", "sig30"),
    "privacy": ("none", "base", "enhanced"),
    "sender_type": ("none", "sid"),
}
_KNOWN = frozenset(DEFAULTS) | {*_TEXTS, "sender_type", "hash_algorithm", "encryption_algorithm", "certificate"}


class Sending:
    """Checks and enqueues the messages of applications."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager
        self.accompanying: dict[str, Json] | None = None  # what only objects have of the message being sent

    def send(self, descriptor: Descriptor, given: dict[str, Json], transaction: Transaction | None) -> dict[str, Json]:
        """Enqueue Message To An Open Queue (3.1.7.1.27). Returns identifier and, for one local queue, lookup id."""
        if descriptor.access != "send":
            raise MqError(MQ_ERROR_ACCESS_DENIED)
        message = self.make(given, transactional=transaction is not None)
        sealed = self.manager.sealing.seal(message)
        targets = descriptor.elements or [descriptor]
        answer: dict[str, Json] = {"identifier": message.fields["identifier"]}
        for target in targets:
            if target.queue is None or target.queue.deleted:
                continue  # the queue was deleted: the message is lost without an error
            self._check_usage(target.queue, transaction)
            self.manager.sealing.check_queue(target.queue, message)
            carried = self.carried(targets)
            if self.accompanying is not None:
                carried = {**(carried or {}), "object": self.accompanying}
            if sealed:
                carried = {**(carried or {}), **sealed}
            copy = replace(message, fields={**message.fields}, carried=carried)
            if sealed:
                self.manager.sealing.sign(copy, target.queue)
            position = self.enqueue(target.queue, copy, transaction)
            if len(targets) == 1:
                answer["lookup_identifier"] = str(position)
        return answer

    def carried(self, targets: list[Descriptor]) -> dict[str, Json] | None:
        """Return the destinations that the packets of a message to several queues carry (3.1.7.1.27)."""
        if len(targets) == 1:
            return None
        name = self.manager.queues.direct_name
        return {"destinations": [name(target.queue) for target in targets if target.queue is not None]}

    def enqueue(self, queue: Queue, message: Message, transaction: Transaction | None) -> int:
        """Put a message in a queue, or in a transaction. Returns its LookupIdentifier."""
        delivery = self.manager.delivery
        if queue.kind == "outgoing" and message.fields["time_to_reach_queue"] != INFINITE:
            arrive_by = message.sent_ms + message.fields["time_to_reach_queue"] * 1000
            message.expires_ms = arrive_by if message.expires_ms is None else min(message.expires_ms, arrive_by)
        position = delivery.place(queue, message, uncommitted=transaction is not None)
        if transaction is not None:
            if queue.kind == "outgoing":
                transaction.index = transaction.index or (self.manager.next_sequence() & TX_INDEX_MAX) or 1
                message.carried = {**(message.carried or {}), "index": transaction.index}
            transaction.steps.append(UndoStep(Operation.ENQUEUE, position))
        else:
            delivery.arrived(message, queue)
        return position.lookup

    def make(self, given: dict[str, Json], *, transactional: bool) -> Message:
        """Check and complete the fields of an application; return the message. Raises MqError for an invalid field."""
        fields = {**DEFAULTS, **given}
        size = HEADER_BYTES + self._check(fields)
        if size > MAX_MESSAGE_BYTES:
            raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
        if transactional:
            fields["priority"] = 0  # MS-MQMQ 2.2.19.1
            fields["delivery"] = "recoverable"  # MS-MQMQ 2.2.19.2
        now = self.manager.clock.now_ms()
        fields["identifier"] = {"source": self.manager.guid, "ordinal": self.manager.next_sequence() & INFINITE}
        fields["sent_time"] = now // 1000
        fields["first_in_transaction"] = fields["last_in_transaction"] = False
        lives = fields["time_to_be_received"]
        return Message(fields, size, now, None if lives == INFINITE else now + lives * 1000, transactional)

    @staticmethod
    def _check_usage(queue: Queue, transaction: Transaction | None) -> None:
        if queue.kind != "outgoing" and queue.transactional != (transaction is not None):
            raise MqError(MQ_ERROR_TRANSACTION_USAGE)

    def _check(self, fields: dict[str, Json]) -> int:
        """Check every member; return the size of the variable parts in bytes."""
        if not fields.keys() <= _KNOWN:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        priority = fields["priority"]
        if type(priority) is not int or not 0 <= priority <= 7:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        for name, words in _WORDS.items():
            if name in fields and fields[name] not in words:
                raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        for name in ("hash_algorithm", "encryption_algorithm"):
            if name in fields and (type(fields[name]) is not int or not 0 <= fields[name] <= INFINITE):
                raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        data_size(fields.get("certificate", ""))
        for name, most in _NUMBERS.items():
            value = fields[name]
            if type(value) is not int or not 0 <= value <= most:
                raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        if fields["class"] & CLASS_UNUSED:
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        for name in _FLAGS:
            if type(fields[name]) is not bool:
                raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        acknowledgements = fields["acknowledgements"]
        if not isinstance(acknowledgements, list) or not all(
            isinstance(entry, str) and entry in _ACKNOWLEDGEMENTS for entry in acknowledgements
        ):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        for name in ("administration_queue", "response_queue"):
            if name in fields:
                self._check_queue_name(fields[name])
        if (
            fields["correlation_identifier"] is not NULL_CORRELATION
            and data_size(fields["correlation_identifier"]) != 20
        ):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_SIZE)
        return self.label_bytes(fields) + data_size(fields["body"]) + data_size(fields["extension"])

    def label_bytes(self, fields: dict[str, Json]) -> int:
        """Return the size of a label in a packet in bytes, with its terminating null (MS-MQMQ 2.2.19.3)."""
        return _label_bytes(fields["label"])

    def _check_queue_name(self, name: Json) -> None:
        if not isinstance(name, str):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        names = self.manager.names
        if "," in name:
            names.multiple(name)
        else:
            names.format_name(name)


def _label_bytes(label: Json) -> int:
    if not isinstance(label, str) or "\0" in label:
        raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
    units = len(label) if label.isascii() else len(label.encode("utf-16-le", "surrogatepass")) // 2
    if units > MAX_LABEL:
        raise MqError(MQ_ERROR_LABEL_TOO_LONG)
    return 2 * (units + 1) if units else 0


def data_size(text: Json) -> int:
    """Return the number of bytes encoded in base64. Raises MqError if the text is not base64."""
    if text == "":
        return 0
    if not isinstance(text, str):
        raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
    try:
        return len(binascii.a2b_base64(text, strict_mode=True))
    except (binascii.Error, ValueError):
        raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE) from None
