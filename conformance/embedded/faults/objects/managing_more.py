"""Further faults of the management of queues: what objects without a queue do, types, values (MC-MQAC 3.3 to 3.5)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.faults.objects.managing import MEMBERS
from conformance.embedded.objects.codes import E_FAIL, E_INVALIDARG
from conformance.embedded.objects.management import (
    OUTGOING,
    QUEUES,
    RECEIVED,
    SENT,
    TYPES,
    ManagementObject,
)
from conformance.embedded.objects.variants import EMPTY, Variant, as_text, flag, long, text

NOTHING: Final[dict[str, Variant]] = {
    "Machine": text(None), "MessageCount": long(0), "ForeignStatus": long(2), "IsLocal": flag(True),
    "TransactionalStatus": long(2), "BytesInQueue": Variant("UI8", 0), "JournalMessageCount": long(0),
    "BytesInJournal": Variant("UI8", 0), "State": long(5), "NextHops": Variant("ARRAY", [], "BSTR"),
    "EodGetReceiveInfo": Variant("ARRAY", [], "VARIANT"), "EodGetSendInfo": EMPTY, "Resume": EMPTY, "Pause": EMPTY,
    "EodResend": EMPTY,
}  # fmt: skip
"""What a member answers of no queue."""
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
_INIT = "3.3.4.1.1."


_register = partial(row, __name__, "management_object")


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


for _name, _word in TYPED.items():
    _register(f"receive-info-has-{kebab(_name)}-of-another-type", f"{_name} of EodGetReceiveInfo has another type.",
              (f"2.2.4.1.{_word}",), collected=_typing(_name))  # fmt: skip
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
              (f"2.2.4.1.{kebab(_name)}-source",), collected=_valued(_name))  # fmt: skip
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
