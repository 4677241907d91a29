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


@follows("R-MQMP-property-status=summary", "queues")
class _Summary(Queues):
    """A call fails with MQ_ERROR_PROPERTY, whatever is wrong with a property."""

    def properties_to_keep(self, given: dict[str, Json], *, creating: bool) -> dict[str, Json]:
        try:
            return super().properties_to_keep(given, creating=creating)
        except MqError as failure:
            raise _summed(failure) from None

    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        try:
            return super().get(format_name, names)
        except MqError as failure:
            raise _summed(failure) from None


def _summed(failure: MqError) -> MqError:
    return MqError(MQ_ERROR_PROPERTY) if failure.status in _OF_PROPERTIES else failure


@follows("R-MQMP-property-not-applicable=ignored", "queues")
class _PassesOver(Queues):
    """A property that a call cannot write or tell is passed over: the call does the rest, and says so in its status."""

    def create(self, path_name: str, given: dict[str, Json]) -> str:
        kept = {name: value for name, value in given.items() if name in SETTABLE or name == "PROPID_Q_PATHNAME"}
        format_name = super().create(path_name, kept)
        if len(kept) < len(given):
            raise MqError(MQ_INFORMATION_PROPERTY, {"format_name": format_name})
        return format_name

    def set(self, format_name: str, given: dict[str, Json]) -> None:
        kept = {name: value for name, value in given.items() if name in SETTABLE and SETTABLE[name].after_creation}
        super().set(format_name, kept)
        if len(kept) < len(given):
            raise MqError(MQ_INFORMATION_PROPERTY)

    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        found = super().get(format_name, [name for name in names if name in SETTABLE or name in COMPUTED])
        if len(found) < len(names):
            raise MqError(MQ_INFORMATION_PROPERTY, {"properties": found})
        return found


@follows("R-MQMQ-private-base-priority=kept", "queues")
class _KeepsPriority(Queues):
    """A private queue has the base priority that was written last."""

    def only_public(self, properties: dict[str, Json], private: bool) -> None:
        pass


def _held(queue: Queue | None) -> int:
    """Return the bytes of messages that a transaction or a begun receive holds; transfers hold nothing."""
    away = queue is not None and queue.kind == "outgoing"
    return sum(
        each.message.size
        for each in (() if queue is None else queue.positions)
        if each.uncommitted or (each.state is not State.AVAILABLE and not away)
    )


@follows("total-bytes=available", "queues")
class _CountsAvailable(Queues):
    """The bytes of a queue are those of its available messages."""

    def counts(self, format_name: str) -> dict[str, Json]:
        answer = super().counts(format_name)
        return {**answer, "bytes": answer["bytes"] - _held(self.managed(format_name))}


@follows("total-bytes=available", "management")
class _ShowsAvailable(Management):
    """So says management."""

    def bytes_in_queue(self, queue: Queue) -> int:
        return super().bytes_in_queue(queue) - _held(queue)

    def bytes_in_all_queues(self) -> str:
        return str(int(super().bytes_in_all_queues()) - sum(map(_held, self.manager.queues.all())))
