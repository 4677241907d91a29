"""Faults of MSMQQueueInfo (MC-MQAC 3.10): its properties, what it refers to, and its methods."""

from __future__ import annotations

from typing import Any

from conformance.embedded.entities import MqError, Queue
from conformance.embedded.faults.base import Fault, fault
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.queue_info import PATH, QueueInfoObject
from conformance.embedded.objects.queue_info_properties import Property
from conformance.embedded.objects.queue_names import QueueNames
from conformance.embedded.objects.variants import Variant, text

_S = "MQAC-3.10.4.1."
PUTS = {
    "ServiceTypeGuid": "3.input-ref-queue-type",
    "Label": "5.input-ref-queue-label-bstr-label",
    "PrivLevel": "12.input-ref-queue-privacy-level",
    "Journal": "14.true-ref-queue-journaling",
    "Quota": "16.input-ref-queue-quota-i-quota",
    "BasePriority": "18.input-ref-queue-base-priority",
    "Authenticate": "22.true-ref-queue-authentication-0x00000001",
    "JournalQuota": "24.1000-ref-queue-journal-quota",
    "MulticastAddress": "38.input-queue-multicast-address",
}
"""Properties with the demand that put keeps what it is given."""
ELSEWHERE: dict[str, tuple[str, Any]] = {
    "PrivLevel": ("11.output-p-i-priv-level-mq-priv-level-optional", 0),
    "Journal": ("13.output-p-journal-mq-journal-none", 1),
    "Quota": ("15.output-p-i-quota-0xffffffff-parameter", 0),
    "JournalQuota": ("23.output-pl-journal-quota-0xffffffff-parameter", 0),
    "Authenticate": ("21.output-pl-authenticate-mq-authenticate-none", 1),
    "QueueGuid": ("1.output-pbstr-guid-queue-null-parameter", "00000000-0000-0000-0000-000000000000"),
    "ModifyTime": ("20.output-pvar-modify-time-time-t", 1),
}
"""Properties of a queue of the computer: the demand, and another value."""
GETTERS = {
    "QueueGuid": "1", "ServiceTypeGuid": "2", "Label": "4", "PathName": "6", "IsTransactional": "10",
    "PrivLevel": "11", "Journal": "13", "Quota": "15", "BasePriority": "17", "CreateTime": "19", "ModifyTime": "20",
    "Authenticate": "21", "JournalQuota": "23", "IsTransactional2": "35", "MulticastAddress": "37",
}  # fmt: skip
"""Getters that refresh, with their number in 3.10.4.1."""


def _spoken(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("-")


def _register(name: str, story: str, breaks: tuple[str, ...], **methods: Any) -> None:
    deviating = type("_Deviating", (QueueInfoObject,), methods)
    fault(__name__, name, story, breaks, ("queue_info", deviating))


def _forgets(name: str) -> Any:
    def write(self: Any, row: Property, value: Any) -> None:
        before, put = self.ref[row.stored], set(self.put)
        QueueInfoObject.write(self, row, value)
        if row.name == name:
            self.ref[row.stored], self.put = before, put

    return write


def _tells(name: str, value: Any) -> Any:
    def read(self: Any, row: Property) -> Variant:
        found = QueueInfoObject.read(self, row)
        is_it = row.name == name and not self.is_application_queue and row.stored not in self.put
        return row.tell(value) if is_it else found

    return read


def _stale(name: str) -> Any:
    def read(self: Any, row: Property) -> Variant:
        if row.name == name and not self.is_refreshed:
            return row.tell(row.value(self))
        return QueueInfoObject.read(self, row)

    return read


def _own_code(name: str) -> Any:
    def read(self: Any, row: Property) -> Variant:
        try:
            return QueueInfoObject.read(self, row)
        except MqError:
            if row.name == name:
                return text(None)
            raise

    return read


for _name, _word in PUTS.items():
    _register(
        f"queue-info-forgets-{_spoken(_name)}", f"put {_name} answers success and changes nothing.", (_S + _word,),
        write=_forgets(_name),
    )  # fmt: skip
for _name, (_word, _value) in ELSEWHERE.items():
    _register(
        f"queue-of-the-computer-has-{_spoken(_name)}", f"{_name} of a queue of the computer is {_value!r}.",
        (_S + _word,), read=_tells(_name, _value),
    )  # fmt: skip
for _name, _number in GETTERS.items():
    _register(
        f"queue-info-tells-{_spoken(_name)}-without-looking", f"get {_name} does not refresh.",
        (f"{_S}{_number}.call-is-refreshed-false-refresh", f"{_S}{_number}.refresh-failure"), read=_stale(_name),
    )  # fmt: skip
    _register(
        f"queue-info-has-{_spoken(_name)}-of-nothing", f"get {_name} succeeds where its refresh fails.",
        (f"{_S}{_number}.refresh-failure", f"{_S}{_number}.refresh-failure-code"), read=_own_code(_name),
    )  # fmt: skip


def _priority_in_32_bits(self: Any, row: Property, value: Any) -> None:
    if row.name == "BasePriority" and not -32768 <= value <= 32767:
        return
    QueueInfoObject.write(self, row, value)


def _priority_code(self: Any, row: Property, value: Any) -> None:
    try:
        QueueInfoObject.write(self, row, value)
    except MqError:
        raise MqError(E_INVALIDARG) from None


_PRIORITY = (_S + "18.return-mq-error-illegal-property-value", _S + "18.status")
_register("base-priority-takes-32-bits", "put BasePriority takes 32768.", _PRIORITY, write=_priority_in_32_bits)
_register(
    "base-priority-has-another-code", "put BasePriority refuses with E_INVALIDARG.", _PRIORITY, write=_priority_code
)


def _put_path(self: Any, path: str | None) -> None:
    kept = self.format_name
    QueueInfoObject.put_path_name(self, path)
    self.format_name = kept


def _put_path_refreshed(self: Any, path: str | None) -> None:
    kept = (self.is_refreshed, self.is_application_queue)
    QueueInfoObject.put_path_name(self, path)
    self.is_refreshed, self.is_application_queue = kept


def _put_format(self: Any, format_name: str | None) -> None:
    kept = self.ref[PATH]
    QueueInfoObject.put_format_name(self, format_name)
    self.ref[PATH] = kept
    self.put.add(PATH)


def _put_format_refreshed(self: Any, format_name: str | None) -> None:
    kept = (self.is_refreshed, self.is_application_queue)
    QueueInfoObject.put_format_name(self, format_name)
    self.is_refreshed, self.is_application_queue = kept


_register(
    "new-path-name-keeps-the-format-name", "put PathName leaves the format name of another queue.",
    (_S + "7.variable-queue-format-name-null",), put_path_name=_put_path,
)  # fmt: skip
_register(
    "new-path-name-keeps-properties", "put PathName leaves the properties of another queue for the queue's.",
    (_S + "7.variables-is-refreshed-is-application-queue",), put_path_name=_put_path_refreshed,
)  # fmt: skip
_register(
    "new-format-name-keeps-the-path-name", "put FormatName leaves the path name of another queue.",
    (_S + "9.ref-queue-path-name-null",), put_format_name=_put_format,
)  # fmt: skip
_register(
    "new-format-name-keeps-properties", "put FormatName leaves the properties of another queue for the queue's.",
    (_S + "9.variables-is-refreshed-is-application-queue",), put_format_name=_put_format_refreshed,
)  # fmt: skip


class _Always(QueueInfoObject):
    def is_asked(self, given: Variant) -> bool:
        return True if given.left_out else super().is_asked(given)


class CreateIsTransactionalByDefault(Fault):
    """Create without arguments makes a transactional queue."""

    name = "create-is-transactional-by-default"
    breaks = (_S + "26.is-transactional-unspecified-false-server",)
    replaces = ("queue_info", _Always)


class _Never(QueueInfoObject):
    def is_asked(self, given: Variant) -> bool:
        return False


class CreateIgnoresIsTransactional(Fault):
    """Create never makes a transactional queue."""

    name = "create-ignores-is-transactional"
    breaks = (_S + "26.input-new-queue-transactional-is-transactional",)
    replaces = ("queue_info", _Never)


class _Plain(QueueInfoObject):
    def create(self, transactional: Variant, world_readable: Variant) -> None:
        kept = dict(self.ref)
        self.ref = {PATH: kept[PATH], **self.initial_properties()}
        try:
            super().create(transactional, world_readable)
        finally:
            self.ref = kept


class CreateIgnoresProperties(Fault):
    """Create makes a queue with default properties."""

    name = "create-ignores-properties"
    breaks = (_S + "26.instantiate-new-queue-ref-queue-new",)
    replaces = ("queue_info", _Plain)


class _Again(QueueInfoObject):
    def create(self, transactional: Variant, world_readable: Variant) -> None:
        try:
            super().create(transactional, world_readable)
        except MqError as failure:
            if failure.status != 0xC00E0005:
                raise


class CreateTakesAQueueThatIsThere(Fault):
    """Create succeeds where the queue exists."""

    name = "create-takes-a-queue-that-is-there"
    breaks = (_S + "26.exists-application-queue", _S + "26.check-owner-queue-manager-application-queue")
    replaces = ("queue_info", _Again)


class _Remembering(QueueInfoObject):
    def delete(self) -> None:
        queue = self.existing_queue()
        self.manager.queues.delete(self.named())
        self.manager.objects.world_readable.discard(queue.id)


class DeleteLeavesTheObject(Fault):
    """Delete leaves the names and properties in the object."""

    name = "delete-leaves-the-object"
    breaks = (_S + "27.reset-msmq-queue-info-variables-initialization",)
    replaces = ("queue_info", _Remembering)


class _Kept(QueueInfoObject):
    def delete(self) -> None:
        self.existing_queue()
        self.initialize()


class DeleteDeletesNothing(Fault):
    """Delete succeeds and the queue is there."""

    name = "delete-deletes-nothing"
    breaks = (_S + "27.look-application-queue-queue-ref", _S + "27.status")
    replaces = ("queue_info", _Kept)


class _Alone(QueueInfoObject):
    def open(self, access: int, share: int) -> Variant:
        return super().open(access, 0 if access == 2 else share)


class OpenSendsAlone(Fault):
    """Open for sending takes every share mode."""

    name = "open-sends-alone"
    breaks = (_S + "28.input-access-mq-send-access-0x00000002",)
    replaces = ("queue_info", _Alone)


class _Same(QueueInfoObject):
    def copy_properties(self) -> None:
        queue = self.existing_queue()
        self.is_application_queue = self.manager.objects.names.is_application_queue(queue)
        self.is_refreshed = True


class RefreshCopiesNothing(Fault):
    """Refresh succeeds and leaves the properties as they are."""

    name = "refresh-copies-nothing"
    breaks = (_S + "29.retrieve-application-queue-ref-queue",)
    replaces = ("queue_info", _Same)


class _Local(QueueInfoObject):
    def update(self) -> None:
        self.existing_queue()


class UpdateWritesNothing(Fault):
    """Update succeeds and the queue has its properties from before."""

    name = "update-writes-nothing"
    breaks = (_S + "30.update-application-queue-msmq-queue-info",)
    replaces = ("queue_info", _Local)


class _Everything(QueueNames):
    def is_application_queue(self, queue: Queue) -> bool:
        return True


class QueuesOfTheComputerAreOthersToo(Fault):
    """Refresh takes a queue of the computer for one of an application."""

    name = "queues-of-the-computer-are-application-queues"
    breaks = (
        _S + "29.match-queue-format-name-abnf",
        _S + "20.output-pvar-modify-time-time-t",
    )
    replaces = ("queue_names", _Everything)
