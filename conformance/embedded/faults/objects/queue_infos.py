"""Faults of MSMQQueueInfo (MC-MQAC 3.10): its properties, what it refers to, and its methods."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.objects.queue import QueueObject
from conformance.embedded.objects.queue_info import PATH, Property, QueueInfoObject, QueueNames
from conformance.embedded.objects.variants import E_INVALIDARG, NOTHING, Variant, flag, short, text
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_QUEUE_PATHNAME

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

_NAMES = "MQAC-3.10.6.1."
NUMBERS = {"create": "26", "delete": "27", "open": "28", "refresh": "29", "update": "30"}
SEVERAL = {
    "delete": "variable-queue-format-name-http-identifies", "open": "variable-queue-format-name-http-access",
    "refresh": "variable-queue-format-name-http-format", "update": "variable-queue-format-name-http-format",
}  # fmt: skip
MISSING = {"delete": "exist-application-queue", "refresh": "return-hresult-error-after-else", "update": "no-queue"}
_ANYWHERE = "equals-is-local-is-public-false"

_info = partial(row, __name__, "queue_info")


def _lenient(method: str, met: Callable[[Any], bool]) -> dict[str, Any]:
    """A method that succeeds where it should fail, if what it is called on is so."""

    def perform(self: Any, *given: Any) -> Variant | None:
        before = met(self)
        try:
            found: Variant | None = getattr(QueueInfoObject, method)(self, *given)
        except MqError:
            if not before:
                raise
            return _blank(self) if method == "open" else None
        return found

    perform.com = getattr(QueueInfoObject, method).com  # type: ignore[attr-defined]
    return {method: perform}


def _blank(info: Any) -> Variant:
    return Variant("DISPATCH", info.manager.parts.queue_object(info.manager))


def _named(info: Any) -> str:
    return str(info.format_name or info.ref[PATH] or "")


def _without_name(info: Any) -> bool:
    return not _named(info)


def _of_several(info: Any) -> bool:
    return "," in _named(info) or "HTTP:" in _named(info).upper() or _named(info).upper().startswith("MULTICAST=")


def _elsewhere(info: Any) -> bool:
    return "OTHER\\" in _named(info) and not _of_several(info)


def _not_there(info: Any) -> bool:
    return "none" in _named(info) and not _of_several(info)


def _wrong_path(info: Any) -> bool:
    return info.ref[PATH] is not None and "\\" not in info.ref[PATH]


for _method, _number in NUMBERS.items():
    _s = f"{_S}{_number}."
    _none = ("equals-ref-queue-path-name-null",) if _method == "create" else ("variable-queue-format-name-null",)
    _info(
        f"{_method}-succeeds-without-a-name", f"{_method.title()} of an object without any name succeeds.",
        (*(_s + each for each in _none), "MQAC-3.10.3.client-imsmq-queue-info4-path-name-format-name")
        if _method != "create"
        else (_s + _none[0], "MQAC-3.10.3.client-imsmq-queue-info4-path-name-create"),
        **_lenient(_method, _without_name),
    )  # fmt: skip
    _unread = "computer-name-queue-cannot" if _method == "create" else "error-status-hresult-return"
    _info(
        f"{_method}-succeeds-with-a-path-of-nothing", f"{_method.title()} with a path name of no queue succeeds.",
        (_s + _unread,), **_lenient(_method, _wrong_path),
    )  # fmt: skip
    if _method in SEVERAL:
        _info(
            f"{_method}-succeeds-with-several-names",
            f"{_method.title()} of several queues, HTTP or multicast succeeds.",
            (_s + SEVERAL[_method],), **_lenient(_method, _of_several),
        )  # fmt: skip
    if _method in MISSING:
        _info(
            f"{_method}-succeeds-without-a-queue", f"{_method.title()} of a queue that is not there succeeds.",
            (_s + MISSING[_method],), **_lenient(_method, _not_there),
        )  # fmt: skip
    if _method != "open":
        _info(
            f"{_method}-succeeds-elsewhere", f"{_method.title()} of a private queue of another computer succeeds.",
            (_s + _ANYWHERE,), **_lenient(_method, _elsewhere),
        )  # fmt: skip

_info(
    "create-hides-the-status-of-the-queue-manager", "Create succeeds where the queue manager refuses the properties.",
    (_S + "26.return-status-answer", _S + "26.status"),
    **_lenient("create", lambda info: info.ref["PROPID_Q_PRIV_LEVEL"] not in (0, 1, 2)),
)  # fmt: skip
_info(
    "open-hides-the-status-of-the-queue-manager", "Open succeeds where the queue is not there.",
    (_S + "28.returned-status-success", _S + "28.status"), **_lenient("open", _not_there),
)  # fmt: skip


@fault("update-refuses-a-private-queue", QueueInfoObject.update, _S + "30.private-queue-updated", _S + "30.return-s-ok")
def update_refuses_a_private_queue(plain, self):
    """Update of a private queue changes it and fails."""
    plain()
    if self.existing_queue().kind == "private":
        raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)


@fault(
    "path-name-dns-of-every-queue", QueueInfoObject.path_name_dns, _S + "31.return-hresult-error-after-dns-path-name",
    _S + "31.variable-queue-format-name-null", _S + "31.variable-queue-format-name-http-format",
    _S + "31.return-hresult-error-after-return-hresult-error", _S + "31.refresh-failure",
)  # fmt: skip
def path_name_dns_of_every_queue(plain, self):
    """PathNameDNS of a queue that is not public is its path name."""
    try:
        return plain()
    except MqError:
        return text(self.ref[PATH])


for _told in (True, False):
    _word = "true" if _told else "false"
    _info(
        f"world-readable-is-always-{_word}", f"IsWorldReadable and IsWorldReadable2 are {_told} for every queue.",
        (
            f"{_S}25.output-pis-world-readable-parameter-{str(not _told).lower()}",
            f"{_S}36.output-pis-world-readable-{str(not _told).lower()}-parameter",
        ),
        is_world_readable=lambda self, told=_told: short(int(told)),
        is_world_readable2=lambda self, told=_told: flag(told),
    )  # fmt: skip


# The object that Open gives.
def _opens(name: str, story: str, breaks: tuple[str, ...], change: Callable[[QueueObject], None]) -> None:
    def opened(self: Any, access: int, share: int) -> Variant:
        found = QueueInfoObject.open(self, access, share)
        change(found.value)
        return found

    _info(name, story, breaks, open=opened)


def _blanked(queue: QueueObject) -> None:
    queue.is_initialized = False


def _closed(queue: QueueObject) -> None:
    queue.is_closed = True


def _orphaned(queue: QueueObject) -> None:
    queue.info = None


_opens(
    "open-gives-a-blank-object", "Open gives an object that was not initialized.",
    ("MQAC-3.11.3.variable-is-initialized-true", "MQAC-3.11.3.object-msmq-queue-msmq-queue-info",
     _S + "28.ppq-pointer-imsmq-queue4-server"), _blanked,
)  # fmt: skip
_opens(
    "open-gives-a-closed-object", "Open gives an object that is closed.",
    ("MQAC-3.11.3.variable-is-closed-false", _S + "28.ppq-pointer-imsmq-queue4-server"), _closed,
)  # fmt: skip
_opens(
    "open-forgets-who-opened", "QueueInfo of an opened queue is NULL.",
    ("MQAC-3.11.3.variable-msmq-queue-info-object", "MQAC-3.11.4.1.3.output-ppqinfo-msmq-queue-info-object"), _orphaned,
)  # fmt: skip


# Names.
@fault("format-name-refuses-this-computer", QueueNames.format_name, _NAMES + "current-computer-netbios-name")
def format_name_refuses_this_computer(plain, self, path):
    """A path name that begins with a point has no format name."""
    if path.startswith(".\\"):
        raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
    return plain(path)


@fault("format-name-drops-the-subqueue", QueueNames.format_name, _NAMES + "append-is-sub-queue-true")
def format_name_drops_the_subqueue(plain, self, path):
    """The format name of a subqueue is that of its queue."""
    return plain(path).partition(";")[0]


@fault(
    "format-name-of-every-path", QueueNames.format_name, _NAMES + "cannot-pathname-hresult-parsed",
    _NAMES + "empty-computer-hresult-return",
)  # fmt: skip
def format_name_of_every_path(plain, self, path):
    """A path name without computer or queue has a format name."""
    try:
        return plain(path)
    except MqError:
        if "\\" in path and not path.startswith("\\"):
            raise
        return f"DIRECT=OS:{self.manager.computer}\\private$\\q"


@fault(
    "private-format-name-has-another-number", QueueNames.private_name,
    _NAMES + "replaced-queue-format-m-qpt-queue-format-type-private",
)  # fmt: skip
def private_format_name_has_another_number(plain, self, queue):
    """A private format name has the number of another queue."""
    return f"PRIVATE={self.manager.guid}\\{queue.number + 0x10:x}"


@fault(
    "public-format-name-has-braces", QueueNames.format_name,
    _NAMES + "replaced-queue-format-m-qpt-queue-format-type-public",
)  # fmt: skip
def public_format_name_has_braces(plain, self, path):
    """The GUID of a public format name stands in braces."""
    found = plain(path)
    return found.replace("PUBLIC=", "PUBLIC={") + "}" if found.startswith("PUBLIC=") else found


@fault("public-name-of-any-length", QueueNames.too_long, _NAMES + "path-pathname-queue-queue-name")
def public_name_of_any_length(plain, self, queue):
    """A public queue with a name of more than 63 characters has a format name."""
    return False


def _by_path(self: Any) -> str:
    if self.ref[PATH] is not None:
        self.format_name = None
    return QueueInfoObject.update_format_name(self)


@fault(
    "no-name-is-some-queue", QueueInfoObject.update_format_name, _NAMES + "return-ref-queue-pathname-null",
    _S + "28.error-status-hresult-return",
)  # fmt: skip
def no_name_is_some_queue(plain, self):
    """An object without any name stands for a queue."""
    if self.format_name is None and self.ref[PATH] is None:
        return f"DIRECT=OS:{self.manager.computer}\\private$\\q"
    return plain()
