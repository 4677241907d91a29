"""Faults of queue properties: defaults, the values a set stores or refuses, and those a get returns (MS-MQMQ 2.3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import Fault
from conformance.embedded.queues import Queues
from conformance.embedded.store import QueueRow, Store
from conformance.spec.constants.hresults import (
    MQ_ERROR,
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_ILLEGAL_PROPID,
    MQ_ERROR_PROPERTY_NOTALLOWED,
)

Json = Any


class _OtherDefaults(Queues):
    changed: ClassVar[Mapping[str, Json]] = {}

    def defaults(self) -> dict[str, Json]:
        return {**super().defaults(), **self.changed}


class _PathAsLabel(_OtherDefaults):
    changed: ClassVar[Mapping[str, Json]] = {"PROPID_Q_LABEL": "Queue"}


class DefaultLabelNotEmpty(Fault):
    """A queue created without a label has the label "Queue"."""

    name = "default-label-not-empty"
    breaks = ("MQDMPR-3.1.7.1.33.default-label",)
    replaces = ("queues", _PathAsLabel)


class _ZeroQuotas(_OtherDefaults):
    changed: ClassVar[Mapping[str, Json]] = {"PROPID_Q_QUOTA": 0x00100000, "PROPID_Q_JOURNAL_QUOTA": 0x00100000}


class DefaultQuotaLimited(Fault):
    """A queue created without quotas has limited ones."""

    name = "default-quota-limited"
    breaks = (
        "MQDMPR-3.1.7.1.33.default-quota",
        "MQDMPR-3.1.7.1.33.default-journal-quota",
    )
    replaces = ("queues", _ZeroQuotas)


class _PrivacyNone(_OtherDefaults):
    changed: ClassVar[Mapping[str, Json]] = {"PROPID_Q_PRIV_LEVEL": 0}


class DefaultPrivacyNone(Fault):
    """A queue created without a privacy level has None."""

    name = "default-privacy-none"
    breaks = (
        "MQDMPR-3.1.7.1.33.default-privacy-level",
        "MQMQ-2.3.1.12.mq-priv-level-optional",
    )
    replaces = ("queues", _PrivacyNone)


class _Authenticated(_OtherDefaults):
    changed: ClassVar[Mapping[str, Json]] = {"PROPID_Q_AUTHENTICATE": 1}


class DefaultAuthenticated(Fault):
    """A queue created without saying so takes authenticated messages only."""

    name = "default-authenticated"
    breaks = ("MQDMPR-3.1.7.1.33.default-authentication",)
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
    breaks = (
        "MQDMPR-3.1.7.1.3.attribute-label",
        "MQDMPR-3.1.7.1.3.attribute-type",
        "MQDMPR-3.1.7.1.3.attribute-quota",
    )
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
    breaks = (
        "MQMP-3.1.4.10.every-property",
        "MQMP-3.1.4.10.set",
        "MQDMPR-3.1.1.2.type-not-interpreted",
    )
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
    breaks = ("MQMP-3.1.4.10.others-unchanged",)
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
    breaks = ("MQMP-3.1.4.10.refused-unchanged",)
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
    breaks = ("MQDMPR-3.1.1.2.modify-time",)
    replaces = ("queues", _StandingTime)


class _Milliseconds(Queues):
    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        found = super().get(format_name, names)
        return {name: value * 1000 if name.endswith("_TIME") else value for name, value in found.items()}


class QueueTimesInMilliseconds(Fault):
    """Create time and modify time of a queue count milliseconds."""

    name = "queue-times-in-milliseconds"
    breaks = (
        "MQDMPR-3.1.7.1.3.create-time",
        "MQDMPR-3.1.7.1.3.modify-time",
        "MQDMPR-3.1.1.2.modify-time",
        "MQMQ-2.3.1.9.propid-q-create-time",
    )
    replaces = ("queues", _Milliseconds)


class _Convertible(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        return super().properties_to_keep(given, creating=creating or "PROPID_Q_TRANSACTION" in given)


class TransactionLevelCanBeSet(Fault):
    """A queue can be made transactional, or the opposite, after its creation."""

    name = "transaction-level-can-be-set"
    breaks = (
        "MQMP-3.1.1.12.set-not-applicable-unchanged",
        "MQMP-3.1.1.12.set-not-applicable",
        "MQDMPR-3.1.7.1.3.attribute-transactional",
    )
    replaces = ("queues", _Convertible)


class _Writable(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        others = {name: value for name, value in given.items() if not name.endswith(("INSTANCE", "_TIME", "QMID"))}
        return super().properties_to_keep(others, creating=creating)


class ReadOnlyPropertiesAccepted(Fault):
    """Setting the instance, a time or the manager of a queue succeeds and does nothing."""

    name = "read-only-properties-accepted"
    breaks = ("MQMP-3.1.1.12.set-not-applicable",)
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
    breaks = (
        "MQMQ-2.3.1.4.values",
        "MQMQ-2.3.1.11.values",
        "MQMQ-2.3.1.12.values",
        "MQMQ-2.3.1.13.values",
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
    breaks = (
        "MQMP-3.1.4.10.property-type-code",
        "MQMQ-2.4.mq-error-property-notallowed",
        "MQMQ-2.4.mq-error-illegal-property-value",
        "MQMQ-2.4.mq-error-illegal-propid",
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
    breaks = ("MQMP-3.1.4.10.unknown-property",)
    replaces = ("queues", _Tolerant)


class _Plain(Store):
    def queues(self) -> list[QueueRow]:
        plain = {"PROPID_Q_LABEL": "", "PROPID_Q_QUOTA": 0xFFFFFFFF, "PROPID_Q_JOURNAL": 0, "PROPID_Q_PRIV_LEVEL": 1}
        return [
            replace(row, properties={**row.properties, **plain}) if row.properties else row for row in super().queues()
        ]


class RecoveryForgetsProperties(Fault):
    """After a start, label, quota, journaling and privacy level of a queue have their defaults."""

    name = "recovery-forgets-properties"
    breaks = (
        "MQDMPR-3.1.1.2.private-attributes-persistent",
        "MQDMPR-3.1.1.persistent-survives",
    )
    replaces = ("store", _Plain)
