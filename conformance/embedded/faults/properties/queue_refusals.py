"""Faults of calls that cannot write or read a property, or find no queue (MS-MQMP 3.1.1.12, 3.1.4.5, .9 and .10)."""

from __future__ import annotations

from typing import Any

from conformance.embedded import queue_properties
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.queues import Queues
from conformance.spec.constants.hresults import MQ_ERROR_QUEUE_NOT_FOUND
from conformance.spec.constants.property_ids import QUEUE_PROPERTIES

Json = Any
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
