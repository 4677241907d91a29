"""Faults of what a new queue is: its defaults, its path name, its number and its kind (MS-MQDMPR 3.1.7.1.3, .33)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from conformance.embedded.entities import Queue
from conformance.embedded.faults.base import fault, row
from conformance.embedded.queues import Queues

Json = Any


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


for _property, _value, _name, _story, _breaks in _DEFAULTS:
    row(__name__, "queues", _name, _story, _breaks, subclass_of=_OtherDefault, changed={_property: _value})
