"""The further classes: destinations, applications, management objects, collections, queries, events and the dispenser
of coordinated transactions. Their members come from the library of MC-MQAC 6, with the checks that each one does.

A management object is one object with three interfaces (3.3.1): its members are in one table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from conformance.activex import library
from conformance.activex.domains import Domain, Texts, Variants
from conformance.activex.library import Declared
from conformance.activex.members import Argument, Check, Event, Kind, Member, Slot
from conformance.activex.statuses import E_NOTIMPL
from conformance.activex.values import Variant, long, truth
from conformance.spec.constants import hresults
from conformance.spec.constants.interfaces import METHODS

DESTINATION: Final = "MSMQDestination"
APPLICATION: Final = "MSMQApplication"
MANAGEMENT: Final = "MSMQManagement"
COLLECTION: Final = "MSMQCollection"
QUERY: Final = "MSMQQuery"
QUEUE_INFOS: Final = "MSMQQueueInfos"
COORDINATED: Final = "MSMQCoordinatedTransactionDispenser"
EVENT: Final = "MSMQEvent"

UNINITIALIZED: Final = Check("uninitialized", hresults.MQ_ERROR_UNINITIALIZED_OBJECT)
NEITHER: Final = Check("neither", hresults.MQ_ERROR_INVALID_PARAMETER)
BOTH: Final = Check("both", hresults.MQ_ERROR_INVALID_PARAMETER)
ANOTHER: Final = Check("computer", hresults.MQ_ERROR_INVALID_PARAMETER)
ELSEWHERE: Final = Check("computer", E_NOTIMPL)
FLAGS: Final = Check("flags", hresults.MQ_ERROR_INVALID_PARAMETER)
KEY: Final = Check("key", hresults.MQ_ERROR_INVALID_PARAMETER)
NOT_INITIALIZED: Final = Check("initialized")

INTERFACES: Final[Mapping[str, tuple[str, ...]]] = {
    DESTINATION: ("IMSMQDestination", "IMSMQPrivateDestination"),
    APPLICATION: ("IMSMQApplication", "IMSMQApplication2", "IMSMQApplication3"),
    MANAGEMENT: ("IMSMQManagement", "IMSMQQueueManagement", "IMSMQOutgoingQueueManagement"),
    COLLECTION: ("IMSMQCollection",),
    QUERY: ("IMSMQQuery4",),
    QUEUE_INFOS: ("IMSMQQueueInfos4",),
    COORDINATED: ("IMSMQCoordinatedTransactionDispenser3",),
    EVENT: ("IMSMQEvent2", "IMSMQPrivateEvent"),
}
_CHECKS: Final[Mapping[str, Mapping[str, tuple[Check, ...]]]] = {
    APPLICATION: {
        "RegisterCertificate": (ELSEWHERE, FLAGS),
        "MSMQVersionMajor": (ANOTHER,),
        "MSMQVersionMinor": (ANOTHER,),
        "MSMQVersionBuild": (ANOTHER,),
        "IsDsEnabled": (ANOTHER,),
    },
    MANAGEMENT: {"Init": (NEITHER, BOTH)},
    COLLECTION: {"Item": (KEY,)},
    QUEUE_INFOS: {"Reset": (NOT_INITIALIZED,), "Next": (NOT_INITIALIZED,)},
}
_KEPT: Final[Mapping[str, Mapping[str, str]]] = {
    DESTINATION: {"ADsPath": "DirectoryPath", "PathName": "QueuePathName", "FormatName": "QueueFormatName"},
    APPLICATION: {"Machine": "ComputerName"},
}
_TAKES: Final[Mapping[str, Domain]] = {
    "FormatName": Texts(),
    "Machine": Texts(),
    "Handle": Variants((Variant("I8", 0),)),
}
_UNIMPLEMENTED: Final = frozenset({"IADs", "Destinations", "Properties"})
_CALLS: Final[Mapping[tuple[str, str], str]] = {
    (DESTINATION, "Open"): "queues.open",
    (DESTINATION, "Close"): "queues.close",
    (MANAGEMENT, "Init"): "management.get",
    (MANAGEMENT, "Pause"): "management.act",
    (MANAGEMENT, "Resume"): "management.act",
    (MANAGEMENT, "EodResend"): "management.act",
    (APPLICATION, "Connect"): "management.act",
    (APPLICATION, "Disconnect"): "management.act",
    (COORDINATED, "BeginTransaction"): "transactions.begin",
}
"""What a member has the queue manager do: a method of the plain facets with the same effect."""
_ASKS: Final = frozenset({"Machine", "FormatName", "Init"})
DEFAULTS: Final[Mapping[str, Variant]] = {
    "RelServiceType": long(1),
    "RelLabel": long(1),
    "RelCreateTime": long(1),
    "RelModifyTime": long(1),
    "RelMulticastAddress": long(1),
    "Flags": long(1),
}
"""What a member takes for an argument that is left out."""
INITIAL: Final[Mapping[tuple[str, str], Variant]] = {
    (DESTINATION, "IsOpen"): truth(False),
    (DESTINATION, "PathName"): Variant("BSTR", ""),
    (COLLECTION, "Count"): long(0),
}


def _rows(coclass: str) -> Iterator[Member]:
    forms: dict[str, list[tuple[str, Declared]]] = {}
    for interface in INTERFACES[coclass]:
        for declared in library.interfaces()[interface].members.values():
            forms.setdefault(declared.name, []).append((interface, declared))
    for name, ones in forms.items():
        checks = _CHECKS.get(coclass, {}).get(name, ())
        call = _CALLS.get((coclass, name))
        if coclass == MANAGEMENT and name != "Init":
            checks = (UNINITIALIZED,)
            call = call or (None if name in _ASKS else "management.get")
        getter = next((one for _, one in ones if one.kind == "get"), None)
        yield Member(
            coclass,
            ones[0][0],
            name,
            tuple(_slot(interface, one) for interface, one in ones),
            vt=getter.arguments[-1][1] if getter is not None else None,
            initial=INITIAL.get((coclass, name)),
            takes=_TAKES.get(name) if any(one.kind == "put" for _, one in ones) else None,
            unimplemented=name in _UNIMPLEMENTED,
            kept_as=_KEPT.get(coclass, {}).get(name),
            checks=checks,
            event=Event(call) if call is not None else None,
        )


def _slot(interface: str, one: Declared) -> Slot:
    kinds: dict[str, Kind] = {"method": "method", "get": "get", "put": "put", "putref": "putref"}
    arguments = tuple(
        Argument(name, vt, DEFAULTS.get(name), "optional" in flags, "retval" in flags)
        for name, vt, flags in one.arguments
    )
    described = METHODS.get(interface, ())
    section = next((m.section for m in described if (m.opnum, m.name) == (one.slot, one.name)), "")
    return Slot(kinds[one.kind], one.slot, section, arguments)


FURTHER: Final[Mapping[str, Mapping[str, Member]]] = {
    coclass: {member.name: member for member in _rows(coclass)} for coclass in INTERFACES
}
"""Class to its members by name."""

BESIDE: Final = frozenset(
    {
        *("Initialization", "QueryInterface", "Advise", "Unadvise", "EnableNotification"),
        *("PublicName", "DirectoryPath", "DirectoryEntry"),
    }
)
"""Names in cells that stand for something else than a member: how an object begins, what IUnknown and connection points
do, and events of the text that several members raise.
"""
