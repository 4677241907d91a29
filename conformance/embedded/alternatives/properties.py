"""Alternatives of readings about properties of queues, and about what is counted of their messages."""

from __future__ import annotations

from typing import Any, Final

from conformance.embedded.alternatives.base import follows
from conformance.embedded.entities import MqError, Queue, State
from conformance.embedded.management import Management
from conformance.embedded.queue_properties import COMPUTED, SETTABLE
from conformance.embedded.queues import Queues
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_ILLEGAL_PROPID,
    MQ_ERROR_PROPERTY,
    MQ_ERROR_PROPERTY_NOTALLOWED,
    MQ_INFORMATION_PROPERTY,
)

Json = Any
_OF_PROPERTIES: Final = (MQ_ERROR_ILLEGAL_PROPERTY_VALUE, MQ_ERROR_ILLEGAL_PROPID, MQ_ERROR_PROPERTY_NOTALLOWED)


@follows("R-MQMP-property-status=summary", Queues.properties_to_keep)
def mqmp_property_status_summary(plain, self, given, *, creating):
    """A call fails with MQ_ERROR_PROPERTY, whatever is wrong with a property."""
    try:
        return plain(given, creating=creating)
    except MqError as failure:
        raise _summed(failure) from None


@follows("R-MQMP-property-status=summary", Queues.get)
def mqmp_property_status_summary_get(plain, self, format_name, names):
    try:
        return plain(format_name, names)
    except MqError as failure:
        raise _summed(failure) from None


def _summed(failure: MqError) -> MqError:
    return MqError(MQ_ERROR_PROPERTY) if failure.status in _OF_PROPERTIES else failure


@follows("R-MQMP-property-not-applicable=ignored", Queues.create)
def mqmp_property_not_applicable_ignored(plain, self, path_name, given):
    """A property that a call cannot write or tell is passed over: the call does the rest, and says so in its status."""
    kept = {name: value for name, value in given.items() if name in SETTABLE or name == "PROPID_Q_PATHNAME"}
    format_name = plain(path_name, kept)
    if len(kept) < len(given):
        raise MqError(MQ_INFORMATION_PROPERTY, {"format_name": format_name})
    return format_name


@follows("R-MQMP-property-not-applicable=ignored", Queues.set)
def mqmp_property_not_applicable_ignored_set(plain, self, format_name, given):
    kept = {name: value for name, value in given.items() if name in SETTABLE and SETTABLE[name].after_creation}
    plain(format_name, kept)
    if len(kept) < len(given):
        raise MqError(MQ_INFORMATION_PROPERTY)


@follows("R-MQMP-property-not-applicable=ignored", Queues.get)
def mqmp_property_not_applicable_ignored_get(plain, self, format_name, names):
    found = plain(format_name, [name for name in names if name in SETTABLE or name in COMPUTED])
    if len(found) < len(names):
        raise MqError(MQ_INFORMATION_PROPERTY, {"properties": found})
    return found


@follows("R-MQMQ-private-base-priority=kept", Queues.only_public)
def mqmq_private_base_priority_kept(plain, self, properties, private):
    """A private queue has the base priority that was written last."""


def _held(queue: Queue | None) -> int:
    """Return the bytes of messages that a transaction or a begun receive holds; transfers hold nothing."""
    away = queue is not None and queue.kind == "outgoing"
    return sum(
        each.message.size
        for each in (() if queue is None else queue.positions)
        if each.uncommitted or (each.state is not State.AVAILABLE and not away)
    )


@follows("total-bytes=available", Queues.counts)
def total_bytes_available(plain, self, format_name):
    """The bytes of a queue are those of its available messages."""
    answer = plain(format_name)
    return {**answer, "bytes": answer["bytes"] - _held(self.managed(format_name))}


@follows("total-bytes=available", Management.bytes_in_queue)
def total_bytes_available_bytes_in_queue(plain, self, queue):
    """So says management."""
    return plain(queue) - _held(queue)


@follows("total-bytes=available", Management.bytes_in_all_queues)
def total_bytes_available_bytes_in_all_queues(plain, self):
    return str(int(plain()) - sum(map(_held, self.manager.queues.all())))
