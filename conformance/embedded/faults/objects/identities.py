"""Faults of classes that can be made, and of interfaces that objects can be asked for (MC-MQAC 1.9, 3.3 to 3.16)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault, kebab, row
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


_register = partial(row, __name__, "objects")


def _unknown(called: str) -> Any:
    def class_named(self: Any, name: str) -> type[ComObject]:
        if name == called:
            raise MqError(REGDB_E_CLASSNOTREG)
        return Objects.class_named(self, name)

    return class_named


for _class in CLASSES:
    _register(f"{kebab(_class)}-cannot-be-made", f"There is no class {_class}.", (f"1.9.{kebab(_class)}-class-id",),
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


_REFUSED = ("3.4.3.variable-queue-is-outgoing-msmq-management-code",
            "3.5.3.variable-queue-is-outgoing-msmq-management-code")  # fmt: skip


@fault("query-refuses-with-another-code", Objects.query, *_REFUSED)
def query_refuses_with_another_code(plain, self, handle, iid):
    """An interface that an object lacks is answered E_INVALIDARG."""
    try:
        return plain(handle, iid)
    except MqError as failure:
        raise MqError(E_INVALIDARG if failure.status == E_NOINTERFACE else failure.status) from None


@fault(
    "query-finds-every-interface", Objects.query, "3.4.3.variable-queue-is-outgoing-msmq-management",
    "3.5.3.variable-queue-is-outgoing-msmq-management",
)  # fmt: skip
def query_finds_every_interface(plain, self, handle, iid):
    """An object can be asked for every interface."""
    found: str = self.handle(self.held(handle))
    return found


@fault("objects-cannot-be-asked-for-idispatch", Objects.query, "3.1.client-active-x-i-unknown")
def objects_cannot_be_asked_for_idispatch(plain, self, handle, iid):
    """No object can be asked for IDispatch."""
    if iid.lower() == IDISPATCH:
        raise MqError(E_NOINTERFACE)
    return plain(handle, iid)


# Connection points.


_FIND = "3.16.4.6.2."


@fault(
    "event-has-every-connection-point", Objects.event_source, _FIND + "input-riid-iid-dmsmq-event-events",
    _FIND + "return-connect-e-noconnection",
)  # fmt: skip
def event_has_every_connection_point(plain, self, handle, iid):
    """FindConnectionPoint finds one for every interface."""
    target = self.held(handle)
    return target if isinstance(target, EventObject) else plain(handle, iid)


@fault(
    "event-has-no-connection-point", Objects.event_source, _FIND + "output-pp-cp-i-connection-point",
    _FIND + "purpose", _FIND + "status",
)  # fmt: skip
def event_has_no_connection_point(plain, self, handle, iid):
    """FindConnectionPoint finds none."""
    plain(handle, iid)
    raise MqError(CONNECT_E_NOCONNECTION)


@fault("connection-point-is-refused-with-another-code", Objects.event_source, _FIND + "return-connect-e-noconnection")
def connection_point_is_refused_with_another_code(plain, self, handle, iid):
    """A connection point that is not there is answered E_INVALIDARG."""
    try:
        return plain(handle, iid)
    except MqError as failure:
        raise MqError(E_INVALIDARG if failure.status == CONNECT_E_NOCONNECTION else failure.status) from None
