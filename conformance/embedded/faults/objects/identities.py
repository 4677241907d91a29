"""Faults of classes that can be made, and of interfaces that objects can be asked for (MC-MQAC 1.9, 3.3 to 3.16)."""

from __future__ import annotations

from typing import Any, Final

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.faults.objects.members_declared import spoken
from conformance.embedded.faults.objects.type_libraries import ALONE, FAMILIES
from conformance.embedded.objects.codes import CONNECT_E_NOCONNECTION, E_INVALIDARG, E_NOINTERFACE, REGDB_E_CLASSNOTREG
from conformance.embedded.objects.dispatch import ComObject
from conformance.embedded.objects.events import EventObject
from conformance.embedded.objects.table import IDISPATCH, Objects

CLASSES: Final = (
    "MSMQQuery", "MSMQMessage", "MSMQQueue", "MSMQEvent", "MSMQQueueInfo", "MSMQQueueInfos", "MSMQTransaction",
    "MSMQCoordinatedTransactionDispenser", "MSMQTransactionDispenser", "MSMQApplication", "MSMQDestination",
    "MSMQCollection", "MSMQManagement", "MSMQOutgoingQueueManagement", "MSMQQueueManagement",
)  # fmt: skip


def _register(name: str, story: str, breaks: tuple[str, ...], **methods: Any) -> None:
    ids = tuple(f"MQAC-{each}" for each in breaks)
    fault(__name__, name, story, ids, ("objects", type("_Deviating", (Objects,), methods)))


def _unknown(called: str) -> Any:
    def class_named(self: Any, name: str) -> type[ComObject]:
        if name == called:
            raise MqError(REGDB_E_CLASSNOTREG)
        return Objects.class_named(self, name)

    return class_named


for _class in CLASSES:
    _register(f"{spoken(_class)}-cannot-be-made", f"There is no class {_class}.", (f"1.9.{spoken(_class)}-class-id",),
              class_named=_unknown(_class))  # fmt: skip


def _not_found(interface: str) -> Any:
    def interfaces(self: Any, target: ComObject) -> tuple[str, ...]:
        return tuple(each for each in Objects.interfaces(self, target) if each != interface)

    return interfaces


for _family, (_count, _words, _) in FAMILIES.items():
    for _revision in range(1, _count + 1):
        _number = str(_revision) if _revision > 1 else ""
        _register(f"imsmq-{_words}{_number}-is-not-found", f"No object can be asked for {_family}{_number}.",
                  (f"1.9.imsmq-{_words}{_number}-interface-id",), interfaces=_not_found(_family + _number))  # fmt: skip
for _name, (_words, _) in ALONE.items():
    if not _name.startswith("_"):
        _register(f"imsmq-{_words}-is-not-found", f"No object can be asked for {_name}.",
                  (f"1.9.imsmq-{_words}-interface-id",), interfaces=_not_found(_name))  # fmt: skip
_register("event-is-no-connection-point", "MSMQEvent cannot be asked for IConnectionPoint.",
          ("3.16.class-msmq-event-i-connection-point",), interfaces=_not_found("IConnectionPoint"))  # fmt: skip
_register("event-is-no-container", "MSMQEvent cannot be asked for IConnectionPointContainer.",
          ("3.16.class-msmq-event-i-connection-point", "6.i-connection-point-container-interface"),
          interfaces=_not_found("IConnectionPointContainer"))  # fmt: skip
_register("transaction-implementation-is-no-transaction", "A transaction cannot be asked for ITransaction.",
          ("6.i-transaction-interface",), interfaces=_not_found("ITransaction"))  # fmt: skip


def _code(self: Any, handle: Any, iid: str) -> str:
    try:
        return Objects.query(self, handle, iid)
    except MqError as failure:
        raise MqError(E_INVALIDARG if failure.status == E_NOINTERFACE else failure.status) from None


def _any(self: Any, handle: Any, iid: str) -> str:
    found: str = self.handle(self.held(handle))
    return found


_REFUSED = ("3.4.3.variable-queue-is-outgoing-msmq-management-code",
            "3.5.3.variable-queue-is-outgoing-msmq-management-code")  # fmt: skip
_register("query-refuses-with-another-code", "An interface that an object lacks is answered E_INVALIDARG.", _REFUSED,
          query=_code)  # fmt: skip
_register("query-finds-every-interface", "An object can be asked for every interface.",
          ("3.4.3.variable-queue-is-outgoing-msmq-management", "3.5.3.variable-queue-is-outgoing-msmq-management"),
          query=_any)  # fmt: skip


def _no_dispatch(self: Any, handle: Any, iid: str) -> str:
    if iid.lower() == IDISPATCH:
        raise MqError(E_NOINTERFACE)
    return Objects.query(self, handle, iid)


_register("objects-cannot-be-asked-for-idispatch", "No object can be asked for IDispatch.",
          ("3.1.client-active-x-i-unknown",), query=_no_dispatch)  # fmt: skip

# Connection points.


def _any_point(self: Any, handle: Any, iid: str) -> EventObject:
    target = self.held(handle)
    return target if isinstance(target, EventObject) else Objects.event_source(self, handle, iid)


def _no_point(self: Any, handle: Any, iid: str) -> EventObject:
    Objects.event_source(self, handle, iid)
    raise MqError(CONNECT_E_NOCONNECTION)


def _point_code(self: Any, handle: Any, iid: str) -> EventObject:
    try:
        return Objects.event_source(self, handle, iid)
    except MqError as failure:
        raise MqError(E_INVALIDARG if failure.status == CONNECT_E_NOCONNECTION else failure.status) from None


_FIND = "3.16.4.6.2."
_register("event-has-every-connection-point", "FindConnectionPoint finds one for every interface.",
          (_FIND + "input-riid-iid-dmsmq-event-events", _FIND + "return-connect-e-noconnection"),
          event_source=_any_point)  # fmt: skip
_register("event-has-no-connection-point", "FindConnectionPoint finds none.",
          (_FIND + "output-pp-cp-i-connection-point", _FIND + "purpose", _FIND + "status"),
          event_source=_no_point)  # fmt: skip
_register("connection-point-is-refused-with-another-code", "A connection point that is not there is answered "
          "E_INVALIDARG.", (_FIND + "return-connect-e-noconnection",), event_source=_point_code)  # fmt: skip
