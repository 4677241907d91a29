"""Faults of MSMQManagement and of MSMQCollection (MC-MQAC 3.3 to 3.5, 3.15)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.collection import CollectionObject
from conformance.embedded.objects.management import OUTGOING, QUEUES, SENT, STATES, ManagementObject
from conformance.embedded.objects.variants import EMPTY, Variant, flag, long, text
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


_collection = partial(row, __name__, "collection")


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
