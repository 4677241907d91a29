"""Faults that only the plain facets beside an object show (MC-MQAC 2.2.2, 3.17.4.1.68, MS-MQDMPR 3.1.1.12)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import also, fault, row
from conformance.embedded.objects.message import MessageObject, MessageSending
from conformance.embedded.objects.queue import HEAD, Perform
from conformance.spec.constants.hresults import MQ_ERROR_IO_TIMEOUT

_register = partial(row, __name__, "message_object")
CLASSES: Final[tuple[dict[int, str], ...]] = (
    {0: "normal", 1: "report", 0x8000: "nack-bad-dst-q", 0x8001: "nack-deleted", 0x8002: "nack-reach-queue-timeout"},
    {
        0x8003: "nack-exceed-quota", 0x8004: "nack-access-denied", 0x8005: "nack-hop-count-exceeded",
        0x8006: "nack-bad-signature", 0x8007: "nack-bad-encryption",
    },
    {
        0x8009: "nack-not-transactional-q", 0x800A: "nack-not-transactional-msg",
        0x800B: "nack-unsupported-crypto-provider", 0x800C: "nack-source-computer-guid-changed",
    },
    {0xC000: "nack-q-deleted", 0xC001: "nack-q-purged", 0xC002: "nack-receive-timeout"},
)  # fmt: skip
"""Classes of messages, in groups that a fault each mistakes, with the words of their demands."""


def _another_class(numbers: Iterable[int]) -> Any:
    def receive(self: Any, fields: Any, carried: Any, *given: Any) -> None:
        MessageObject.receive(self, fields, carried, *given)
        if not carried and self.values["class"] in numbers:
            self.values["class"] += 0x20

    return receive


def _another_value(field: str, values: dict[int, int]) -> Any:
    def receive(self: Any, fields: Any, carried: Any, *given: Any) -> None:
        MessageObject.receive(self, fields, carried, *given)
        if not carried:
            self.values[field] = values.get(self.values[field], self.values[field])

    return receive


for _numbers in CLASSES:
    _register(
        f"classes-of-others-from-{min(_numbers):#x}-are-mistaken",
        f"Of messages that no object sent, the classes {', '.join(map(hex, _numbers))} are greater by 0x20.",
        tuple(f"2.2.2.9.mqmsg-class-{word}-row" for word in _numbers.values()), receive=_another_class(_numbers),
    )  # fmt: skip
for _field, _values, _breaks in (
    ("delivery", {0: 1, 1: 0}, ("10.mqmsgdelivery-express-row", "10.mqmsg-delivery-recoverable-row")),
    ("journal", {1: 2, 2: 1}, ("12.mqmsg-deadletter-enumeration-message-negative",
                               "12.mqmsg-journal-enumeration-message-positive")),
    ("trace", {0: 1, 1: 0}, ("13.mqmsg-trace-none-row", "13.mqmsg-send-route-to-report-queue-row")),
):  # fmt: skip
    _register(
        f"{_field}-of-others-is-mistaken", f"Of messages that no object sent, the two values of {_field} are swapped.",
        tuple(f"2.2.2.{each}" for each in _breaks), receive=_another_value(_field, _values),
    )  # fmt: skip


def _of_another(queue: Any) -> bool:
    """Tell whether the first message of a queue is one that no object sent."""
    head = next(iter(queue.positions), None)
    return head is not None and not (head.message.carried or {}).get("object") and head.message.fields["class"] == 0


@fault("access-to-messages-of-others-is-mistaken", Perform.start,
       *(f"2.2.2.3.mq-{word}-access-row" for word in ("receive", "send", "peek", "admin")))  # fmt: skip
def access_to_messages_of_others_is_mistaken(plain, self, unit):
    """Messages that no object sent stay when received and go when peeked; others are not taken behind them."""
    opened = self.queue.opened
    if self.read.at != HEAD or self.read.seek or opened.queue is None or not _of_another(opened.queue):
        plain(unit)
    elif self.read.removes:
        self.manager.reading.peek(self.through(unit), opened, self.cursor(), self.asked.timeout_ms)
    elif opened.access == "peek_admin":
        raise MqError(MQ_ERROR_IO_TIMEOUT)
    else:
        self.manager.reading.receive(self.through(unit), opened, self.cursor(), self.asked.timeout_ms, None)


@also("access-to-messages-of-others-is-mistaken", MessageSending.enqueue)
def nothing_behind_messages_of_others(plain, self, descriptor, unit):
    """Send behind a message that no object sent keeps nothing."""
    if descriptor.queue is None or not _of_another(descriptor.queue):
        plain(descriptor, unit)


@fault("transaction-id-begins-backwards", MessageSending.accompanying,
       *(f"3.17.4.1.68.{word}" for word in ("guidelines", "output-pvar-xact-id", "purpose")))  # fmt: skip
def transaction_id_begins_backwards(plain, self):
    """The GUID in TransactionId has its bytes in the opposite order."""
    values = self.message.values
    if values["transaction"] is not None:
        values["transaction"] = values["transaction"][15::-1] + values["transaction"][16:]
    return plain()


@fault("every-copy-has-the-first-destination", MessageObject.receive, "MQDMPR-3.1.1.12.destination-one-of-several")
def every_copy_has_the_first_destination(plain, self, fields, carried, queue, asked):
    """Each copy of a message for several queues has the first of them as its destination."""
    plain(fields, carried, queue, asked)
    if carried.get("destination"):
        self.values["destination_queue"] = str(carried["destination"]).split(",")[0]
