"""Faults of the properties of MSMQQueueInfo (MC-MQAC 3.10.3, 3.10.4.1): what getters tell, and what putters keep."""

from __future__ import annotations

from functools import partial
from typing import Any

from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.objects.queue_info import PATH, QueueInfoObject
from conformance.embedded.objects.queue_info_properties import Property
from conformance.embedded.objects.variants import NOTHING, Variant, text

_S = "MQAC-3.10.4.1."
OTHER: dict[str, tuple[str, Any]] = {
    "QueueGuid": ("1.output-pbstr-guid-queue", "{00000000-0000-0000-0000-000000000000}"),
    "ServiceTypeGuid": ("2.output-pbstr-guid-service-type", "{00000000-0000-0000-0000-000000000001}"),
    "Label": ("4.output-pbstr-label-ref-queue-label", "a queue"),
    "PathName": ("6.output-pbstr-path-name", "HOST\\private$\\another"),
    "IsTransactional": ("10.output-pis-transactional-mq-transactional-none", 1),
    "PrivLevel": ("11.output-p-i-priv-level-ref-queue-privacy-level", 0),
    "Journal": ("13.output-p-journal-mq-journal-0x00000001", 0),
    "Quota": ("15.output-p-i-quota", 9),
    "CreateTime": ("19.output-pvar-create-time", "25569.0"),
    "ModifyTime": ("20.output-pvar-modify-time", "25569.0"),
    "Authenticate": ("21.output-pl-authenticate-mq-authenticate-0x00000001", 0),
    "JournalQuota": ("23.output-pl-journal-quota", 9),
    "IsTransactional2": ("35.output-pis-transactional-ref-queue-transactional", True),
    "MulticastAddress": ("37.true-is-application-queue", "234.9.9.9:9"),
    "BasePriority": ("17.output-pl-base-priority-0x00000000-parameter", 9),
}
"""Getters: the demand, and another value for a queue of an application."""
TRANSACTIONAL = {
    "IsTransactional": ("10.output-pis-transactional-mq-transactional-0x0001", 0),
    "IsTransactional2": ("35.output-pis-transactional-ref-queue-transactional", False),
}
"""Getters that tell one thing of transactional queues."""
NAMES = {
    "FormatName": ("put_format_name", "9.variable-queue-format-name"),
    "PathName": ("put_path_name", "7.input-ref-queue-path-name"),
}
INITIAL = {
    "PROPID_Q_LABEL": "new", "PROPID_Q_JOURNAL": 1, "PROPID_Q_QUOTA": 100, "PROPID_Q_AUTHENTICATE": 1,
    "PROPID_Q_PRIV_LEVEL": 0, "PROPID_Q_JOURNAL_QUOTA": 100,
}  # fmt: skip
"""Properties of a new object, and another value."""
UNIMPLEMENTED = {("get", "Properties"): "32", ("get", "Security"): "33", ("put", "Security"): "34"}


_register = partial(row, __name__, "queue_info")


def _tells(name: str, value: Any, *, of_transactional: bool = False) -> Any:
    def read(self: Any, row: Property) -> Variant:
        found = QueueInfoObject.read(self, row)
        is_it = row.name == name and self.is_application_queue
        if of_transactional:
            is_it = is_it and bool(self.ref["PROPID_Q_TRANSACTION"])
        return Variant(found.vt, value) if is_it else found

    return read


for _name, (_word, _value) in OTHER.items():
    _register(
        f"queue-info-tells-another-{kebab(_name)}", f"get {_name} of a queue answers {_value!r}, whatever it is.",
        (_S + _word,), read=_tells(_name, _value),
    )  # fmt: skip
for _name, (_word, _value) in TRANSACTIONAL.items():
    _register(
        f"queue-info-hides-{kebab(_name)}", f"get {_name} of a transactional queue answers {_value!r}.",
        (_S + _word,), read=_tells(_name, _value, of_transactional=True),
    )  # fmt: skip


def _always_true(name: str) -> Any:
    def write(self: Any, row: Property, value: Any) -> None:
        QueueInfoObject.write(self, row, 1 if row.name == name else value)

    return write


def _only_one(name: str) -> Any:
    def write(self: Any, row: Property, value: Any) -> None:
        QueueInfoObject.write(self, row, int(value == 1) if row.name == name else value)

    return write


for _name, _false, _true in (
    ("Journal", "14.false-ref-queue-journaling", "14.true-ref-queue-journaling"),
    (
        "Authenticate",
        "22.false-ref-queue-authentication-0x00000000",
        "22.true-ref-queue-authentication-0x00000001",
    ),
):
    _register(
        f"queue-info-always-puts-{kebab(_name)}", f"put {_name} of 0 stores True.", (_S + _false,),
        write=_always_true(_name),
    )  # fmt: skip
    _register(
        f"queue-info-puts-{kebab(_name)}-of-1-alone", f"put {_name} of another number than 0 and 1 stores False.",
        (_S + _true,), write=_only_one(_name),
    )  # fmt: skip


def _loses_format_name(self: Any, format_name: str | None) -> None:
    kept = self.format_name
    QueueInfoObject.put_format_name(self, format_name)
    self.format_name = kept


def _loses_path_name(self: Any, path: str | None) -> None:
    kept = self.ref[PATH]
    QueueInfoObject.put_path_name(self, path)
    self.ref[PATH] = kept


_LOSING: dict[str, Any] = {"FormatName": _loses_format_name, "PathName": _loses_path_name}
for _name, (_attribute, _word) in NAMES.items():
    _register(
        f"queue-info-forgets-{kebab(_name)}", f"put {_name} succeeds and names no other queue.", (_S + _word,),
        **{_attribute: _LOSING[_name]},
    )  # fmt: skip


@fault("format-name-is-always-null", QueueInfoObject.get_format_name, _S + "8.output-pbstr-format-name")
def format_name_is_always_null(plain, self):
    """get FormatName answers NULL."""
    return text(None)


def _beginning_with(stored: str, value: Any) -> Any:
    return lambda self: {**QueueInfoObject.initial_properties(self), stored: value}


for _stored, _value in INITIAL.items():
    _word = _stored.removeprefix("PROPID_Q_").lower().replace("_", "-")
    _register(
        f"new-queue-info-has-another-{_word}", f"{_stored} of a new object is {_value!r}.",
        ("MQAC-3.10.3.initialized-ref-queue-generating-queue",), initial_properties=_beginning_with(_stored, _value),
    )  # fmt: skip


@fault("new-queue-info-has-a-format-name", QueueInfoObject.initialize, "MQAC-3.10.3.queue-format-name-initial")
def new_queue_info_has_a_format_name(plain, self, format_name=None):
    """A new object names a queue."""
    plain(format_name or f"DIRECT=OS:{self.manager.computer}\\private$\\q")


@fault("new-queue-info-is-refreshed", QueueInfoObject.initialize, "MQAC-3.10.3.is-refreshed-initial")
def new_queue_info_is_refreshed(plain, self, format_name=None):
    """A new object does not ask the queue for its properties."""
    plain(format_name)
    self.is_refreshed = True


def _implements(kind: str, name: str) -> Any:
    def invoke(self: Any, member: str, how: str, given: list[Variant], caller: Any) -> Variant | None:
        if member.lower() == name.lower() and how == kind:
            return NOTHING if kind == "get" else None
        found: Variant | None = QueueInfoObject.invoke(self, member, how, given, caller)
        return found

    return invoke


for (_kind, _name), _number in UNIMPLEMENTED.items():
    _register(
        f"queue-info-implements-{_kind}-{_name.lower()}", f"{_kind} {_name} succeeds.",
        (f"{_S}{_number}.not-implemented",), invoke=_implements(_kind, _name),
    )  # fmt: skip
