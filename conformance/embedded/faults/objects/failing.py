"""Faults of every member that can succeed: it does what it should, and answers a failure (MC-MQAC 3.2 to 3.17)."""

from __future__ import annotations

from typing import Any, Final

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import kebab, row
from conformance.embedded.objects.application import ApplicationObject
from conformance.embedded.objects.codes import E_FAIL
from conformance.embedded.objects.collection import CollectionObject
from conformance.embedded.objects.destination import DestinationObject
from conformance.embedded.objects.dispatch import ComObject
from conformance.embedded.objects.events import EventObject
from conformance.embedded.objects.management import ManagementObject
from conformance.embedded.objects.message import MessageObject
from conformance.embedded.objects.queue import QueueObject
from conformance.embedded.objects.queue_info import QueueInfoObject
from conformance.embedded.objects.transactions import DispenserObject, TransactionObject
from conformance.embedded.objects.type_library import declared
from conformance.embedded.objects.variants import Variant
from conformance.embedded.receiving import Caller
from conformance.spec.constants.interfaces import METHODS

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


def _register() -> None:
    for interface, (part, base, words) in INTERFACES.items():
        sections = {each.opnum: each.section for each in METHODS[interface]}
        for member in declared(interface):
            if member.name in NEVER:
                continue
            kind = "" if member.kind == "method" else f"{member.kind}-"
            row(
                __name__, part, f"{kebab(base.CLASS.removeprefix('MSMQ'))}-{kind}{kebab(member.name)}-fails",
                f"{base.CLASS}: {member.kind} {member.name} answers E_FAIL where it succeeds.",
                tuple(f"MQAC-{sections[member.slot]}.{word}" for word in OTHER_WORDS.get(member.name, words)),
                invoke=_failing(base, member.name, member.kind),
            )  # fmt: skip


_register()
