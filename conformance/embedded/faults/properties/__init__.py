"""Faults of the properties of queues, and of what a message loses or gains between send and receive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded import queues as queue_properties
from conformance.embedded.delivery import NULL_CORRELATION, Sending
from conformance.embedded.entities import Message, MqError, Queue
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.embedded.store import Store
from conformance.spec.constants.hresults import (
    MQ_ERROR,
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_ILLEGAL_PROPID,
    MQ_ERROR_PROPERTY_NOTALLOWED,
    MQ_ERROR_QUEUE_NOT_FOUND,
)
from conformance.spec.constants.property_ids import QUEUE_PROPERTIES

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


class LastMember(Sending):
    """Gives a message that lacks a member the one of the message before."""

    member: ClassVar[str]
    last: Json = None

    def make(self, given: dict[str, Json], *, transactional: bool) -> Message:
        message = super().make(given, transactional=transactional)
        if self.member in given:
            self.last = given[self.member]
        elif self.last is not None and message.fields["class"] in (0, *range(0x0100, 0x0200)):  # no report
            message.fields[self.member] = self.last
        return message


@fault("administration-queue-of-the-last", "sending", "MQDMPR-3.1.1.12.administration-queue")
class AdministrationQueueOfTheLast(LastMember):
    """A message without an administration queue shows that of the message before."""

    member = "administration_queue"


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
        "tracing-forgotten",
        "A message that asks to be traced is received as one that does not.",
        ("MQDMPR-3.1.1.12.tracing-requested",),
        _altering("trace", lambda trace: False),
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

# Members that a message lacks, and what it then has instead of the default.
_INSTEAD: Mapping[str, Json] = {
    "application_tag": 1,
    "body": "AA==",
    "class": 0x0100,
    "correlation_identifier": "AAAAAAAAAAAAAAAAAAAAAAEAAAA=",
    "extension": "AA==",
    "label": "message",
    "trace": True,
}


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


def _always(value: Json) -> Alter:
    return lambda default: value


for _member, _value in _INSTEAD.items():
    _words = "tracing_requested" if _member == "trace" else _member
    row(
        __name__,
        "sending",
        f"default-{kebab(_words)}-given",
        f"A message sent without {_words.replace('_', ' ')} has one that nobody gave it.",
        (f"MQDMPR-3.1.1.12.default-{kebab(_words)}",),
        subclass_of=_Altering,
        **_altering(_member, _always(_value), unless_given=True),
    )


class _OtherDefaults(Queues):
    changed: ClassVar[Mapping[str, Json]] = {}

    def defaults(self) -> dict[str, Json]:
        return {**super().defaults(), **self.changed}


@fault("default-label-not-empty", "queues", "MQDMPR-3.1.7.1.33.default-label")
class DefaultLabelNotEmpty(_OtherDefaults):
    """A queue created without a label has the label "Queue"."""

    changed: ClassVar[Mapping[str, Json]] = {"PROPID_Q_LABEL": "Queue"}


@fault("default-quota-limited", "queues", "MQDMPR-3.1.7.1.33.default-quota", "MQDMPR-3.1.7.1.33.default-journal-quota")
class DefaultQuotaLimited(_OtherDefaults):
    """A queue created without quotas has limited ones."""

    changed: ClassVar[Mapping[str, Json]] = {"PROPID_Q_QUOTA": 0x00100000, "PROPID_Q_JOURNAL_QUOTA": 0x00100000}


@fault(
    "default-privacy-none", "queues", "MQDMPR-3.1.7.1.33.default-privacy-level", "MQMQ-2.3.1.12.mq-priv-level-optional"
)
class DefaultPrivacyNone(_OtherDefaults):
    """A queue created without a privacy level has None."""

    changed: ClassVar[Mapping[str, Json]] = {"PROPID_Q_PRIV_LEVEL": 0}


@fault("default-authenticated", "queues", "MQDMPR-3.1.7.1.33.default-authentication")
class DefaultAuthenticated(_OtherDefaults):
    """A queue created without saying so takes authenticated messages only."""

    changed: ClassVar[Mapping[str, Json]] = {"PROPID_Q_AUTHENTICATE": 1}


@fault(
    "create-forgets-properties", Queues.create, "MQDMPR-3.1.7.1.3.attribute-label", "MQDMPR-3.1.7.1.3.attribute-type",
    "MQDMPR-3.1.7.1.3.attribute-quota",
)  # fmt: skip
def create_forgets_properties(plain, self, path_name, given):
    """Label, type and quota given at the creation of a queue are forgotten."""
    made = plain(path_name, given)
    queue = self._existing(made)
    for name in ("PROPID_Q_LABEL", "PROPID_Q_TYPE", "PROPID_Q_QUOTA"):
        queue.properties[name] = self.defaults()[name]
    self._store(queue)
    return made


@fault(
    "set-changes-nothing", Queues.set, "MQMP-3.1.4.10.every-property", "MQMP-3.1.4.10.set",
    "MQDMPR-3.1.1.2.type-not-interpreted",
)  # fmt: skip
def set_changes_nothing(plain, self, format_name, given):
    """Setting properties succeeds and changes only the modify time."""
    queue = self._owner(format_name)
    before = dict(queue.properties)
    plain(format_name, given)
    queue.properties |= {name: before[name] for name in given}


@fault("set-resets-others", Queues.set, "MQMP-3.1.4.10.others-unchanged")
def set_resets_others(plain, self, format_name, given):
    """Setting one property gives all others their defaults."""
    plain(format_name, given)
    queue = self._owner(format_name)
    for name, default in self.defaults().items():
        if name not in given and name != "PROPID_Q_TRANSACTION":
            queue.properties[name] = default
    self._store(queue)


@fault("refused-set-keeps-first", Queues.set, "MQMP-3.1.4.10.refused-unchanged")
def refused_set_keeps_first(plain, self, format_name, given):
    """A set that is refused for one property has changed those named before it."""
    queue = self._owner(format_name)
    for name, value in given.items():
        queue.properties |= self.properties_to_keep({name: value}, creating=False)
    plain(format_name, given)


@fault("modify-time-stands", Queues.set, "MQDMPR-3.1.1.2.modify-time")
def modify_time_stands(plain, self, format_name, given):
    """The modify time of a queue stays that of its creation."""
    queue = self._owner(format_name)
    before = queue.properties["PROPID_Q_MODIFY_TIME"]
    plain(format_name, given)
    queue.properties["PROPID_Q_MODIFY_TIME"] = before


@fault(
    "queue-times-in-milliseconds", Queues.get, "MQDMPR-3.1.7.1.3.create-time", "MQDMPR-3.1.7.1.3.modify-time",
    "MQDMPR-3.1.1.2.modify-time", "MQMQ-2.3.1.9.propid-q-create-time",
)  # fmt: skip
def queue_times_in_milliseconds(plain, self, format_name, names):
    """Create time and modify time of a queue count milliseconds."""
    found = plain(format_name, names)
    return {name: value * 1000 if name.endswith("_TIME") else value for name, value in found.items()}


@fault(
    "transaction-level-can-be-set", Queues.properties_to_keep, "MQMP-3.1.1.12.set-not-applicable-unchanged",
    "MQMP-3.1.1.12.set-not-applicable", "MQDMPR-3.1.7.1.3.attribute-transactional",
)  # fmt: skip
def transaction_level_can_be_set(plain, self, given, *, creating):
    """A queue can be made transactional, or the opposite, after its creation."""
    return plain(given, creating=creating or "PROPID_Q_TRANSACTION" in given)


@fault("read-only-properties-accepted", Queues.properties_to_keep, "MQMP-3.1.1.12.set-not-applicable")
def read_only_properties_accepted(plain, self, given, *, creating):
    """Setting the instance, a time or the manager of a queue succeeds and does nothing."""
    others = {name: value for name, value in given.items() if not name.endswith(("INSTANCE", "_TIME", "QMID"))}
    return plain(others, creating=creating)


@fault(
    "property-values-clamped", Queues.properties_to_keep, "MQMQ-2.3.1.4.values", "MQMQ-2.3.1.11.values",
    "MQMQ-2.3.1.12.values", "MQMQ-2.3.1.13.values",
)  # fmt: skip
def property_values_clamped(plain, self, given, *, creating):
    """A value above the greatest of a property is taken for the greatest."""
    flags = ("PROPID_Q_JOURNAL", "PROPID_Q_AUTHENTICATE", "PROPID_Q_TRANSACTION")
    clamped = {
        name: min(value, 1 if name in flags else 2)
        if name in (*flags, "PROPID_Q_PRIV_LEVEL") and type(value) is int and value > 0
        else value
        for name, value in given.items()
    }
    return plain(clamped, creating=creating)


@fault(
    "property-refusal-generic", Queues.properties_to_keep, "MQMP-3.1.4.10.property-type-code",
    "MQMQ-2.4.mq-error-property-notallowed", "MQMQ-2.4.mq-error-illegal-property-value",
    "MQMQ-2.4.mq-error-illegal-propid",
)  # fmt: skip
def property_refusal_generic(plain, self, given, *, creating):
    """A property that cannot be set is refused with the generic MQ_ERROR."""
    try:
        return plain(given, creating=creating)
    except MqError as refused:
        known = (MQ_ERROR_ILLEGAL_PROPERTY_VALUE, MQ_ERROR_ILLEGAL_PROPID, MQ_ERROR_PROPERTY_NOTALLOWED)
        raise MqError(MQ_ERROR if refused.status in known else refused.status) from None


@fault("unknown-properties-ignored", Queues.properties_to_keep, "MQMP-3.1.4.10.unknown-property")
def unknown_properties_ignored(plain, self, given, *, creating):
    """A property that does not exist is passed over when it is set."""
    kept: dict[str, Json] = {}
    for name, value in given.items():
        try:
            kept |= plain({name: value}, creating=creating)
        except MqError as refused:
            if refused.status != MQ_ERROR_ILLEGAL_PROPID:
                raise
    return kept


@fault(
    "recovery-forgets-properties", Store.queues, "MQDMPR-3.1.1.2.private-attributes-persistent",
    "MQDMPR-3.1.1.persistent-survives",
)  # fmt: skip
def recovery_forgets_properties(plain, self):
    """After a start, label, quota, journaling and privacy level of a queue have their defaults."""
    usual = {"PROPID_Q_LABEL": "", "PROPID_Q_QUOTA": 0xFFFFFFFF, "PROPID_Q_JOURNAL": 0, "PROPID_Q_PRIV_LEVEL": 1}
    return [replace(row, properties={**row.properties, **usual}) if row.properties else row for row in plain()]


class _OtherDefault(Queues):
    changed: ClassVar[Mapping[str, Json]] = {}

    def defaults(self) -> dict[str, Json]:
        return {**super().defaults(), **self.changed}


# The property, what a queue created without it has, the story, and what the text says of it.
_DEFAULTS: tuple[tuple[str, Json, str, str, tuple[str, ...]], ...] = (
    (
        "PROPID_Q_TYPE",
        "55b6b2c1-9f4e-4b7e-8a51-0d6c6f9d9c11",
        "default-type-not-null",
        "A queue created without a type has one all the same.",
        ("MQDMPR-3.1.7.1.33.default-type",),
    ),
    (
        "PROPID_Q_JOURNAL",
        1,
        "default-journaling-on",
        "A queue created without saying so journals.",
        (
            "MQDMPR-3.1.7.1.33.default-journaling",
            "MQMQ-2.3.1.4.mq-journal-none",
        ),
    ),
    (
        "PROPID_Q_MULTICAST_ADDRESS",
        "234.1.1.1:8001",
        "default-multicast-address",
        "A queue created without a multicast address listens to one.",
        ("MQDMPR-3.1.7.1.33.default-multicast-address",),
    ),
)


@fault(
    "default-base-priority-one", Queues.create, "MQDMPR-3.1.7.1.33.default-base-priority", "MQMQ-2.3.1.6.priority-level"
)
def default_base_priority_one(plain, self, path_name, given):
    """A queue created without a base priority has 1."""
    made = plain(path_name, given)
    if "PROPID_Q_BASEPRIORITY" not in given:
        self._existing(made).properties["PROPID_Q_BASEPRIORITY"] = 1
    return made


@fault(
    "default-says-transactional", Queues.get, "MQDMPR-3.1.7.1.33.default-transactional",
    "MQMQ-2.3.1.13.mq-transactional-none", "MQDMPR-3.1.7.1.3.attribute-transactional",
)  # fmt: skip
def default_says_transactional(plain, self, format_name, names):
    """A queue that is not transactional says that it is."""
    told = plain(format_name, names)
    return told | {"PROPID_Q_TRANSACTION": 1} if "PROPID_Q_TRANSACTION" in told else told


@fault(
    "create-raises-base-priority", Queues.create, "MQDMPR-3.1.7.1.3.attribute-base-priority",
    "MQMQ-2.3.1.6.priority-level",
)  # fmt: skip
def create_raises_base_priority(plain, self, path_name, given):
    """A queue created with a base priority has one more, be it private or public."""
    made = plain(path_name, given)
    if "PROPID_Q_BASEPRIORITY" in given:
        self._existing(made).properties["PROPID_Q_BASEPRIORITY"] = given["PROPID_Q_BASEPRIORITY"] + 1
    return made


@fault("path-name-tells-number", Queues.get, "MQDMPR-3.1.7.1.3.attribute-pathname")
def path_name_tells_number(plain, self, format_name, names):
    """The path name of a queue ends with its number instead of its name."""
    told = plain(format_name, names)
    if "PROPID_Q_PATHNAME" in told:
        head, separator, _ = str(told["PROPID_Q_PATHNAME"]).rpartition("\\")
        told["PROPID_Q_PATHNAME"] = f"{head}{separator}{self._existing(format_name).number}"
    return told


class _Private(Queues):
    def direct_name(self, queue: Queue) -> str:
        if queue.kind == "private":
            return f"PRIVATE={self.manager.guid}\\{queue.number:08x}"
        return super().direct_name(queue)


@fault("private-numbers-repeat", "queues", "MQDMPR-3.1.7.1.3.private-queue-number")
class PrivateNumbersRepeat(_Private):
    """Private queues are known by private format names, and every one has the number 1."""

    def _add(self, identifier: str, kind: str, path: str, number: int, properties: dict[str, Json]) -> Queue:
        return super()._add(identifier, kind, path, 1, properties)


@fault("private-queue-is-public", Queues.get, "MQDMPR-3.1.7.1.3.private-type")
def private_queue_is_public(plain, self, format_name, names):
    """A queue created under a private path name says that it is a public one."""
    told = plain(format_name, names)
    if "PROPID_Q_PATHNAME" in told:
        told["PROPID_Q_PATHNAME"] = str(told["PROPID_Q_PATHNAME"]).replace("\\private$\\", "\\")
    return told


for _property, _value, _queue_name, _queue_story, _queue_breaks in _DEFAULTS:
    row(
        __name__,
        "queues",
        _queue_name,
        _queue_story,
        _queue_breaks,
        subclass_of=_OtherDefault,
        changed={_property: _value},
    )


@fault("instance-is-the-managers", Queues.get, "MQDMPR-3.1.1.identifier-unique")
def instance_is_the_managers(plain, self, format_name, names):
    """Every queue has the identifier of the queue manager as its own."""
    found = plain(format_name, names)
    return {name: self.manager.guid if name == "PROPID_Q_INSTANCE" else value for name, value in found.items()}


@fault(
    "scope-is-site", Queues.get, "MQDMPR-3.1.1.2.scope-enterprise", "MQDMPR-3.1.7.1.3.scope",
    "MQDMPR-3.1.7.1.3.qualified-pathname",
)  # fmt: skip
def scope_is_site(plain, self, format_name, names):
    """The scope of a queue reads as Site, and its DNS path name has the short computer name."""
    found = plain(format_name, names)
    usual = plain(format_name, ["PROPID_Q_PATHNAME"])["PROPID_Q_PATHNAME"]
    return {
        name: 0 if name == "PROPID_Q_SCOPE" else usual if name == "PROPID_Q_PATHNAME_DNS" else value
        for name, value in found.items()
    }


@fault("refused-create-overwrites", Queues.create, "MQMP-3.1.4.5.existing-queue-unaltered")
def refused_create_overwrites(plain, self, path_name, given):
    """Creating a queue that exists fails, but gives it the properties asked for."""
    name = self.manager.names.path(path_name)
    parts = name.parts
    if parts["scope"] == "private" and self.is_local(str(parts["computer"])) and "subqueue" not in parts:
        existing: Queue | None = self._by_path.get(f"private$\\{parts['queue']}".lower())
        if existing is not None:
            kept = self.without_path_name(given, name)
            existing.properties |= self.properties_to_keep(kept, creating=True)
    return plain(path_name, given)


_NUMBERS = ("PROPID_Q_QUOTA", "PROPID_Q_JOURNAL_QUOTA", "PROPID_Q_JOURNAL", "PROPID_Q_AUTHENTICATE")


@fault(
    "create-passes-over-unknown", Queues.properties_to_keep, "MQMP-3.1.4.5.unknown-property",
    "MQMQ-2.4.mq-error-illegal-propid",
)  # fmt: skip
def create_passes_over_unknown(plain, self, given, *, creating):
    """Creating a queue with a property that does not exist succeeds without it."""
    kept = {name: value for name, value in given.items() if not creating or name in QUEUE_PROPERTIES}
    return plain(kept, creating=creating)


@fault("create-accepts-read-only", Queues.properties_to_keep, "MQMP-3.1.1.12.create-not-applicable")
def create_accepts_read_only(plain, self, given, *, creating):
    """Creating a queue with an identifier, a time or a manager succeeds without it."""
    kept = {name: value for name, value in given.items() if not creating or name not in queue_properties.COMPUTED}
    return plain(kept, creating=creating)


@fault(
    "numerals-taken-for-numbers", Queues.properties_to_keep, "MQMP-3.1.4.5.property-type",
    "MQMP-3.1.4.10.property-type", "MQMQ-2.3.1.5.propid-q-quota", "MQMQ-2.3.1.7.propid-q-journal-quota",
)  # fmt: skip
def numerals_taken_for_numbers(plain, self, given, *, creating):
    """A text of digits is taken for the number where a quota, journaling or authentication is written."""
    read = {
        name: int(value) if name in _NUMBERS and isinstance(value, str) and value.isdecimal() else value
        for name, value in given.items()
    }
    return plain(read, creating=creating)


@fault(
    "nothing-taken-for-default", Queues.properties_to_keep, "MQMP-3.1.4.5.property-type", "MQMP-3.1.4.10.property-type"
)
def nothing_taken_for_default(plain, self, given, *, creating):
    """A property written without a value has its default."""
    filled = {name: self.defaults().get(name) if value is None else value for name, value in given.items()}
    return plain(filled, creating=creating)


@fault(
    "quotas-wrap", Queues.properties_to_keep, "MQMQ-2.3.1.5.propid-q-quota", "MQMQ-2.3.1.7.propid-q-journal-quota",
    "MQMP-3.1.4.5.property-type", "MQMP-3.1.4.10.property-type",
)  # fmt: skip
def quotas_wrap(plain, self, given, *, creating):
    """A quota that 32 bits do not hold loses the bits above."""
    wrapped = {
        name: value & 0xFFFFFFFF if name.endswith("QUOTA") and isinstance(value, int) else value
        for name, value in given.items()
    }
    return plain(wrapped, creating=creating)


@fault("refused-create-leaves-queue", Queues.create, "MQMP-3.1.4.5.refused-no-queue")
def refused_create_leaves_queue(plain, self, path_name, given):
    """A creation refused for one of its properties leaves a queue without them behind."""
    try:
        self.properties_to_keep(self.without_path_name(given, self.manager.names.path(path_name)), creating=True)
    except MqError:
        plain(path_name, {})
        raise
    return plain(path_name, given)


@fault("get-passes-over-unknown", Queues.get, "MQMP-3.1.4.9.unknown-property")
def get_passes_over_unknown(plain, self, format_name, names):
    """Reading a property that does not exist succeeds without it."""
    known = queue_properties.SETTABLE.keys() | queue_properties.COMPUTED
    return plain(format_name, [name for name in names if name in known])


@fault("get-tells-machine-properties", Queues.get, "MQMP-3.1.4.9.unknown-property")
def get_tells_machine_properties(plain, self, format_name, names):
    """Reading a property of the machine from a queue succeeds and tells 0."""
    machine = {name: 0 for name in names if str(name).startswith("PROPID_QM_")}
    return {**plain(format_name, [name for name in names if name not in machine]), **machine}


@fault(
    "directory-properties-accepted", Queues.properties_to_keep, "MQMP-3.1.1.12.create-not-applicable",
    "MQMP-3.1.1.12.set-not-applicable",
)  # fmt: skip
def directory_properties_accepted(plain, self, given, *, creating):
    """Partition, hash keys and security of a private queue are accepted by creation and setting, and do nothing."""
    directory = ("PROPID_Q_PARTITIONID", "PROPID_Q_HASHKEY", "PROPID_Q_LABEL_HASHKEY", "PROPID_Q_SECURITY")
    kept = {name: value for name, value in given.items() if name not in directory}
    return plain(kept, creating=creating)


@fault("get-of-missing-queue-tells-defaults", Queues.get, "MQMP-3.1.4.9.unknown-queue")
def get_of_missing_queue_tells_defaults(plain, self, format_name, names):
    """Reading properties of a queue that does not exist succeeds and tells the defaults."""
    try:
        return plain(format_name, names)
    except MqError as refused:
        defaults = self.defaults()
        if refused.status != MQ_ERROR_QUEUE_NOT_FOUND or not set(names) <= set(defaults):
            raise
        return {name: defaults[name] for name in names}


@fault("set-of-missing-queue-succeeds", Queues.set, "MQMP-3.1.4.10.unknown-queue")
def set_of_missing_queue_succeeds(plain, self, format_name, given):
    """Setting properties of a queue that does not exist succeeds and does nothing."""
    try:
        plain(format_name, given)
    except MqError as refused:
        if refused.status != MQ_ERROR_QUEUE_NOT_FOUND:
            raise


@fault("get-leaves-out-empty-label", Queues.get, "MQMP-3.1.4.9.get")
def get_leaves_out_empty_label(plain, self, format_name, names):
    """Reading the properties of a queue without a label leaves the label out."""
    found = plain(format_name, names)
    return {name: value for name, value in found.items() if name != "PROPID_Q_LABEL" or value}


Telling = Callable[[Queues, Json], Json]


class _Telling(Queues):
    told: ClassVar[Mapping[str, Telling]] = {}

    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        found = super().get(format_name, names)
        return {name: self.told[name](self, value) if name in self.told else value for name, value in found.items()}


def _as_text(queues: Queues, value: Json) -> Json:
    return str(value)


def _nothing(queues: Queues, value: Json) -> Json:
    return None


def _signed(queues: Queues, value: Json) -> Json:
    return value - (1 << 32) if value > 0x7FFFFFFF else value


def _computer(queues: Queues, value: Json) -> Json:
    return queues.manager.computer


def _address_as_number(queues: Queues, value: Json) -> Json:
    octets = (value or "0.0.0.0:0").partition(":")[0].split(".")
    return int.from_bytes(map(int, octets), "big")


def _inverted(queues: Queues, value: Json) -> Json:
    return 1 - value


def _none_and_body(queues: Queues, value: Json) -> Json:
    return 2 - value


def _none(queues: Queues, value: Json) -> Json:
    return 0


def _beyond(queues: Queues, value: Json) -> Json:
    return 2


def _numeric_host(queues: Queues, value: Json) -> Json:
    return "192.0.2.7\\" + str(value).partition("\\")[2]


def _ldap(queues: Queues, value: Json) -> Json:
    return "LDAP://server/CN=queue,CN=msmq,CN=HOST,DC=example"


def _slashes(queues: Queues, value: Json) -> Json:
    return str(value).replace("\\", "/")


# The name, the story, what the text says of it, what a get tells, and of which properties.
_FAULTS: tuple[tuple[str, str, tuple[str, ...], Telling, tuple[str, ...]], ...] = (
    (
        "flags-told-as-text",
        "Journaling, authentication, transaction level and scope of a queue are told as text.",
        (
            "MQMQ-2.3.1.4.propid-q-journal",
            "MQMQ-2.3.1.11.propid-q-authenticate",
            "MQMQ-2.3.1.13.propid-q-transaction",
            "MQMQ-2.3.1.14.propid-q-scope",
        ),
        _as_text,
        ("JOURNAL", "AUTHENTICATE", "TRANSACTION", "SCOPE"),
    ),
    (
        "levels-told-as-text",
        "Privacy level and base priority of a queue are told as text.",
        ("MQMQ-2.3.1.12.propid-q-priv-level", "MQMQ-2.3.1.6.propid-q-basepriority"),
        _as_text,
        ("PRIV_LEVEL", "BASEPRIORITY"),
    ),
    (
        "quotas-told-signed",
        "Quotas of a queue are told as signed numbers: an unlimited one is -1.",
        ("MQMQ-2.3.1.5.propid-q-quota", "MQMQ-2.3.1.7.propid-q-journal-quota"),
        _signed,
        ("QUOTA", "JOURNAL_QUOTA"),
    ),
    (
        "times-told-as-text",
        "The times of a queue are told as text.",
        ("MQMQ-2.3.1.9.propid-q-create-time", "MQMQ-2.3.1.10.propid-q-modify-time"),
        _as_text,
        ("CREATE_TIME", "MODIFY_TIME"),
    ),
    (
        "identifiers-told-as-computer",
        "The name of the computer is told where an identifier of a queue, its type or its manager belongs.",
        (
            "MQMQ-2.3.1.1.propid-q-instance",
            "MQMQ-2.3.1.2.propid-q-type",
            "MQMQ-2.3.1.15.propid-q-qmid",
        ),
        _computer,
        ("INSTANCE", "TYPE", "QMID"),
    ),
    (
        "texts-told-as-nothing",
        "Label, path names and directory path of a queue are told as nothing at all.",
        (
            "MQMQ-2.3.1.3.propid-q-pathname",
            "MQMQ-2.3.1.8.propid-q-label",
            "MQMQ-2.3.1.22.propid-q-pathname-dns",
            "MQMQ-2.3.1.24.propid-q-ads-path",
        ),
        _nothing,
        ("PATHNAME", "LABEL", "PATHNAME_DNS", "ADS_PATH"),
    ),
    (
        "multicast-address-told-as-number",
        "The multicast address of a queue is told as the number of its IP address.",
        ("MQMQ-2.3.1.23.propid-q-multicast-address",),
        _address_as_number,
        ("MULTICAST_ADDRESS",),
    ),
    (
        "journal-told-inverted",
        "A queue that journals says that it does not, and the other way round.",
        ("MQMQ-2.3.1.4.mq-journal-none", "MQMQ-2.3.1.4.mq-journal", "MQDMPR-3.1.7.1.33.default-journaling"),
        _inverted,
        ("JOURNAL",),
    ),
    (
        "authentication-told-inverted",
        "A queue that asks for authentication says that it does not, and the other way round.",
        (
            "MQMQ-2.3.1.11.mq-authenticate-none",
            "MQMQ-2.3.1.11.mq-authenticate",
            "MQDMPR-3.1.7.1.33.default-authentication",
        ),
        _inverted,
        ("AUTHENTICATE",),
    ),
    (
        "privacy-none-and-body-swapped",
        "A queue for messages in the clear says that it is for encrypted ones, and the other way round.",
        (
            "MQMQ-2.3.1.12.mq-priv-level-none",
            "MQMQ-2.3.1.12.mq-priv-level-body",
            "MQDMPR-3.1.7.1.3.attribute-privacy-level",
        ),
        _none_and_body,
        ("PRIV_LEVEL",),
    ),
    (
        "transactional-queue-says-not",
        "A transactional queue says that it is not.",
        ("MQMQ-2.3.1.13.mq-transactional", "MQDMPR-3.1.7.1.3.attribute-transactional"),
        _none,
        ("TRANSACTION",),
    ),
    (
        "scope-told-beyond-range",
        "The scope of a queue is told as a number that is no scope.",
        ("MQMQ-2.3.1.14.values", "MQDMPR-3.1.1.2.scope-enterprise", "MQDMPR-3.1.7.1.3.scope"),
        _beyond,
        ("SCOPE",),
    ),
    (
        "dns-path-name-has-address",
        "The DNS path name of a queue begins with an IP address.",
        ("MQMQ-2.3.1.22.path-name", "MQDMPR-3.1.7.1.3.qualified-pathname"),
        _numeric_host,
        ("PATHNAME_DNS",),
    ),
    (
        "dns-path-name-has-slashes",
        "The DNS path name of a queue has slashes for its backslashes.",
        ("MQMQ-2.3.1.22.path-name", "MQDMPR-3.1.7.1.3.qualified-pathname"),
        _slashes,
        ("PATHNAME_DNS",),
    ),
    (
        "private-queue-has-directory-path",
        "A private queue tells the path of an object in a directory.",
        ("MQDMPR-3.1.7.1.3.directory-path-empty",),
        _ldap,
        ("ADS_PATH",),
    ),
)

for _queue_name, _queue_story, _queue_breaks, _change, _properties in _FAULTS:
    _told = {f"PROPID_Q_{_property}": _change for _property in _properties}
    row(__name__, "queues", _queue_name, _queue_story, _queue_breaks, subclass_of=_Telling, told=_told)
