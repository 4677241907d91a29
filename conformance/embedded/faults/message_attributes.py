"""Faults of message attributes: what a message loses or gains between send and receive (MS-MQDMPR 3.1.1.12)."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.embedded.entities import Message, Position, Result
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import DISORDER, dmpr
from conformance.embedded.reading import Reading
from conformance.embedded.sending import NULL_CORRELATION, Sending

Json = Any


class _Altering(Sending):
    """Changes a member of every message sent."""

    member: ClassVar[str]

    def make(self, given: dict[str, Json], *, transactional: bool) -> Message:
        message = super().make(given, transactional=transactional)
        if self.member in message.fields:
            message.fields[self.member] = self.altered(message.fields[self.member], given)
        return message

    def altered(self, value: Json, given: dict[str, Json]) -> Json:
        raise AssertionError("every subclass says how")


class _CutBody(_Altering):
    member = "body"

    def altered(self, value: Json, given: dict[str, Json]) -> Json:
        return value[:8]


class BodyCutShort(Fault):
    """A body of more than six bytes is cut off."""

    name = "body-cut-short"
    suite = "properties"
    breaks = dmpr("3.1.1.12.body-unchanged")
    replaces = ("sending", _CutBody)


class _LoudLabel(_Altering):
    member = "label"

    def altered(self, value: Json, given: dict[str, Json]) -> Json:
        return value.strip()


class LabelStripped(Fault):
    """A label loses the blanks at its ends."""

    name = "label-stripped"
    suite = "properties"
    breaks = dmpr("3.1.1.12.label-unchanged")
    replaces = ("sending", _LoudLabel)


class _ShortTag(_Altering):
    member = "application_tag"

    def altered(self, value: Json, given: dict[str, Json]) -> Json:
        return value & 0xFFFF


class ApplicationTagSixteenBits(Fault):
    """The application tag has 16 bits."""

    name = "application-tag-sixteen-bits"
    suite = "properties"
    breaks = dmpr("3.1.1.12.application-tag-unchanged")
    replaces = ("sending", _ShortTag)


class _NoCorrelation(_Altering):
    member = "correlation_identifier"

    def altered(self, value: Json, given: dict[str, Json]) -> Json:
        return NULL_CORRELATION


class CorrelationForgotten(Fault):
    """The correlation identifier of a message is received as null."""

    name = "correlation-forgotten"
    suite = "properties"
    breaks = dmpr("3.1.1.12.correlation-identifier-unchanged")
    replaces = ("sending", _NoCorrelation)


class _NoExtension(_Altering):
    member = "extension"

    def altered(self, value: Json, given: dict[str, Json]) -> Json:
        return ""


class ExtensionDropped(Fault):
    """The extension of a message is received empty."""

    name = "extension-dropped"
    suite = "properties"
    breaks = dmpr("3.1.1.12.extension-unchanged")
    replaces = ("sending", _NoExtension)


class _NoBodyType(_Altering):
    member = "body_type"

    def altered(self, value: Json, given: dict[str, Json]) -> Json:
        return value or 8


class DefaultBodyTypeIsText(Fault):
    """A message sent without a body type has that of a text."""

    name = "default-body-type-is-text"
    suite = "properties"
    breaks = dmpr("3.1.1.12.default-body-type", "3.1.1.12.body-type-unchanged")
    replaces = ("sending", _NoBodyType)


class _Recoverable(_Altering):
    member = "delivery"

    def altered(self, value: Json, given: dict[str, Json]) -> Json:
        return "recoverable"


class EveryMessageRecoverable(Fault):
    """Every message is received as a recoverable one."""

    name = "every-message-recoverable"
    suite = "properties"
    breaks = dmpr("3.1.1.12.delivery-guarantee-unchanged", "3.1.1.12.default-delivery-guarantee")
    replaces = ("sending", _Recoverable)


class _Priorities(_Altering):
    member = "priority"

    def altered(self, value: Json, given: dict[str, Json]) -> Json:
        return 4 if value == 3 and "priority" not in given else value


class DefaultPriorityFour(Fault):
    """A message sent without a priority has 4."""

    name = "default-priority-four"
    suite = "properties"
    breaks = (*dmpr("3.1.1.12.default-priority"), "MQMP-2.2.3.2.p-priority", *DISORDER)
    replaces = ("sending", _Priorities)


class _FewPriorities(_Altering):
    member = "priority"

    def altered(self, value: Json, given: dict[str, Json]) -> Json:
        return min(value, 6)


class HighestPriorityIsSix(Fault):
    """A message of priority 7 has 6."""

    name = "highest-priority-is-six"
    suite = "properties"
    breaks = (
        *dmpr("3.1.1.12.priority-unchanged", "3.1.1.12.priority-range"),
        "MQMQ-2.2.19.1.higher-priority-nearer-front",
        *DISORDER,
    )
    replaces = ("sending", _FewPriorities)


class _NoResponse(_Altering):
    member = "response_queue"

    def altered(self, value: Json, given: dict[str, Json]) -> Json:
        return value.upper()


class ResponseQueueRespelled(Fault):
    """The name of the response queue is received in capitals."""

    name = "response-queue-respelled"
    suite = "properties"
    breaks = (*dmpr("3.1.1.12.response-queue"), "MQMP-2.2.3.2.response-queue-format-ignored")
    replaces = ("sending", _NoResponse)


class _Forever(_Altering):
    member = "time_to_be_received"

    def altered(self, value: Json, given: dict[str, Json]) -> Json:
        return value if "time_to_be_received" in given else 0x7FFFFFFF


class DefaultTimeToBeReceivedFinite(Fault):
    """A message sent without a time to be received has a very long one instead of none."""

    name = "default-time-to-be-received-finite"
    suite = "properties"
    breaks = dmpr("3.1.1.12.default-time-to-be-received", "3.1.2.4.infinite")
    replaces = ("sending", _Forever)


class _ShortReach(_Altering):
    member = "time_to_reach_queue"

    def altered(self, value: Json, given: dict[str, Json]) -> Json:
        return value if "time_to_reach_queue" in given else 0xFFFFFFFF


class DefaultTimeToReachQueueInfinite(Fault):
    """A message sent without a time to reach the queue has no limit."""

    name = "default-time-to-reach-queue-infinite"
    suite = "properties"
    breaks = dmpr("3.1.1.12.default-time-to-reach-queue")  # the text only advises the default: a warning, no failure
    replaces = ("sending", _ShortReach)


class _OneIdentifier(_Altering):
    member = "identifier"

    def altered(self, value: Json, given: dict[str, Json]) -> Json:
        return {**value, "ordinal": value["ordinal"] & ~3}


class IdentifiersRepeat(Fault):
    """Several messages have the same message identifier."""

    name = "identifiers-repeat"
    suite = "properties"
    breaks = dmpr("3.1.1.12.identifier-unique")
    replaces = ("sending", _OneIdentifier)


class _Showing(Reading):
    def show(self, position: Position) -> Result:
        shown = super().show(position)
        shown["message"]["arrival_time"] = shown["message"]["sent_time"]
        if position.message.sent_ms // 1000 == position.arrival:
            shown["message"]["arrival_time"] += 1
        return shown


class ArrivalTimeOneSecondLate(Fault):
    """The arrival time is not when the message was put in its queue."""

    name = "arrival-time-one-second-late"
    suite = "properties"
    breaks = dmpr("3.1.1.12.arrival-time")
    replaces = ("reading", _Showing)


class _Now(Reading):
    def show(self, position: Position) -> Result:
        shown = super().show(position)
        shown["message"]["sent_time"] = self.manager.clock.now_ms() // 1000
        return shown


class SentTimeIsNow(Fault):
    """The sent time of a message is the time at which it is read."""

    name = "sent-time-is-now"
    suite = "properties"
    breaks = dmpr("3.1.1.12.sent-time", "3.1.4.5.receives-return-unchanged", "3.1.7.1.16.unchanged")
    replaces = ("reading", _Now)


MESSAGE_ATTRIBUTE_FAULTS: tuple[type[Fault], ...] = (
    BodyCutShort,
    LabelStripped,
    ApplicationTagSixteenBits,
    CorrelationForgotten,
    ExtensionDropped,
    DefaultBodyTypeIsText,
    EveryMessageRecoverable,
    DefaultPriorityFour,
    HighestPriorityIsSix,
    ResponseQueueRespelled,
    DefaultTimeToBeReceivedFinite,
    DefaultTimeToReachQueueInfinite,
    IdentifiersRepeat,
    ArrivalTimeOneSecondLate,
    SentTimeIsNow,
)
