"""Faults of every member that can succeed or is not implemented (MC-MQAC 3.2 to 3.17)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.objects.application import ApplicationObject
from conformance.embedded.objects.destination import DestinationObject
from conformance.embedded.objects.events import EventObject
from conformance.embedded.objects.management import CollectionObject, ManagementObject
from conformance.embedded.objects.message import MessageObject
from conformance.embedded.objects.queue import QueueObject
from conformance.embedded.objects.queue_info import QueueInfoObject
from conformance.embedded.objects.transactions import (
    CoordinatedDispenserObject,
    DispenserObject,
    ExternalTransaction,
    TransactionObject,
)
from conformance.embedded.objects.type_library import declared
from conformance.embedded.objects.variants import E_FAIL, E_INVALIDARG, NOTHING, ComObject, Variant, flag, long
from conformance.embedded.receiving import Caller
from conformance.spec.constants.hresults import MQ_ERROR_ACCESS_DENIED, MQ_ERROR_OPERATION_CANCELLED
from conformance.spec.constants.interfaces import METHODS

PROPERTIES: dict[str, tuple[type[ComObject], str]] = {
    "transaction_dispenser": (DispenserObject, "3.6.4.1.2"),
    "coordinated_dispenser": (CoordinatedDispenserObject, "3.7.4.1.2"),
    "transaction_object": (TransactionObject, "3.9.4.2.2"),
    "queue_object": (QueueObject, "3.11.4.1.19"),
}
"""Parts with the section of their getter Properties."""
STATED = {"Access": "1", "ShareMode": "2", "QueueInfo": "3", "Handle": "4", "Handle2": "20", "Close": "6"}
"""Members of MSMQQueue whose steps do not ask whether it is closed, with their number in 3.11.4.1."""

_register = partial(row, __name__)


def _instead(base: type[ComObject], member: str, kind: str, value: Variant | None) -> Any:
    def invoke(self: Any, name: str, how: str, given: list[Variant], caller: Any) -> Variant | None:
        if name.lower() == member.lower() and how == kind:
            return value
        return base.invoke(self, name, how, given, caller)

    return invoke


for _part, (_base, _section) in PROPERTIES.items():
    _register(
        _part, f"{_part.replace('_', '-')}-implements-properties", f"get Properties of {_base.CLASS} succeeds.",
        (f"{_section}.not-implemented",), invoke=_instead(_base, "Properties", "get", NOTHING),
    )  # fmt: skip
_register(
    "transaction_object", "transaction-has-a-number", "get Transaction answers a number.",
    ("3.9.4.1.1.not-implemented", "3.9.4.1.method-deprecated-implemented"),
    invoke=_instead(TransactionObject, "Transaction", "get", long(1)),
)  # fmt: skip


@fault(
    "new-transaction-has-a-transaction", TransactionObject.__init__, "3.9.3.initialize-server-transaction-null",
    "3.9.4.1.2.variable-transaction-null", "3.9.4.1.3.variable-transaction-null",
)  # fmt: skip
def new_transaction_has_a_transaction(plain, self, manager, attached=None):
    """A new MSMQTransaction can commit."""
    plain(manager, attached or manager.parts.transaction_implementation(manager))


def _not_by(vt: str) -> Any:
    def init_new(self: Any, given: Variant) -> None:
        if self.attached is None and given.vt == vt:
            raise MqError(E_INVALIDARG)
        TransactionObject.init_new(self, given)

    return init_new


for _vt in ("UNKNOWN", "DISPATCH"):
    _register(
        "transaction_object", f"init-new-refuses-{_vt.lower()}", f"InitNew refuses VT_{_vt}.",
        (f"3.9.4.2.1.vt-{_vt.lower()}", "3.9.4.2.1.status"), init_new=_not_by(_vt),
    )  # fmt: skip


@fault(
    "external-transaction-is-checked-as-an-internal-one", ExternalTransaction.check_commit,
    "3.8.4.1.1.send-commit-request-transaction", "3.7.4.1.1.variable-is-internal-created-transaction",
)  # fmt: skip
def external_transaction_is_checked_as_an_internal_one(plain, self, retaining, flags, resource_flags):
    """Commit of an external transaction refuses arguments that are the coordinator's to refuse."""
    if retaining or flags != 2 or resource_flags:
        raise MqError(E_INVALIDARG)


@fault(
    "external-transaction-never-ends", "external_transaction.finish", "3.8.4.1.1.send-commit-request-transaction",
    "3.8.4.1.2.send-transaction-manager-queue-managers", "3.7.4.1.1.variable-is-internal-created-transaction",
)  # fmt: skip
def external_transaction_never_ends(plain, self, end):
    """Commit and Abort of an external transaction succeed, and nothing happens."""


# MSMQQueue.
def _when_closed(member: str) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        if name.lower() == member.lower() and self.is_initialized and self.is_closed:
            raise MqError(MQ_ERROR_OPERATION_CANCELLED)
        found: Variant | None = QueueObject.invoke(self, name, kind, given, caller)
        return found

    return invoke


for _name, _number in STATED.items():
    _register(
        "queue_object", f"{kebab(_name)}-of-a-closed-object-is-cancelled",
        f"{_name} of a closed object answers that the operation was cancelled.",
        ("3.11.1.1.call-closed-mq-error-invalid-handle",), invoke=_when_closed(_name),
    )  # fmt: skip


def _when_blank(member: str) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        if name.lower() == member.lower() and not self.is_initialized:
            raise MqError(MQ_ERROR_OPERATION_CANCELLED)
        found: Variant | None = QueueObject.invoke(self, name, kind, given, caller)
        return found

    return invoke


for _name, _number, _check in (
    ("Handle2", "20", "variable-is-initialized-false"),
    ("IsOpen2", "32", "variable-is-initialized-equals-false"),
):
    _register(
        "queue_object", f"{kebab(_name)}-of-a-blank-object-is-cancelled",
        f"{_name} of a blank object answers that the operation was cancelled.",
        (f"3.11.4.1.{_number}.return-ole-e-blank", f"3.11.4.1.{_number}.{_check}"), invoke=_when_blank(_name),
    )  # fmt: skip


@fault("is-open2-when-closed", QueueObject.get_is_open2, "3.11.4.1.32.output-pis-open-variant-false-0x0000")
def is_open2_when_closed(plain, self):
    """IsOpen2 of a closed queue is true."""
    return self.check_initialized() or flag(True)


@fault("is-open2-is-never-true", QueueObject.get_is_open2, "3.11.4.1.32.output-pis-open-variant-true-0xffff")
def is_open2_is_never_true(plain, self):
    """IsOpen2 of an open queue is false."""
    return self.check_initialized() or flag(False)


@fault("is-open-is-never-one", QueueObject.get_is_open, "3.11.4.1.5.output-pis-open-true-0x0001")
def is_open_is_never_one(plain, self):
    """IsOpen of an open queue is 0."""
    return self.check_initialized() or Variant("I2", 0)


_register(
    "queue_object", "handle-is-zero", "Handle and Handle2 of an open queue are 0.",
    ("3.11.4.1.4.output-p-handle", "3.11.4.1.20.output-pvar-handle"),
    get_handle=lambda self: self.check_listed() or long(0),
    get_handle2=lambda self: self.check_listed() or Variant("I8", 0),
)  # fmt: skip


@fault("reset-looks-at-closed-first", QueueObject.reset, "3.11.4.1.10.return-ole-e-blank")
def reset_looks_at_closed_first(plain, self):
    """Reset of a blank object answers as of a closed one."""
    self.check_open()
    plain()


@fault("purge-looks-at-closed-first", QueueObject.purge, "3.11.4.1.31.return-ole-e-blank")
def purge_looks_at_closed_first(plain, self):
    """Purge of a blank object answers as of a closed one."""
    self.check_open()
    plain()


@fault(
    "purge-looks-at-access-first", QueueObject.purge, "3.11.4.1.31.return-mq-error-invalid-handle",
    "3.11.4.1.31.variable-is-closed-equals-true",
)  # fmt: skip
def purge_looks_at_access_first(plain, self):
    """Purge of a closed object answers access denied."""
    self.check_initialized()
    if self.access not in (1, 0x81):
        raise MqError(MQ_ERROR_ACCESS_DENIED)
    plain()


@fault("close-keeps-the-handle", QueueObject.end, "3.11.4.1.6.remove-ref-queue")
def close_keeps_the_handle(plain, self):
    """Close leaves the handle open for the queue manager."""
    self.descriptor = self.own_cursor = None
    self.is_closed = True


STATUS, OK, PURPOSE = "status", "return-s-ok", "purpose"
INTERFACES: Final[dict[str, tuple[str, type[ComObject], tuple[str, ...]]]] = {
    "IMSMQQueueInfo4": ("queue_info", QueueInfoObject, (STATUS, OK)),
    "IMSMQQueue4": ("queue_object", QueueObject, (STATUS, OK)),
    "IMSMQMessage4": ("message_object", MessageObject, (STATUS, PURPOSE)),
    "IMSMQTransaction": ("transaction_object", TransactionObject, (STATUS, PURPOSE)),
    "IMSMQTransaction2": ("transaction_object", TransactionObject, (STATUS, PURPOSE)),
    "IMSMQTransaction3": ("transaction_object", TransactionObject, (STATUS,)),
    "IMSMQTransactionDispenser3": ("transaction_dispenser", DispenserObject, (STATUS, PURPOSE)),
    "IMSMQDestination": ("destination", DestinationObject, (STATUS, OK)),
    "IMSMQPrivateDestination": ("destination", DestinationObject, (STATUS, OK)),
    "IMSMQPrivateEvent": ("event", EventObject, (STATUS, PURPOSE)),
    "IMSMQManagement": ("management_object", ManagementObject, (STATUS, PURPOSE)),
    "IMSMQQueueManagement": ("management_object", ManagementObject, (STATUS, PURPOSE)),
    "IMSMQOutgoingQueueManagement": ("management_object", ManagementObject, (STATUS, PURPOSE)),
    "IMSMQApplication": ("application", ApplicationObject, (STATUS, PURPOSE)),
    "IMSMQApplication2": ("application", ApplicationObject, (STATUS, PURPOSE)),
    "IMSMQApplication3": ("application", ApplicationObject, (STATUS, PURPOSE)),
    "IMSMQCollection": ("collection", CollectionObject, (STATUS, PURPOSE)),
}
"""Interfaces with the part that has their members, its class, and the words of the demands that a member succeeds."""
NEVER: Final = frozenset({"Properties", "Security", "Transaction", "IADs", "Destinations", "RegisterCertificate"})
"""Members that never succeed."""
OTHER_WORDS: Final = {
    "AttachCurrentSecurityContext2": (STATUS,), "Init": (STATUS, OK), "Hwnd": (STATUS,),
    "EodGetSendInfo": (STATUS, OK, PURPOSE),
}  # fmt: skip
"""Members with other demands than those of their interface."""


def _failing(base: type[ComObject], member: str, how: str) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Caller | None) -> Variant | None:
        if name.lower() != member.lower() or kind != how:
            return base.invoke(self, name, kind, given, caller)
        base.invoke(self, name, kind, given, None if caller is None else _denying(caller))
        raise MqError(E_FAIL)

    return invoke


def _denying(caller: Caller) -> Caller:
    """Return a caller that is told of a failure where there is none."""

    def answer(result: dict[str, Any]) -> None:
        caller.answer({"status": E_FAIL} if result["status"] == 0 else result)

    return Caller(caller.session, caller.tag[1], answer, caller.pending)


def _register_failing() -> None:
    for interface, (part, base, words) in INTERFACES.items():
        sections = {each.opnum: each.section for each in METHODS[interface]}
        for member in declared(interface):
            if member.name in NEVER:
                continue
            kind = "" if member.kind == "method" else f"{member.kind}-"
            row(
                __name__, part,
                f"{kebab(base.CLASS.removeprefix('MSMQ'))}-{kind}{kebab(member.name, letters=True)}-fails",
                f"{base.CLASS}: {member.kind} {member.name} answers E_FAIL where it succeeds.",
                tuple(f"MQAC-{sections[member.slot]}.{word}" for word in OTHER_WORDS.get(member.name, words)),
                invoke=_failing(base, member.name, member.kind),
            )  # fmt: skip


_register_failing()
