"""Destinations, applications, management, collections, queries and events: what they look at, and their members."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from conformance.activex import library
from conformance.activex.library import Declared
from conformance.activex.members import Argument, Check, Domain, Event, Kind, Member, Slot, Texts, Variants, all_cells
from conformance.activex.queue_store import QueueKind, Target, by_format, by_path
from conformance.activex.values import E_NOTIMPL, Variant, long, truth
from conformance.spec.constants import hresults
from conformance.spec.constants.interfaces import METHODS

Names = tuple[str, ...]

RECEIVE, SEND, PEEK = 1, 2, 32
_PRIVATE: Final = re.compile(r"PRIVATE=(?P<manager>[0-9a-f-]{36})\\[0-9a-f]{1,8}", re.IGNORECASE)


def cell(coclass: str, member: str, *columns: str) -> Names:
    """Return the requirements of some columns. member: `Open.method`, or `new`."""
    cells = all_cells().get(f"{coclass}.{member}", {})
    return tuple(name for column in columns for name in cells.get(column, ()))


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue of this computer. messages, journaled: how many there are in it and in its journal. because: the
    requirements that a look at it shows, since a message came to it in a way of which they tell.
    """

    path: str
    transactional: bool = False
    journal: bool = False
    messages: int = 0
    journaled: int = 0
    because: Names = ()


@dataclass(frozen=True, slots=True)
class Outgoing:
    """An outgoing queue. held: an administrator has stopped it, or let it go on; None for neither.

    numbered: how many of its messages are transactional. step: what happened last to its connection. resent: it was
    asked to send again what waits for an acknowledgment.
    """

    name: str
    messages: int = 0
    held: bool | None = None
    numbered: int = 0
    step: str = ""
    resent: bool = False


@dataclass(frozen=True, slots=True)
class Info:
    """An MSMQQueueInfo that helps. path, format: its name."""

    path: str | None = None
    format: str | None = None
    journal: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class Handle:
    """An open queue: an MSMQQueue, or what a destination holds. key: of a queue here; name: of an outgoing one."""

    key: str = ""
    name: str = ""
    access: int = SEND


@dataclass(frozen=True, slots=True)
class Directory:
    """A directory that the plan gives. ads: directory path to what it stands for: a sort of object and a format name.
    paths: path name of a public queue, in small letters, to its format name. computers: name to identifier.
    """

    ads: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    computers: Mapping[str, str] = field(default_factory=dict)
    server: str | None = None


@dataclass(frozen=True, slots=True)
class Computer:
    """The queues of a computer. opened: open MSMQQueue objects and destinations. units: the size of one message, of
    queues here and of outgoing ones, once it was shown. online: whether the manager is connected. directory: None if
    the plan gives none. because: what a look at which queues are active shows, since a destination went to another one.
    converted: path name, in small letters, to the format name that an object has made of it. hardened: whether messages
    go over HTTP alone, from the next start on.
    """

    computer: str
    manager: str
    queues: Mapping[str, Queue] = field(default_factory=dict)
    outgoing: Mapping[str, Outgoing] = field(default_factory=dict)
    infos: Mapping[str, Info] = field(default_factory=dict)
    opened: Mapping[str, Handle] = field(default_factory=dict)
    units: Mapping[str, int] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    online: bool = True
    directory: Directory | None = None
    because: Names = ()
    converted: Mapping[str, str] = field(default_factory=dict)
    hardened: bool = False

    def target(self, path: str | None, name: str | None) -> Target:
        """Return what a path name or a format name means."""
        if name is not None:
            return by_format(name, self.computer, self.formats)
        return Target(QueueKind.UNNAMED) if path is None else by_path(path, self.computer)

    def opens(self, path: str | None, name: str | None, access: int = SEND) -> Handle | None:
        """Return the handle that an opening of a name gives; None if it fails."""
        target = self.target(path, name)
        if target.kind is QueueKind.HERE and target.key in self.queues:
            return Handle(target.key, access=access)
        public = self.directory is not None and name in self.directory.paths.values()
        away = target.kind is QueueKind.ELSEWHERE or public or (name or "").upper().startswith("MULTICAST=")
        if away and access == SEND and name is not None:
            return Handle(name=name, access=access)
        return None

    def with_queue(self, key: str, queue: Queue) -> Computer:
        return replace(self, queues={**self.queues, key: queue})

    def with_outgoing(self, queue: Outgoing) -> Computer:
        return replace(self, outgoing={**self.outgoing, queue.name.casefold(): queue})

    def with_opened(self, name: str, handle: Handle) -> Computer:
        """Return the world with a handle, and with the outgoing queue that it makes."""
        world = replace(self, opened={**self.opened, name: handle})
        if handle.name and handle.name.casefold() not in world.outgoing:
            world = world.with_outgoing(Outgoing(handle.name))
        return world

    def with_converted(self, path: str, shown: str) -> Computer:
        """Return the world with the format name that an object has made of a path name, the first time it is shown."""
        return replace(self, converted={path.casefold(): shown, **self.converted})

    def without_opened(self, name: str) -> Computer:
        return replace(self, opened={key: one for key, one in self.opened.items() if key != name})

    def sent(self, handle: Handle, because: Names = (), *, transactional: bool = False) -> Computer:
        """Return the world with one message more where a handle leads."""
        if handle.name:
            queue = self.outgoing[handle.name.casefold()]
            more = replace(queue, messages=queue.messages + 1, numbered=queue.numbered + transactional)
            return self.with_outgoing(more)
        one = self.queues[handle.key]
        return self.with_queue(handle.key, replace(one, messages=one.messages + 1, because=because))

    def received(self, handle: Handle) -> Computer:
        """Return the world after a receive at a handle, which moves a message to the journal, if there is one."""
        one = self.queues[handle.key]
        if not one.messages:
            return self
        return self.with_queue(
            handle.key, replace(one, messages=one.messages - 1, journaled=one.journaled + one.journal)
        )

    def is_open(self, key: str) -> bool:
        """Tell whether a queue here has an open descriptor, which makes it active."""
        return any(handle.key == key for handle in self.opened.values())

    def is_active(self, name: str) -> bool:
        """Tell whether an outgoing queue has an open descriptor or a message that waits (MS-MQDMPR 3.1.1.2, Active)."""
        held = any(handle.name.casefold() == name.casefold() for handle in self.opened.values())
        return held or (name.casefold() in self.outgoing and self.outgoing[name.casefold()].messages > 0)

    def names_private(self, shown: str, key: str) -> bool:
        """Tell whether a text is a private format name of this computer that no other queue has been shown with."""
        match = _PRIVATE.fullmatch(shown)
        if match is None or match["manager"].casefold() != self.manager.casefold():
            return False
        return self.formats.get(shown.casefold(), key) == key


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
_STORED: Final[Mapping[str, Mapping[str, str]]] = {
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
"""The method of the plain facets that has the same effect as a member."""
_ASKS: Final = frozenset({"Machine", "FormatName", "Init"})
DEFAULTS: Final[Mapping[str, Variant]] = {
    "RelServiceType": long(1),
    "RelLabel": long(1),
    "RelCreateTime": long(1),
    "RelModifyTime": long(1),
    "RelMulticastAddress": long(1),
    "Flags": long(1),
}
"""The value that a member takes for an argument that is left out."""
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
            kept_as=_STORED.get(coclass, {}).get(name),
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


SERVICES: Final[Mapping[str, Mapping[str, Member]]] = {
    coclass: {member.name: member for member in _rows(coclass)} for coclass in INTERFACES
}
"""Class to its members by name."""
