"""Faults of MSMQQueueInfo (MC-MQAC 3.10): its properties, what it refers to, and its methods."""

from __future__ import annotations

from functools import partial
from typing import Any

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.objects.queue_info import PATH, Property, QueueInfoObject, QueueNames
from conformance.embedded.objects.variants import E_INVALIDARG, NOTHING, Variant, text

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

_register = partial(row, __name__, "queue_info")


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
        f"queue-info-forgets-{kebab(_name)}", f"put {_name} answers success and changes nothing.", (_S + _word,),
        write=_forgets(_name),
    )  # fmt: skip
for _name, (_word, _value) in ELSEWHERE.items():
    _register(
        f"queue-of-the-computer-has-{kebab(_name)}", f"{_name} of a queue of the computer is {_value!r}.",
        (_S + _word,), read=_tells(_name, _value),
    )  # fmt: skip
for _name, _number in GETTERS.items():
    _register(
        f"queue-info-tells-{kebab(_name)}-without-looking", f"get {_name} does not refresh.",
        (f"{_S}{_number}.call-is-refreshed-false-refresh", f"{_S}{_number}.refresh-failure"), read=_stale(_name),
    )  # fmt: skip
    _register(
        f"queue-info-has-{kebab(_name)}-of-nothing", f"get {_name} succeeds where its refresh fails.",
        (f"{_S}{_number}.refresh-failure", f"{_S}{_number}.refresh-failure-code"), read=_own_code(_name),
    )  # fmt: skip

_PRIORITY = (_S + "18.return-mq-error-illegal-property-value", _S + "18.status")


@fault("base-priority-takes-32-bits", QueueInfoObject.write, *_PRIORITY)
def base_priority_takes_32_bits(plain, self, row, value):
    """put BasePriority takes 32768."""
    if row.name == "BasePriority" and not -32768 <= value <= 32767:
        return
    plain(row, value)


@fault("base-priority-has-another-code", QueueInfoObject.write, *_PRIORITY)
def base_priority_has_another_code(plain, self, row, value):
    """put BasePriority refuses with E_INVALIDARG."""
    try:
        plain(row, value)
    except MqError:
        raise MqError(E_INVALIDARG) from None


@fault("new-path-name-keeps-the-format-name", QueueInfoObject.put_path_name, _S + "7.variable-queue-format-name-null")
def new_path_name_keeps_the_format_name(plain, self, path):
    """put PathName leaves the format name of another queue."""
    kept = self.format_name
    plain(path)
    self.format_name = kept


@fault(
    "new-path-name-keeps-properties", QueueInfoObject.put_path_name,
    _S + "7.variables-is-refreshed-is-application-queue",
)  # fmt: skip
def new_path_name_keeps_properties(plain, self, path):
    """put PathName leaves the properties of another queue for the queue's."""
    kept = (self.is_refreshed, self.is_application_queue)
    plain(path)
    self.is_refreshed, self.is_application_queue = kept


@fault("new-format-name-keeps-the-path-name", QueueInfoObject.put_format_name, _S + "9.ref-queue-path-name-null")
def new_format_name_keeps_the_path_name(plain, self, format_name):
    """put FormatName leaves the path name of another queue."""
    kept = self.ref[PATH]
    plain(format_name)
    self.ref[PATH] = kept
    self.put.add(PATH)


@fault(
    "new-format-name-keeps-properties", QueueInfoObject.put_format_name,
    _S + "9.variables-is-refreshed-is-application-queue",
)  # fmt: skip
def new_format_name_keeps_properties(plain, self, format_name):
    """put FormatName leaves the properties of another queue for the queue's."""
    kept = (self.is_refreshed, self.is_application_queue)
    plain(format_name)
    self.is_refreshed, self.is_application_queue = kept


@fault(
    "create-is-transactional-by-default", QueueInfoObject.is_asked, _S + "26.is-transactional-unspecified-false-server"
)
def create_is_transactional_by_default(plain, self, given):
    """Create without arguments makes a transactional queue."""
    return True if given.left_out else plain(given)


@fault(
    "create-ignores-is-transactional", QueueInfoObject.is_asked,
    _S + "26.input-new-queue-transactional-is-transactional",
)  # fmt: skip
def create_ignores_is_transactional(plain, self, given):
    """Create never makes a transactional queue."""
    return False


@fault("create-ignores-properties", QueueInfoObject.create, _S + "26.instantiate-new-queue-ref-queue-new")
def create_ignores_properties(plain, self, transactional, world_readable):
    """Create makes a queue with default properties."""
    kept = dict(self.ref)
    self.ref = {PATH: kept[PATH], **self.initial_properties()}
    try:
        plain(transactional, world_readable)
    finally:
        self.ref = kept


@fault(
    "create-takes-a-queue-that-is-there", QueueInfoObject.create, _S + "26.exists-application-queue",
    _S + "26.check-owner-queue-manager-application-queue",
)  # fmt: skip
def create_takes_a_queue_that_is_there(plain, self, transactional, world_readable):
    """Create succeeds where the queue exists."""
    try:
        plain(transactional, world_readable)
    except MqError as failure:
        if failure.status != 0xC00E0005:
            raise


@fault("delete-leaves-the-object", QueueInfoObject.delete, _S + "27.reset-msmq-queue-info-variables-initialization")
def delete_leaves_the_object(plain, self):
    """Delete leaves the names and properties in the object."""
    queue = self.existing_queue()
    self.manager.queues.delete(self.named())
    self.manager.objects.world_readable.discard(queue.id)


@fault("delete-deletes-nothing", QueueInfoObject.delete, _S + "27.look-application-queue-queue-ref", _S + "27.status")
def delete_deletes_nothing(plain, self):
    """Delete succeeds and the queue is there."""
    self.existing_queue()
    self.initialize()


@fault("open-sends-alone", QueueInfoObject.open, _S + "28.input-access-mq-send-access-0x00000002")
def open_sends_alone(plain, self, access, share):
    """Open for sending takes every share mode."""
    return plain(access, 0 if access == 2 else share)


@fault("refresh-copies-nothing", QueueInfoObject.copy_properties, _S + "29.retrieve-application-queue-ref-queue")
def refresh_copies_nothing(plain, self):
    """Refresh succeeds and leaves the properties as they are."""
    queue = self.existing_queue()
    self.is_application_queue = self.manager.objects.names.is_application_queue(queue)
    self.is_refreshed = True


@fault("update-writes-nothing", QueueInfoObject.update, _S + "30.update-application-queue-msmq-queue-info")
def update_writes_nothing(plain, self):
    """Update succeeds and the queue has its properties from before."""
    self.existing_queue()


@fault(
    "queues-of-the-computer-are-application-queues", QueueNames.is_application_queue,
    _S + "29.match-queue-format-name-abnf", _S + "20.output-pvar-modify-time-time-t",
)  # fmt: skip
def queues_of_the_computer_are_application_queues(plain, self, queue):
    """Refresh takes a queue of the computer for one of an application."""
    return True


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


def _tells_always(name: str, value: Any, *, of_transactional: bool = False) -> Any:
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
        (_S + _word,), read=_tells_always(_name, _value),
    )  # fmt: skip
for _name, (_word, _value) in TRANSACTIONAL.items():
    _register(
        f"queue-info-hides-{kebab(_name)}", f"get {_name} of a transactional queue answers {_value!r}.",
        (_S + _word,), read=_tells_always(_name, _value, of_transactional=True),
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
