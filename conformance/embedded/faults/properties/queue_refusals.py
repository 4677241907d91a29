"""Faults of calls that cannot write or read a property, or find no queue (MS-MQMP 3.1.1.12, 3.1.4.5, .9 and .10)."""

from __future__ import annotations

from typing import Any

from conformance.embedded import queue_properties
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import Fault
from conformance.embedded.queues import Queues
from conformance.spec.constants.hresults import MQ_ERROR_QUEUE_NOT_FOUND
from conformance.spec.constants.property_ids import QUEUE_PROPERTIES

Json = Any
_NUMBERS = ("PROPID_Q_QUOTA", "PROPID_Q_JOURNAL_QUOTA", "PROPID_Q_JOURNAL", "PROPID_Q_AUTHENTICATE")


class _UnknownAtCreation(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        kept = {name: value for name, value in given.items() if not creating or name in QUEUE_PROPERTIES}
        return super().properties_to_keep(kept, creating=creating)


class CreatePassesOverUnknown(Fault):
    """Creating a queue with a property that does not exist succeeds without it."""

    name = "create-passes-over-unknown"
    breaks = ("MQMP-3.1.4.5.unknown-property", "MQMQ-2.4.mq-error-illegal-propid")
    replaces = ("queues", _UnknownAtCreation)


class _ReadOnlyAtCreation(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        kept = {name: value for name, value in given.items() if not creating or name not in queue_properties.COMPUTED}
        return super().properties_to_keep(kept, creating=creating)


class CreateAcceptsReadOnly(Fault):
    """Creating a queue with an identifier, a time or a manager succeeds without it."""

    name = "create-accepts-read-only"
    breaks = ("MQMP-3.1.1.12.create-not-applicable",)
    replaces = ("queues", _ReadOnlyAtCreation)


class _Numerals(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        read = {
            name: int(value) if name in _NUMBERS and isinstance(value, str) and value.isdecimal() else value
            for name, value in given.items()
        }
        return super().properties_to_keep(read, creating=creating)


class NumeralsTakenForNumbers(Fault):
    """A text of digits is taken for the number where a quota, journaling or authentication is written."""

    name = "numerals-taken-for-numbers"
    breaks = (
        "MQMP-3.1.4.5.property-type",
        "MQMP-3.1.4.10.property-type",
        "MQMQ-2.3.1.5.propid-q-quota",
        "MQMQ-2.3.1.7.propid-q-journal-quota",
    )
    replaces = ("queues", _Numerals)


class _NothingIsDefault(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        filled = {name: self.defaults().get(name) if value is None else value for name, value in given.items()}
        return super().properties_to_keep(filled, creating=creating)


class NothingTakenForDefault(Fault):
    """A property written without a value has its default."""

    name = "nothing-taken-for-default"
    breaks = ("MQMP-3.1.4.5.property-type", "MQMP-3.1.4.10.property-type")
    replaces = ("queues", _NothingIsDefault)


class _Wrapping(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        wrapped = {
            name: value & 0xFFFFFFFF if name.endswith("QUOTA") and isinstance(value, int) else value
            for name, value in given.items()
        }
        return super().properties_to_keep(wrapped, creating=creating)


class QuotasWrap(Fault):
    """A quota that 32 bits do not hold loses the bits above."""

    name = "quotas-wrap"
    breaks = (
        "MQMQ-2.3.1.5.propid-q-quota",
        "MQMQ-2.3.1.7.propid-q-journal-quota",
        "MQMP-3.1.4.5.property-type",
        "MQMP-3.1.4.10.property-type",
    )
    replaces = ("queues", _Wrapping)


class _MadeAllTheSame(Queues):
    def create(self, path_name: str, given: dict[str, Json]) -> str:
        try:
            self.properties_to_keep(self.without_path_name(given, self.manager.names.path(path_name)), creating=True)
        except MqError:
            super().create(path_name, {})
            raise
        return super().create(path_name, given)


class RefusedCreateLeavesQueue(Fault):
    """A creation refused for one of its properties leaves a queue without them behind."""

    name = "refused-create-leaves-queue"
    breaks = ("MQMP-3.1.4.5.refused-no-queue",)
    replaces = ("queues", _MadeAllTheSame)


class _Partial(Queues):
    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        known = queue_properties.SETTABLE.keys() | queue_properties.COMPUTED
        return super().get(format_name, [name for name in names if name in known])


class GetPassesOverUnknown(Fault):
    """Reading a property that does not exist succeeds without it."""

    name = "get-passes-over-unknown"
    breaks = ("MQMP-3.1.4.9.unknown-property",)
    replaces = ("queues", _Partial)


class _MachineToo(Queues):
    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        machine = {name: 0 for name in names if str(name).startswith("PROPID_QM_")}
        return {**super().get(format_name, [name for name in names if name not in machine]), **machine}


class GetTellsMachineProperties(Fault):
    """Reading a property of the machine from a queue succeeds and tells 0."""

    name = "get-tells-machine-properties"
    breaks = ("MQMP-3.1.4.9.unknown-property",)
    replaces = ("queues", _MachineToo)


class _KeepsDirectory(Queues):
    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        directory = ("PROPID_Q_PARTITIONID", "PROPID_Q_HASHKEY", "PROPID_Q_LABEL_HASHKEY", "PROPID_Q_SECURITY")
        kept = {name: value for name, value in given.items() if name not in directory}
        return super().properties_to_keep(kept, creating=creating)


class DirectoryPropertiesAccepted(Fault):
    """Partition, hash keys and security of a private queue are accepted by creation and setting, and do nothing."""

    name = "directory-properties-accepted"
    breaks = ("MQMP-3.1.1.12.create-not-applicable", "MQMP-3.1.1.12.set-not-applicable")
    replaces = ("queues", _KeepsDirectory)


class _DefaultsOfNone(Queues):
    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        try:
            return super().get(format_name, names)
        except MqError as refused:
            defaults = self.defaults()
            if refused.status != MQ_ERROR_QUEUE_NOT_FOUND or not set(names) <= set(defaults):
                raise
            return {name: defaults[name] for name in names}


class GetOfMissingQueueTellsDefaults(Fault):
    """Reading properties of a queue that does not exist succeeds and tells the defaults."""

    name = "get-of-missing-queue-tells-defaults"
    breaks = ("MQMP-3.1.4.9.unknown-queue",)
    replaces = ("queues", _DefaultsOfNone)


class _SetsNone(Queues):
    def set(self, format_name: str, given: dict[str, Json]) -> None:
        try:
            super().set(format_name, given)
        except MqError as refused:
            if refused.status != MQ_ERROR_QUEUE_NOT_FOUND:
                raise


class SetOfMissingQueueSucceeds(Fault):
    """Setting properties of a queue that does not exist succeeds and does nothing."""

    name = "set-of-missing-queue-succeeds"
    breaks = ("MQMP-3.1.4.10.unknown-queue",)
    replaces = ("queues", _SetsNone)


class _NotEmpty(Queues):
    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        found = super().get(format_name, names)
        return {name: value for name, value in found.items() if name != "PROPID_Q_LABEL" or value}


class GetLeavesOutEmptyLabel(Fault):
    """Reading the properties of a queue without a label leaves the label out."""

    name = "get-leaves-out-empty-label"
    breaks = ("MQMP-3.1.4.9.get",)
    replaces = ("queues", _NotEmpty)
