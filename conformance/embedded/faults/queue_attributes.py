"""Faults of queue properties: defaults, what a set keeps and refuses, and what a get tells (MS-MQMQ 2.3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import dmpr
from conformance.embedded.queues import Queues
from conformance.spec.constants.hresults import (
    MQ_ERROR,
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_ILLEGAL_PROPID,
    MQ_ERROR_PROPERTY_NOTALLOWED,
)

Json = Any
_VALUES = (
    "MQMQ-2.3.1.4.values",
    "MQMQ-2.3.1.11.values",
    "MQMQ-2.3.1.12.values",
    "MQMQ-2.3.1.13.values",
    "MQMQ-2.3.1.8.label-maximum",
    "MQMQ-2.3.1.23.address",
    "MQMQ-2.3.1.23.class-d",
)
_SET = (
    "MQMQ-2.3.1.2.propid-q-type",
    "MQMQ-2.3.1.4.propid-q-journal",
    "MQMQ-2.3.1.5.propid-q-quota",
    "MQMQ-2.3.1.7.propid-q-journal-quota",
    "MQMQ-2.3.1.8.propid-q-label",
    "MQMQ-2.3.1.11.propid-q-authenticate",
    "MQMQ-2.3.1.12.propid-q-priv-level",
    "MQMQ-2.3.1.23.propid-q-multicast-address",
    "MQMQ-2.3.1.4.mq-journal",
    "MQMQ-2.3.1.11.mq-authenticate",
    "MQMQ-2.3.1.12.mq-priv-level-none",
    "MQMQ-2.3.1.12.mq-priv-level-body",
    *dmpr("3.1.1.2.label", "3.1.1.2.journaling", "3.1.1.2.quota", "3.1.1.2.type-not-interpreted"),
)
_CREATED = dmpr(
    "3.1.7.1.3.attribute-label",
    "3.1.7.1.3.attribute-type",
    "3.1.7.1.3.attribute-journaling",
    "3.1.7.1.3.attribute-quota",
    "3.1.7.1.3.attribute-journal-quota",
    "3.1.7.1.3.attribute-authentication",
    "3.1.7.1.3.attribute-privacy-level",
    "3.1.7.1.3.attribute-transactional",
    "3.1.7.1.3.attribute-multicast-address",
)


class _OtherDefaults(Queues):
    changed: ClassVar[Mapping[str, Json]] = {}

    def defaults(self) -> dict[str, Json]:
        return {**super().defaults(), **self.changed}


class _PathAsLabel(_OtherDefaults):
    changed: ClassVar[Mapping[str, Json]] = {"PROPID_Q_LABEL": "Queue"}


class DefaultLabelNotEmpty(Fault):
    """A queue created without a label has the label "Queue"."""

    name = "default-label-not-empty"
    suite = "properties"
    breaks = ("MQMQ-2.3.1.8.propid-q-label", *dmpr("3.1.7.1.33.default-label", "3.1.1.2.label"))
    replaces = ("queues", _PathAsLabel)


class _ZeroQuotas(_OtherDefaults):
    changed: ClassVar[Mapping[str, Json]] = {"PROPID_Q_QUOTA": 0x00100000, "PROPID_Q_JOURNAL_QUOTA": 0x00100000}


class DefaultQuotaLimited(Fault):
    """A queue created without quotas has limited ones."""

    name = "default-quota-limited"
    suite = "properties"
    breaks = (
        *dmpr("3.1.7.1.33.default-quota", "3.1.7.1.33.default-journal-quota", "3.1.1.2.quota"),
        *("MQMQ-2.3.1.5.propid-q-quota", "MQMQ-2.3.1.7.propid-q-journal-quota"),
    )
    replaces = ("queues", _ZeroQuotas)


class _PrivacyNone(_OtherDefaults):
    changed: ClassVar[Mapping[str, Json]] = {"PROPID_Q_PRIV_LEVEL": 0}


class DefaultPrivacyNone(Fault):
    """A queue created without a privacy level has None."""

    name = "default-privacy-none"
    suite = "properties"
    breaks = (
        "MQMQ-2.3.1.12.mq-priv-level-optional",
        "MQMQ-2.3.1.12.propid-q-priv-level",
        *dmpr("3.1.7.1.33.default-privacy-level", "3.1.1.2.privacy-level"),
    )
    replaces = ("queues", _PrivacyNone)


class _Authenticated(_OtherDefaults):
    changed: ClassVar[Mapping[str, Json]] = {"PROPID_Q_AUTHENTICATE": 1}


class DefaultAuthenticated(Fault):
    """A queue created without saying so takes authenticated messages only."""

    name = "default-authenticated"
    suite = "properties"
    breaks = (
        "MQMQ-2.3.1.11.propid-q-authenticate",
        "MQMQ-2.3.1.11.mq-authenticate-none",
        *dmpr("3.1.7.1.33.default-authentication", "3.1.1.2.authentication"),
    )
    replaces = ("queues", _Authenticated)


class _DroppingCreate(Queues):
    def create(self, path_name: str, given: dict[str, Json]) -> str:
        made = super().create(path_name, given)
        queue = self._existing(made)
        for name in ("PROPID_Q_LABEL", "PROPID_Q_TYPE", "PROPID_Q_QUOTA"):
            queue.properties[name] = self.defaults()[name]
        self._store(queue)
        return made


class CreateForgetsProperties(Fault):
    """Label, type and quota given at the creation of a queue are forgotten."""

    name = "create-forgets-properties"
    suite = "properties"
    breaks = (*_CREATED, *_SET, *dmpr("3.1.7.1.9.queue-quota"))
    replaces = ("queues", _DroppingCreate)


class _IdleSet(Queues):
    def set(self, format_name: str, given: dict[str, Json]) -> None:
        queue = self._owner(format_name)
        before = dict(queue.properties)
        super().set(format_name, given)
        queue.properties |= {name: before[name] for name in given}


class SetChangesNothing(Fault):
    """Setting properties succeeds and changes only the modify time."""

    name = "set-changes-nothing"
    suite = "properties"
    breaks = ("MQMP-3.1.4.10.set", "MQMP-3.1.4.10.every-property", *_SET)
    replaces = ("queues", _IdleSet)


class _ResettingSet(Queues):
    def set(self, format_name: str, given: dict[str, Json]) -> None:
        super().set(format_name, given)
        queue = self._owner(format_name)
        for name, default in self.defaults().items():
            if name not in given and name != "PROPID_Q_TRANSACTION":
                queue.properties[name] = default
        self._store(queue)


class SetResetsOthers(Fault):
    """Setting one property gives all others their defaults."""

    name = "set-resets-others"
    suite = "properties"
    breaks = ("MQMP-3.1.4.10.others-unchanged", *_SET, *_CREATED)
    replaces = ("queues", _ResettingSet)


class _PartialSet(Queues):
    def set(self, format_name: str, given: dict[str, Json]) -> None:
        queue = self._owner(format_name)
        for name, value in given.items():
            queue.properties |= self.properties_to_keep({name: value}, creating=False)
        super().set(format_name, given)


class RefusedSetKeepsFirst(Fault):
    """A set that is refused for one property has changed those named before it."""

    name = "refused-set-keeps-first"
    suite = "properties"
    breaks = ("MQMP-3.1.4.10.refused-unchanged", *_SET, *_VALUES)
    replaces = ("queues", _PartialSet)


class _StandingTime(Queues):
    def set(self, format_name: str, given: dict[str, Json]) -> None:
        queue = self._owner(format_name)
        before = queue.properties["PROPID_Q_MODIFY_TIME"]
        super().set(format_name, given)
        queue.properties["PROPID_Q_MODIFY_TIME"] = before


class ModifyTimeStands(Fault):
    """The modify time of a queue stays that of its creation."""

    name = "modify-time-stands"
    suite = "properties"
    breaks = ("MQMQ-2.3.1.10.propid-q-modify-time", *dmpr("3.1.1.2.modify-time"))
    replaces = ("queues", _StandingTime)


class _Milliseconds(Queues):
    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        found = super().get(format_name, names)
        return {name: value * 1000 if name.endswith("_TIME") else value for name, value in found.items()}


class QueueTimesInMilliseconds(Fault):
    """Create time and modify time of a queue count milliseconds."""

    name = "queue-times-in-milliseconds"
    suite = "properties"
    breaks = (
        *("MQMQ-2.3.1.9.propid-q-create-time", "MQMQ-2.3.1.10.propid-q-modify-time"),
        *dmpr("3.1.7.1.3.create-time", "3.1.7.1.3.modify-time", "3.1.1.2.create-time", "3.1.1.2.modify-time"),
    )
    replaces = ("queues", _Milliseconds)


class _Convertible(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        return super().properties_to_keep(given, creating=creating or "PROPID_Q_TRANSACTION" in given)


class TransactionLevelCanBeSet(Fault):
    """A queue can be made transactional, or the opposite, after its creation."""

    name = "transaction-level-can-be-set"
    suite = "properties"
    breaks = (
        "MQMP-3.1.1.12.set-not-applicable",
        "MQMP-3.1.1.12.set-not-applicable-unchanged",
        "MQMQ-2.3.1.13.propid-q-transaction",
        "MQMQ-2.4.mq-error-property-notallowed",
        *dmpr("3.1.7.1.3.attribute-transactional", "3.1.1.2.transactional"),
    )
    replaces = ("queues", _Convertible)


class _Writable(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        others = {name: value for name, value in given.items() if not name.endswith(("INSTANCE", "_TIME", "QMID"))}
        return super().properties_to_keep(others, creating=creating)


class ReadOnlyPropertiesAccepted(Fault):
    """Setting the instance, a time or the manager of a queue succeeds and does nothing."""

    name = "read-only-properties-accepted"
    suite = "properties"
    breaks = (
        "MQMP-3.1.1.12.set-not-applicable",
        "MQMP-3.1.1.12.create-not-applicable",
        "MQMQ-2.4.mq-error-property-notallowed",
        "MQMQ-2.3.1.1.propid-q-instance",
        "MQMQ-2.3.1.9.propid-q-create-time",
        "MQMQ-2.3.1.10.propid-q-modify-time",
        "MQMQ-2.3.1.15.propid-q-qmid",
    )
    replaces = ("queues", _Writable)


class _Clamping(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        flags = ("PROPID_Q_JOURNAL", "PROPID_Q_AUTHENTICATE", "PROPID_Q_TRANSACTION")
        clamped = {
            name: min(value, 1 if name in flags else 2)
            if name in (*flags, "PROPID_Q_PRIV_LEVEL") and type(value) is int and value > 0
            else value
            for name, value in given.items()
        }
        return super().properties_to_keep(clamped, creating=creating)


class PropertyValuesClamped(Fault):
    """A value above the greatest of a property is taken for the greatest."""

    name = "property-values-clamped"
    suite = "properties"
    breaks = (
        "MQMP-3.1.4.5.property-type",
        "MQMP-3.1.4.10.property-type",
        *_VALUES,
        "MQMQ-2.4.mq-error-illegal-property-value",
    )
    replaces = ("queues", _Clamping)


class _Vague(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        try:
            return super().properties_to_keep(given, creating=creating)
        except MqError as refused:
            known = (MQ_ERROR_ILLEGAL_PROPERTY_VALUE, MQ_ERROR_ILLEGAL_PROPID, MQ_ERROR_PROPERTY_NOTALLOWED)
            raise MqError(MQ_ERROR if refused.status in known else refused.status) from None


class PropertyRefusalGeneric(Fault):
    """A property that cannot be set is refused with the generic MQ_ERROR."""

    name = "property-refusal-generic"
    suite = "properties"
    breaks = (
        "MQMP-3.1.4.10.property-type-code",
        "MQMQ-2.4.mq-error-illegal-property-value",
        "MQMQ-2.4.mq-error-illegal-propid",
        "MQMQ-2.4.mq-error-property-notallowed",
        "MQMQ-2.4.mq-error-illegal-property-vt",
        "MQMQ-2.4.mq-error-illegal-property-size",
    )
    replaces = ("queues", _Vague)


class _Tolerant(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        kept: dict[str, Json] = {}
        for name, value in given.items():
            try:
                kept |= super().properties_to_keep({name: value}, creating=creating)
            except MqError as refused:
                if refused.status != MQ_ERROR_ILLEGAL_PROPID:
                    raise
        return kept


class UnknownPropertiesIgnored(Fault):
    """A property that does not exist is passed over when it is set."""

    name = "unknown-properties-ignored"
    suite = "properties"
    breaks = (
        "MQMP-3.1.1.12.set-not-applicable",
        "MQMP-3.1.1.12.create-not-applicable",
        "MQMP-3.1.4.5.unknown-property",
        "MQMP-3.1.4.10.unknown-property",
        "MQMP-3.1.4.5.refused-no-queue",
        "MQMQ-2.4.mq-error-illegal-propid",
        *dmpr("3.1.7.1.3.success"),
    )
    replaces = ("queues", _Tolerant)


QUEUE_ATTRIBUTE_FAULTS: tuple[type[Fault], ...] = (
    DefaultLabelNotEmpty,
    DefaultQuotaLimited,
    DefaultPrivacyNone,
    DefaultAuthenticated,
    CreateForgetsProperties,
    SetChangesNothing,
    SetResetsOthers,
    RefusedSetKeepsFirst,
    ModifyTimeStands,
    QueueTimesInMilliseconds,
    TransactionLevelCanBeSet,
    ReadOnlyPropertiesAccepted,
    PropertyValuesClamped,
    PropertyRefusalGeneric,
    UnknownPropertiesIgnored,
)
