"""Check, complete and enqueue the messages of applications (MS-MQDMPR 3.1.1.12, 3.1.7.1.27)."""

from __future__ import annotations

import binascii
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import (
    INFINITE,
    Descriptor,
    Message,
    MqError,
    Operation,
    Queue,
    Transaction,
    UndoStep,
)
from conformance.embedded.packet_layout import TX_INDEX_MAX
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
_KNOWN = frozenset(DEFAULTS) | set(_TEXTS)


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
        targets = descriptor.elements or [descriptor]
        answer: dict[str, Json] = {"identifier": message.fields["identifier"]}
        for target in targets:
            if target.queue is None or target.queue.deleted:
                continue  # the queue was deleted: the message is lost without an error
            self._check_usage(target.queue, transaction)
            carried = self.carried(targets)
            if self.accompanying is not None:
                carried = {**(carried or {}), "object": self.accompanying}
            copy = replace(message, fields={**message.fields}, carried=carried)
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
        if type(priority) is not int or not 0 <= priority <= 7 or fields["delivery"] not in ("express", "recoverable"):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
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
