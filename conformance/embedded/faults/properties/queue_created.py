"""Faults of what a new queue is: its defaults, its path name, its number and its kind (MS-MQDMPR 3.1.7.1.3, .33)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from conformance.embedded.entities import Queue
from conformance.embedded.faults.base import Fault, fault
from conformance.embedded.queues import Queues

Json = Any


class _OtherDefault(Queues):
    changed: ClassVar[Mapping[str, Json]] = {}

    def defaults(self) -> dict[str, Json]:
        return {**super().defaults(), **self.changed}


def _default(name: str, value: Json) -> type[Queues]:
    return type("_OtherDefault", (_OtherDefault,), {"changed": {name: value}})


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


class _BasePriorityOne(Queues):
    def create(self, path_name: str, given: dict[str, Json]) -> str:
        made = super().create(path_name, given)
        if "PROPID_Q_BASEPRIORITY" not in given:
            self._existing(made).properties["PROPID_Q_BASEPRIORITY"] = 1
        return made


class DefaultBasePriorityOne(Fault):
    """A queue created without a base priority has 1."""

    name = "default-base-priority-one"
    breaks = (
        "MQDMPR-3.1.7.1.33.default-base-priority",
        "MQMQ-2.3.1.6.priority-level",
    )
    replaces = ("queues", _BasePriorityOne)


class _SaysTransactional(Queues):
    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        told = super().get(format_name, names)
        return told | {"PROPID_Q_TRANSACTION": 1} if "PROPID_Q_TRANSACTION" in told else told


class DefaultSaysTransactional(Fault):
    """A queue that is not transactional says that it is."""

    name = "default-says-transactional"
    breaks = (
        "MQDMPR-3.1.7.1.33.default-transactional",
        "MQMQ-2.3.1.13.mq-transactional-none",
        "MQDMPR-3.1.7.1.3.attribute-transactional",
    )
    replaces = ("queues", _SaysTransactional)


class _OneMore(Queues):
    def create(self, path_name: str, given: dict[str, Json]) -> str:
        made = super().create(path_name, given)
        if "PROPID_Q_BASEPRIORITY" in given:
            self._existing(made).properties["PROPID_Q_BASEPRIORITY"] = given["PROPID_Q_BASEPRIORITY"] + 1
        return made


class CreateRaisesBasePriority(Fault):
    """A queue created with a base priority has one more, be it private or public."""

    name = "create-raises-base-priority"
    breaks = (
        "MQDMPR-3.1.7.1.3.attribute-base-priority",
        "MQMQ-2.3.1.6.priority-level",
    )
    replaces = ("queues", _OneMore)


class _Numbered(Queues):
    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        told = super().get(format_name, names)
        if "PROPID_Q_PATHNAME" in told:
            head, separator, _ = str(told["PROPID_Q_PATHNAME"]).rpartition("\\")
            told["PROPID_Q_PATHNAME"] = f"{head}{separator}{self._existing(format_name).number}"
        return told


class PathNameTellsNumber(Fault):
    """The path name of a queue ends with its number instead of its name."""

    name = "path-name-tells-number"
    breaks = ("MQDMPR-3.1.7.1.3.attribute-pathname",)
    replaces = ("queues", _Numbered)


class _Private(Queues):
    def direct_name(self, queue: Queue) -> str:
        if queue.kind == "private":
            return f"PRIVATE={self.manager.guid}\\{queue.number:08x}"
        return super().direct_name(queue)


class _OneNumber(_Private):
    """Gives out private format names, and the same number to every queue."""

    def _add(self, identifier: str, kind: str, path: str, number: int, properties: dict[str, Json]) -> Queue:
        return super()._add(identifier, kind, path, 1, properties)


class PrivateNumbersRepeat(Fault):
    """Private queues are known by private format names, and every one has the number 1."""

    name = "private-numbers-repeat"
    breaks = ("MQDMPR-3.1.7.1.3.private-queue-number",)
    replaces = ("queues", _OneNumber)


class _Published(Queues):
    def get(self, format_name: str, names: list[Json]) -> dict[str, Json]:
        told = super().get(format_name, names)
        if "PROPID_Q_PATHNAME" in told:
            told["PROPID_Q_PATHNAME"] = str(told["PROPID_Q_PATHNAME"]).replace("\\private$\\", "\\")
        return told


class PrivateQueueIsPublic(Fault):
    """A queue created under a private path name says that it is a public one."""

    name = "private-queue-is-public"
    breaks = ("MQDMPR-3.1.7.1.3.private-type",)
    replaces = ("queues", _Published)


for _property, _value, _name, _story, _breaks in _DEFAULTS:
    fault(__name__, _name, _story, _breaks, ("queues", _default(_property, _value)))
