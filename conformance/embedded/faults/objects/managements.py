"""Faults of MSMQManagement and of MSMQCollection (MC-MQAC 3.3 to 3.5, 3.15)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.objects.management import (
    OUTGOING,
    QUEUES,
    RECEIVED,
    SENT,
    STATES,
    TYPES,
    CollectionObject,
    ManagementObject,
)
from conformance.embedded.objects.variants import E_FAIL, E_INVALIDARG, EMPTY, Variant, as_text, flag, long, text
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE

MEMBERS = {
    "FormatName": "3.3.4.1.2", "Machine": "3.3.4.1.3", "MessageCount": "3.3.4.1.4", "ForeignStatus": "3.3.4.1.5",
    "QueueType": "3.3.4.1.6", "IsLocal": "3.3.4.1.7", "TransactionalStatus": "3.3.4.1.8",
    "BytesInQueue": "3.3.4.1.9", "JournalMessageCount": "3.4.4.1.1", "BytesInJournal": "3.4.4.1.2",
    "EodGetReceiveInfo": "3.4.4.1.3", "State": "3.5.4.1.1", "NextHops": "3.5.4.1.2", "EodGetSendInfo": "3.5.4.1.3",
    "Resume": "3.5.4.1.4", "Pause": "3.5.4.1.5", "EodResend": "3.5.4.1.6",
}  # fmt: skip
"""Members that refuse an object that is not initialized, with their sections."""
TELLS: dict[str, tuple[str, Variant]] = {
    "FormatName": ("3.3.4.1.2.output-pbstr-format-name", text("DIRECT=OS:HOST\\private$\\another")),
    "Machine": ("3.3.4.1.3.output-pbstr-machine", text("ANOTHER")),
    "MessageCount": ("3.3.4.1.4.output-p-i-message-count", long(77)),
    "ForeignStatus": ("3.3.4.1.5.output-p-i-foreign-status-mq-status-not-foreign", long(0)),
    "QueueType": ("3.3.4.1.6.mq-type-private-answer", long(0)),
    "IsLocal": ("3.3.4.1.7.output-pf-is-local-variable-true", flag(False)),
    "TransactionalStatus": ("3.3.4.1.8.output-p-transaction-status-mq-xact-status-not-xact", long(0)),
    "BytesInQueue": ("3.3.4.1.9.output-pv-bytes-in-queue", Variant("UI8", 77)),
    "JournalMessageCount": ("3.4.4.1.1.output-p-journal-message-count", long(77)),
    "BytesInJournal": ("3.4.4.1.2.output-p-journal-message-count", Variant("UI8", 77)),
    "NextHops": ("3.5.4.1.2.output-pv-next-hops-prop-var", Variant("ARRAY", [text("192.0.2.99")], "BSTR")),
}
"""Getters: the demand, and another value."""
FURTHER: dict[str, tuple[str, Any, Variant]] = {
    "IsLocal": ("3.3.4.1.7.output-pf-is-local-variable-false", False, flag(True)),
    "TransactionalStatus": ("3.3.4.1.8.output-p-transaction-status-mq-xact-status-xact", 0, long(1)),
}
"""Getters that tell something else instead of one value."""
TOLD_STATES = {
    "INACTIVE": "server-p-state-mq-queue-state-nonactive",
    "ONHOLD": "server-p-i-state-mq-queue-state-onhold",
    "CONNECTED": "server-p-state-mq-queue-state-connected",
    "DISCONNECTED": "server-p-i-state-mq-queue-state-disconnected",
    "WAITING": "server-p-i-state-mq-queue-state-waiting",
    "DISCONNECTING": "server-p-state-mq-queue-state-disconnecting",
    "NEED VALIDATION": "server-p-i-state-mq-queue-state-needvalidate",
}
_INIT = "3.3.4.1.1."

_register = partial(row, __name__, "management_object")


def _uninitialized(member: str) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        if name.lower() == member.lower() and not self.is_initialized:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        found: Variant | None = ManagementObject.invoke(self, name, kind, given, caller)
        return found

    return invoke


for _name, _section in MEMBERS.items():
    _code = "variable-object-is-initialized-code" if _name == "FormatName" else "return-mq-error-uninitialized-object"
    _register(
        f"management-{kebab(_name)}-tells-of-a-handle", f"{_name} of a new object answers that its handle is wrong.",
        (f"{_section}.{_code}",), invoke=_uninitialized(_name),
    )  # fmt: skip


def _answers(member: str, value: Variant, instead_of: Any = None) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        found: Variant | None = ManagementObject.invoke(self, name, kind, given, caller)
        if name.lower() != member.lower() or found is None:
            return found
        return value if instead_of is None or found.value == instead_of else found

    return invoke


for _name, (_word, _value) in TELLS.items():
    _register(
        f"management-tells-another-{kebab(_name)}", f"{_name} is {_value.value!r}, whatever it is.", (_word,),
        invoke=_answers(_name, _value),
    )  # fmt: skip
for _name, (_word, _instead, _value) in FURTHER.items():
    _register(
        f"management-never-tells-one-{kebab(_name)}", f"{_name} is {_value.value!r} where it is {_instead!r}.",
        (_word,), invoke=_answers(_name, _value, _instead),
    )  # fmt: skip
for _state, _word in TOLD_STATES.items():
    _spelled = _state.lower().replace(" ", "-")
    _register(
        f"management-never-tells-{_spelled}", f"State is LOCKED where it is {_state}.", (f"3.5.4.1.1.{_word}",),
        invoke=_answers("State", long(8), STATES[_state]),
    )  # fmt: skip

# Init.
_NO_NAME = (_INIT + "input-pathname-null-format-name-precondition-first", _INIT + "return-mq-error-invalid-parameter")
_TWO_NAMES = (
    _INIT + "input-pathname-null-format-after-return-mq-error-invalid",
    _INIT + "return-mq-error-invalid-after-return-mq-error-invalid",
)


def _without(name: str) -> Any:
    return {name: lambda self, path, format_name: None}


def _other_code(name: str) -> Any:
    def check(self: Any, path: str | None, format_name: str | None) -> None:
        try:
            getattr(ManagementObject, name)(self, path, format_name)
        except MqError:
            raise MqError(E_INVALIDARG) from None

    return {name: check}


_register("management-init-has-another-code-for-none", "Init without a name answers E_INVALIDARG.", _NO_NAME[1:],
          **_other_code("check_some"))  # fmt: skip
_register("management-init-takes-two-names", "Init with two names takes the format name.", _TWO_NAMES,
          **_without("check_one"))  # fmt: skip
_register("management-init-has-another-code-for-two", "Init with two names answers E_INVALIDARG.", _TWO_NAMES[1:],
          **_other_code("check_one"))  # fmt: skip


def _after_init(change: Callable[[Any], None]) -> Any:
    def init(self: Any, machine: Variant, path: Variant, format_name: Variant) -> None:
        ManagementObject.init(self, machine, path, format_name)
        change(self)

    init.com = ManagementObject.init.com  # type: ignore[attr-defined]
    return init


def _forgetting(attribute: str, value: Any) -> Callable[[Any], None]:
    return lambda self: setattr(self, attribute, value)


def _init_of_nothing(self: Any, machine: Variant, path: Variant, format_name: Variant) -> None:
    try:
        ManagementObject.init(self, machine, path, format_name)
    except MqError:
        if (path.vt == "BSTR") == (format_name.vt == "BSTR"):
            raise
        self.is_initialized = True


_init_of_nothing.com = ManagementObject.init.com  # type: ignore[attr-defined]
_register(
    "management-init-initializes-nothing", "Init succeeds, and the object is as new.",
    (_INIT + "server-object-is-initialized-variable-true",), init=_after_init(_forgetting("is_initialized", False)),
)  # fmt: skip
_register(
    "management-init-forgets-the-computer", "Machine is this computer, whatever Init was given.",
    (_INIT + "server-computer-name-machine-variable",), init=_after_init(_forgetting("computer", None)),
)  # fmt: skip
_register(
    "management-init-of-nothing-succeeds", "Init of a queue that is not there succeeds.",
    (_INIT + "return-status-mq-ok-0x00000000-hresult", _INIT + "return-status-mq-ok-0x00000000",
     _INIT + "represented-queue-active-format-name"), init=_init_of_nothing,
)  # fmt: skip
_register(
    "management-is-never-outgoing", "The object of an outgoing queue has the face for queues.",
    (_INIT + "returned-prop-var-queue-is-outgoing", "3.3.1.invoking-i-unknown-query-interface-imsmq-outgoing",
     "3.5.3.variable-queue-is-outgoing-msmq-management"), init=_after_init(_forgetting("outgoing", False)),
)  # fmt: skip


@fault(
    "management-has-both-faces", ManagementObject.interfaces, "3.4.3.variable-queue-is-outgoing-msmq-management",
    "3.5.3.variable-queue-is-outgoing-msmq-management",
)  # fmt: skip
def management_has_both_faces(plain, self):
    """Every object has both faces."""
    return (*self.INTERFACES, OUTGOING, QUEUES)


@fault(
    "management-is-ready-at-once", ManagementObject.__init__, "3.3.3.server-object-is-initialized-variable-false",
    "3.3.4.1.2.variable-object-is-initialized",
)  # fmt: skip
def management_is_ready_at_once(plain, self, manager):
    """A new object stands for a queue."""
    plain(manager)
    self.is_initialized, self.format_name = True, f"DIRECT=OS:{manager.computer}\\private$\\q"


# Actions and transfers.
def _acts(given: str, done: str | None) -> Any:
    def act(self: Any, action: str) -> None:
        if action != given:
            ManagementObject.act(self, action)
        elif done is None:
            self.check_initialized()
        else:
            ManagementObject.act(self, done)

    return act


for _given, _done, _number in (("RESUME", None, "4"), ("PAUSE", None, "5"), ("RESUME", "PAUSE", "4"),
                               ("PAUSE", "RESUME", "5")):  # fmt: skip
    _word = "does-nothing" if _done is None else f"does-{_done.lower()}"
    _register(
        f"management-{_given.lower()}-{_word}", f"{_given.title()} {_word.replace('-', ' ')}.",
        (f"3.5.4.1.{_number}.server-qm-mgmt-action-generate-inputs", f"3.5.4.1.{_number}.purpose"),
        act=_acts(_given, _done),
    )  # fmt: skip


def _collecting(lost: str, *, instead: bool = False) -> Any:
    def collected(self: Any, values: Any) -> Any:
        kept = {name: value for name, value in values.items() if name != lost}
        if instead and lost in values:
            kept[lost] = EMPTY
        return ManagementObject.collected(self, kept)

    return collected


_ADDED = {
    "EodLastAck": "propid-mgmt-queue-eod", "EodLastAckTime": "propid-mgmt-queue-eod-last-ack", "EodLastAckCount":
    "propid-mgmt-queue-eod-last-ack-count", "EodFirstNonAck": "propid-mgmt-queue-eod-first-non",
    "EodLastNonAck": "propid-mgmt-queue-eod-last-non-ack", "EodNextSeq": "propid-mgmt-queue-eod-next-seq",
    "EodNoReadCount": "propid-mgmt-queue-eod-no", "EodNoAckCount": "propid-mgmt-queue-eod-no-ack-count",
    "EodResendTime": "propid-mgmt-queue-eod-resend-time", "EodResendInterval": "propid-mgmt-queue-eod-resend",
    "EodResendCount": "propid-mgmt-queue-eod-resend-count",
}  # fmt: skip
for _name in SENT:
    _register(
        f"send-info-lacks-{kebab(_name)}", f"EodGetSendInfo has no {_name}.",
        (f"3.5.4.1.3.returned-prop-va-temp-after-{_ADDED[_name]}",), collected=_collecting(_name),
    )  # fmt: skip

# MSMQCollection.

_UNKNOWN = ("3.15.4.1.1.return-mq-error-invalid-parameter", "3.15.4.1.1.variable-variant-collection-index-contain")


@fault("collection-has-every-item", CollectionObject.item, *_UNKNOWN)
def collection_has_every_item(plain, self, index):
    """Item of an unknown key is empty."""
    try:
        return plain(index)
    except MqError:
        return EMPTY


@fault("collection-has-another-code", CollectionObject.item, *_UNKNOWN)
def collection_has_another_code(plain, self, index):
    """Item of an unknown key answers E_INVALIDARG."""
    try:
        return plain(index)
    except MqError:
        raise MqError(E_INVALIDARG) from None


@fault("collection-gives-nothing", CollectionObject.item, "3.15.4.1.1.output-pvar-ret-variant-variant-collection")
def collection_gives_nothing(plain, self, index):
    """Item is empty for every key."""
    return plain(index) and EMPTY


@fault(
    "collection-counts-one-more", CollectionObject.count, "3.15.4.1.2.output-p-count-variant-collection-parameter",
    "3.15.3.created-msmq-collection",
)  # fmt: skip
def collection_counts_one_more(plain, self):
    """Count is greater by 1."""
    return long(len(self.values) + 1)


@fault("collection-has-no-enumerator", CollectionObject.new_enum, "3.15.4.1.3.output-ppunk-i-unknown-ole")
def collection_has_no_enumerator(plain, self):
    """_NewEnum answers NULL."""
    return Variant("UNKNOWN", None)


NOTHING: Final[dict[str, Variant]] = {
    "Machine": text(None), "MessageCount": long(0), "ForeignStatus": long(2), "IsLocal": flag(True),
    "TransactionalStatus": long(2), "BytesInQueue": Variant("UI8", 0), "JournalMessageCount": long(0),
    "BytesInJournal": Variant("UI8", 0), "State": long(5), "NextHops": Variant("ARRAY", [], "BSTR"),
    "EodGetReceiveInfo": Variant("ARRAY", [], "VARIANT"), "EodGetSendInfo": EMPTY, "Resume": EMPTY, "Pause": EMPTY,
    "EodResend": EMPTY,
}  # fmt: skip
"""The answer of a member without a queue."""
ASKING: Final = (
    "MessageCount", "ForeignStatus", "IsLocal", "TransactionalStatus", "BytesInQueue", "JournalMessageCount",
    "BytesInJournal", "EodGetReceiveInfo",
)  # fmt: skip
"""Members that ask the queue manager, and fail when it does."""
TYPED: Final = {
    "QueueFormatName": "queue-format-name-type", "SenderId": "sender-id-type", "SeqID": "seq-id-type",
    "SeqNo": "seq-no-type", "LastAccessTime": "last-access-time-type", "RejectCount": "reject-count-type",
}  # fmt: skip
"""Names of an IncomingTransactionalTransferInfo with the demand of their type (2.2.4.1)."""
OUTGOING_TYPED: Final = {
    name: f"eod{kebab(name).removeprefix('eod')}-type" for name, vt in SENT.items() if vt
}  # fmt: skip
TYPE_WORDS: Final = {
    "PUBLIC": "mq-type-public-answer", "MACHINE": "mq-type-machine-answer", "MULTICAST": "mq-type-multicast-answer",
}  # fmt: skip


def _of_nothing(member: str, value: Variant) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        if name.lower() == member.lower() and not self.is_initialized:
            return None if value is EMPTY else value
        found: Variant | None = ManagementObject.invoke(self, name, kind, given, caller)
        return found

    return invoke


for _name, _value in NOTHING.items():
    _register(
        f"management-tells-{kebab(_name)}-of-nothing", f"{_name} of a new object succeeds.",
        (f"{MEMBERS[_name]}.variable-object-is-initialized-false",), invoke=_of_nothing(_name, _value),
    )  # fmt: skip


def _after_a_failure(member: str, value: Variant | None) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        try:
            found: Variant | None = ManagementObject.invoke(self, name, kind, given, caller)
        except MqError:
            if name.lower() != member.lower() or not self.is_initialized or self.outgoing:
                raise
            if value is None:
                raise MqError(E_FAIL) from None
            return value
        return found

    return invoke


for _name in ASKING:
    _register(
        f"management-tells-{kebab(_name)}-of-a-deleted-queue", f"{_name} of a queue that was deleted succeeds.",
        (f"{MEMBERS[_name]}.return-status-mq-ok-0x00000000",), invoke=_after_a_failure(_name, NOTHING[_name]),
    )  # fmt: skip
    _register(
        f"management-{kebab(_name)}-fails-otherwise", f"{_name} of a queue that was deleted answers E_FAIL.",
        (f"{MEMBERS[_name]}.return-status-mq-ok-0x00000000-code",), invoke=_after_a_failure(_name, None),
    )  # fmt: skip


def _told(member: str, instead_of: int, value: int) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        found: Variant | None = ManagementObject.invoke(self, name, kind, given, caller)
        is_it = name.lower() == member.lower() and found is not None and found.value == instead_of
        return long(value) if is_it else found

    return invoke


for _type, _word in TYPE_WORDS.items():
    _register(
        f"management-never-tells-{_type.lower()}", f"QueueType is CONNECTOR where it is {_type}.",
        (f"3.3.4.1.6.{_word}", f"3.3.4.1.6.pl-queue-type-mq-type-{_type.lower()}-row"),
        invoke=_told("QueueType", TYPES[_type], TYPES["CONNECTOR"]),
    )  # fmt: skip


@fault(
    "management-never-tells-a-local-connection", "outgoing_management.invoke",
    "3.5.4.1.1.server-p-i-state-mq-queue-state-local-connection",
)  # fmt: skip
def management_never_tells_a_local_connection(plain, self, name, kind, given, caller):
    """State is INACTIVE where it is LOCAL CONNECTION."""
    found = plain(name, kind, given, caller)
    return long(5) if name.lower() == "state" and found is not None and found.value == 0 else found


# Init, and the two faces.
def _init(change: Any) -> Any:
    def init(self: Any, machine: Variant, path: Variant, format_name: Variant) -> None:
        change(self, machine, path, format_name)

    init.com = ManagementObject.init.com  # type: ignore[attr-defined]
    return init


def _needs_a_machine(self: Any, machine: Variant, path: Variant, format_name: Variant) -> None:
    if machine.vt != "BSTR":
        raise MqError(E_INVALIDARG)
    ManagementObject.init(self, machine, path, format_name)


def _needs_a_name(self: Any, machine: Variant, path: Variant, format_name: Variant) -> None:
    if format_name.vt != "BSTR" and path.vt == "BSTR":
        raise MqError(E_INVALIDARG)
    ManagementObject.init(self, machine, path, format_name)


def _path_as_name(self: Any, machine: Variant, path: Variant, format_name: Variant) -> None:
    ManagementObject.init(self, machine, path, format_name)
    if path.vt == "BSTR":
        self.format_name = f"DIRECT=OS:{as_text(path)}"


def _of_another(self: Any, machine: Variant, path: Variant, format_name: Variant) -> None:
    ManagementObject.init(self, machine, path, format_name)
    if format_name.vt == "BSTR":
        self.format_name = f"{self.format_name}x"


def _another_code(self: Any, machine: Variant, path: Variant, format_name: Variant) -> None:
    try:
        ManagementObject.init(self, machine, path, format_name)
    except MqError:
        if (path.vt == "BSTR") == (format_name.vt == "BSTR") or path.vt == "BSTR":
            raise
        raise MqError(E_FAIL) from None


def _initialized_anyway(self: Any, machine: Variant, path: Variant, format_name: Variant) -> None:
    try:
        ManagementObject.init(self, machine, path, format_name)
    except MqError:
        self.is_initialized = self.format_name is not None
        raise


_register("management-init-needs-a-machine", "Init without a machine fails.", (_INIT + "machine-ignored",),
          init=_init(_needs_a_machine))  # fmt: skip
_register("management-init-takes-no-path", "Init with a path name alone fails.", (_INIT + "server-generate-get-queue",),
          init=_init(_needs_a_name))  # fmt: skip
_register("management-init-makes-a-direct-name-of-its-own", "Init makes DIRECT=OS: of a path name, whatever it is.",
          (_INIT + "server-queue-format-name-return",), init=_init(_path_as_name))  # fmt: skip
_register("management-init-keeps-another-format-name", "Init keeps another name than the format name it was given.",
          (_INIT + "server-queue-format-name-input",), init=_init(_of_another))  # fmt: skip
_register("management-init-fails-otherwise", "Init with the format name of a queue that is not there answers E_FAIL.",
          (_INIT + "return-status-mq-ok-0x00000000-code",), init=_init(_another_code))  # fmt: skip
_register("management-init-that-failed-initializes", "An object is initialized after an Init that failed.",
          (_INIT + "represented-queue-active-format-name", _INIT + "server-object-is-initialized-variable-true"),
          init=_init(_initialized_anyway))  # fmt: skip


@fault(
    "management-init-takes-any-machine", ManagementObject.bind, _INIT + "variable-computer-name-server-name",
    _INIT + "server-hresult-return-error",
)  # fmt: skip
def management_init_takes_any_machine(plain, self):
    """Init succeeds with the name of a computer that is not there."""


@fault("new-management-is-elsewhere", ManagementObject.__init__, "3.3.3.variable-server-computer-name-null")
def new_management_is_elsewhere(plain, self, manager):
    """A new object stands for a queue of another computer."""
    plain(manager)
    self.computer = "ELSEWHERE"


@fault("new-management-is-outgoing", ManagementObject.__init__, "3.3.3.server-queue-is-outgoing-variable-false")
def new_management_is_outgoing(plain, self, manager):
    """A new object has the face for outgoing queues."""
    plain(manager)
    self.outgoing = True


@fault(
    "management-has-no-face", ManagementObject.interfaces,
    "3.3.1.implementation-msmq-management-imsmq-queue-management",
    "3.3.1.invoking-i-unknown-query-interface-imsmq-queue-management", "3.4.1.implementation-msmq-management-coclass",
    "3.5.1.implementation-msmq-management",
)  # fmt: skip
def management_has_no_face(plain, self):
    """An object has neither face."""
    return self.INTERFACES


@fault(
    "management-of-queues-has-the-face-of-outgoing-ones", ManagementObject.interfaces,
    "3.5.3.variable-queue-is-outgoing-msmq-management-code",
)  # fmt: skip
def management_of_queues_has_the_face_of_outgoing_ones(plain, self):
    """An object of a local queue has the face for outgoing queues."""
    return (*self.INTERFACES, OUTGOING)


@fault(
    "management-of-outgoing-queues-has-the-face-of-queues", ManagementObject.interfaces,
    "3.4.3.variable-queue-is-outgoing-msmq-management-code",
)  # fmt: skip
def management_of_outgoing_queues_has_the_face_of_queues(plain, self):
    """An object of an outgoing queue has the face for queues too."""
    return (*self.INTERFACES, OUTGOING, QUEUES) if self.outgoing else (*self.INTERFACES, QUEUES)


@fault(
    "management-tells-machines-in-small-letters", ManagementObject.get_machine,
    "3.3.4.1.3.output-pbstr-machine-computer-name-variable",
)  # fmt: skip
def management_tells_machines_in_small_letters(plain, self):
    """Machine is in small letters."""
    return text((plain().value or "").lower())


# Transfers.
def _acting(given: str, *, fails: bool) -> Any:
    def act(self: Any, action: str) -> None:
        if action != given:
            ManagementObject.act(self, action)
        elif not fails:
            self.check_initialized()
        else:
            ManagementObject.act(self, action)
            raise MqError(E_FAIL)

    return act


_register("management-resend-does-nothing", "EodResend resends nothing.",
          ("3.5.4.1.6.server-qm-mgmt-action-generate-inputs", "3.5.4.1.6.purpose"),
          act=_acting("EOD_RESEND", fails=False))  # fmt: skip
for _action, _number in (("RESUME", "4"), ("PAUSE", "5"), ("EOD_RESEND", "6")):
    _register(f"management-{_action.lower().replace('_', '-')}-acts-and-fails", f"{_action} acts and answers E_FAIL.",
              (f"3.5.4.1.{_number}.server-status-return",), act=_acting(_action, fails=True))  # fmt: skip


def _typing(name: str) -> Any:
    def collected(self: Any, values: Any) -> Any:
        kept = dict(values)
        if name in kept and kept[name].vt != "EMPTY":
            kept[name] = Variant("I8", int(kept[name].value)) if kept[name].vt != "BSTR" else long(7)
        return ManagementObject.collected(self, kept)

    return collected


def _lacking(name: str) -> Any:
    def collected(self: Any, values: Any) -> Any:
        return ManagementObject.collected(self, {each: value for each, value in values.items() if each != name})

    return collected


def _received_alone(name: str, changed: Any) -> Any:
    """Return what changes an item, but for that of a place in a sequence, which has the same name."""

    def collected(self: Any, values: Any) -> Any:
        return changed(self, values) if "SenderId" in values else ManagementObject.collected(self, values)

    return collected if name in ("SeqID", "SeqNo") else changed


for _name, _word in TYPED.items():
    _register(f"receive-info-has-{kebab(_name)}-of-another-type", f"{_name} of EodGetReceiveInfo has another type.",
              (f"2.2.4.1.{_word}",), collected=_received_alone(_name, _typing(_name)))  # fmt: skip
for _name in RECEIVED:
    if _name not in ("SeqID", "SeqNo"):  # a place has them too
        _register(f"receive-info-lacks-{kebab(_name)}", f"EodGetReceiveInfo tells no {_name}.",
                  ("3.4.4.1.3.output-pv-collection-prop-var-variable",), collected=_lacking(_name))  # fmt: skip
for _name, _word in OUTGOING_TYPED.items():
    _register(f"send-info-has-{kebab(_name)}-of-another-type", f"{_name} of EodGetSendInfo is a VT_I8.",
              (f"2.2.4.2.{_word}",), collected=_typing(_name))  # fmt: skip
for _name in ("SeqID", "SeqNo", "PrevNo"):
    _register(f"place-lacks-{kebab(_name)}", f"A place in a sequence has no {_name}.",
              (f"2.2.4.3.{kebab(_name)}-type",), collected=_lacking(_name))  # fmt: skip


def _valued(name: str) -> Any:
    def collected(self: Any, values: Any) -> Any:
        kept = dict(values)
        found = kept.get(name)
        if found is not None and found.vt == "BSTR":
            kept[name] = text(f"{found.value}x")
        elif found is not None and found.vt == "DISPATCH":
            kept[name] = Variant("DISPATCH", ManagementObject.collected(self, {"SeqNo": long(77)}))
        elif found is not None and found.vt != "EMPTY":
            kept[name] = Variant(found.vt, int(found.value) + 1)
        return ManagementObject.collected(self, kept)

    return collected


def _as_a_number(name: str) -> Any:
    def collected(self: Any, values: Any) -> Any:
        kept = {each: long(7) if each == name else value for each, value in values.items()}
        return ManagementObject.collected(self, kept)

    return collected


for _name in RECEIVED:
    _register(f"receive-info-has-another-{kebab(_name)}", f"{_name} of EodGetReceiveInfo is another one.",
              (f"2.2.4.1.{kebab(_name)}-source",), collected=_received_alone(_name, _valued(_name)))  # fmt: skip
for _name, _vt in SENT.items():
    _word = f"{'s-' if _name == 'EodLastAckTime' else ''}{kebab(_name)}-source"  # as section 2.2.4.2 prints it
    _register(f"send-info-has-another-{kebab(_name)}", f"{_name} of EodGetSendInfo is another one.",
              (f"2.2.4.2.{_word}",), collected=_valued(_name))  # fmt: skip
    if not _vt:
        _register(f"send-info-tells-{kebab(_name)}-as-a-number", f"{_name} of EodGetSendInfo is 7.",
                  (f"2.2.4.2.{kebab(_name)}-type",), collected=_as_a_number(_name))  # fmt: skip

STALE: Final = {
    "MessageCount": "3.3.4.1.4.server-qm-mgmt-get-info", "BytesInQueue": "3.3.4.1.9.server-qm-mgmt-get-info",
    "JournalMessageCount": "3.4.4.1.1.server-qm-mgmt-get-info", "BytesInJournal": "3.4.4.1.2.server-qm-mgmt-get-info",
    "State": "3.5.4.1.1.server-qm-mgmt-get-info", "NextHops": "3.5.4.1.2.server-qm-mgmt-get-info",
}  # fmt: skip
"""Getters that ask the queue manager each time, with the demand."""


def _as_first_told(member: str) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        found: Variant | None = ManagementObject.invoke(self, name, kind, given, caller)
        if name.lower() == "init":
            self.first = None
        if name.lower() != member.lower():
            return found
        first: Variant | None = getattr(self, "first", None)
        self.first = found if first is None else first
        told: Variant | None = self.first
        return told

    return invoke


for _name, _word in STALE.items():
    _register(f"management-tells-{kebab(_name)}-as-at-first", f"{_name} is what it was when it was first asked for.",
              (_word,), invoke=_as_first_told(_name))  # fmt: skip
