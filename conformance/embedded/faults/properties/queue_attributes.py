"""Faults of queue properties: defaults, the values a set stores or refuses, and those a get returns (MS-MQMQ 2.3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.queues import Queues
from conformance.embedded.store import Store
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
