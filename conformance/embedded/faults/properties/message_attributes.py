"""Faults of message attributes: what a message loses or gains between send and receive (MS-MQDMPR 3.1.1.12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from conformance.embedded.entities import Message
from conformance.embedded.faults.base import fault, row
from conformance.embedded.receiving import Receiving
from conformance.embedded.sending import NULL_CORRELATION, Sending

Json = Any
Alter = Callable[[Json], Json]


class _Altering(Sending):
    """Changes a member of every message sent. unless_given: only where the application left it out."""

    member: ClassVar[str]
    alter: ClassVar[Alter]
    unless_given: ClassVar[bool] = False

    def make(self, given: dict[str, Json], *, transactional: bool) -> Message:
        message = super().make(given, transactional=transactional)
        if self.member in message.fields and not (self.unless_given and self.member in given):
            message.fields[self.member] = type(self).alter(message.fields[self.member])
        return message


def _altering(member: str, alter: Alter, *, unless_given: bool = False) -> dict[str, Any]:
    return {"member": member, "alter": staticmethod(alter), "unless_given": unless_given}


# Name, story, what it breaks, and what it does to which member.
_ALTERED: tuple[tuple[str, str, tuple[str, ...], dict[str, Any]], ...] = (
    (
        "body-cut-short",
        "A body of more than six bytes is cut off.",
        ("MQDMPR-3.1.1.12.body-unchanged",),
        _altering("body", lambda body: body[:8]),
    ),
    (
        "label-stripped",
        "A label loses the blanks at its ends.",
        (
            "MQDMPR-3.1.1.12.label-unchanged",
            "MQDMPR-3.1.7.1.3.attribute-label",
        ),
        _altering("label", str.strip),
    ),
    (
        "application-tag-sixteen-bits",
        "The application tag has 16 bits.",
        (
            "MQDMPR-3.1.1.12.application-tag-unchanged",
            "MQMP-2.2.3.2.p-application-tag",
            "MQMQ-2.2.19.3.application-tag-ignored",
        ),
        _altering("application_tag", lambda tag: tag & 0xFFFF),
    ),
    (
        "correlation-forgotten",
        "The correlation identifier of a message is received as null.",
        (
            "MQDMPR-3.1.1.12.correlation-identifier-unchanged",
            "MQMQ-2.2.19.3.correlation-id-ignored",
        ),
        _altering("correlation_identifier", lambda identifier: NULL_CORRELATION),
    ),
    (
        "extension-dropped",
        "The extension of a message is received empty.",
        (
            "MQDMPR-3.1.1.12.extension-unchanged",
            "MQMP-2.2.3.2.pp-msg-extension",
        ),
        _altering("extension", lambda extension: ""),
    ),
    (
        "default-body-type-is-text",
        "A message sent without a body type has that of a text.",
        ("MQDMPR-3.1.1.12.default-body-type",),
        _altering("body_type", lambda kind: kind or 8),
    ),
    (
        "every-message-recoverable",
        "Every message is received as a recoverable one.",
        (
            "MQDMPR-3.1.1.12.delivery-guarantee-unchanged",
            "MQDMPR-3.1.1.12.default-delivery-guarantee",
            "MQMP-2.2.3.2.delivery-express",
        ),
        _altering("delivery", lambda delivery: "recoverable"),
    ),
    (
        "default-priority-four",
        "A message sent without a priority has 4.",
        (
            "MQDMPR-3.1.1.12.default-priority",
            "MQMP-2.2.3.2.p-priority",
        ),
        _altering("priority", lambda priority: 4 if priority == 3 else priority, unless_given=True),
    ),
    (
        "highest-priority-is-six",
        "A message of priority 7 has 6.",
        ("MQDMPR-3.1.1.12.priority-unchanged",),
        _altering("priority", lambda priority: min(priority, 6)),
    ),
    (
        "response-queue-respelled",
        "The name of the response queue is received in capitals.",
        (
            "MQDMPR-3.1.1.12.response-queue",
            "MQMP-2.2.3.2.response-format-name-ignored",
            "MQMP-2.2.3.2.response-queue-format-ignored",
        ),
        _altering("response_queue", str.upper),
    ),
    (
        "default-time-to-be-received-finite",
        "A message sent without a time to be received has a very long one instead of none.",
        ("MQDMPR-3.1.1.12.default-time-to-be-received",),
        _altering("time_to_be_received", lambda seconds: 0x7FFFFFFF, unless_given=True),
    ),
    (
        "default-time-to-reach-queue-infinite",
        "A message sent without a time to reach the queue has no limit.",
        ("MQDMPR-3.1.1.12.default-time-to-reach-queue",),  # the text only advises the default: a warning, no failure
        _altering("time_to_reach_queue", lambda seconds: 0xFFFFFFFF, unless_given=True),
    ),
    (
        "identifiers-repeat",
        "Several messages have the same message identifier.",
        (
            "MQDMPR-3.1.1.12.identifier-unique",
            "MQQB-3.1.7.1.1.identifier",
        ),
        _altering("identifier", lambda identifier: {**identifier, "ordinal": identifier["ordinal"] & ~3}),
    ),
)


@fault("arrival-time-one-second-late", Receiving.show, "MQDMPR-3.1.1.12.arrival-time")
def arrival_time_one_second_late(plain, self, position):
    """The arrival time is not when the message was put in its queue."""
    shown = plain(position)
    shown["message"]["arrival_time"] = shown["message"]["sent_time"]
    if position.message.sent_ms // 1000 == position.arrival:
        shown["message"]["arrival_time"] += 1
    return shown


@fault("sent-time-is-now", Receiving.show, "MQDMPR-3.1.1.12.sent-time")
def sent_time_is_now(plain, self, position):
    """The sent time of a message is the time at which it is read."""
    shown = plain(position)
    shown["message"]["sent_time"] = self.manager.clock.now_ms() // 1000
    return shown


for _name, _story, _breaks, _sending in _ALTERED:
    row(__name__, "sending", _name, _story, _breaks, subclass_of=_Altering, **_sending)
