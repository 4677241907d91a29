"""The type library (MC-MQAC 6): interfaces with their identifiers and members, and constants."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from conformance.embedded.objects.type_library_rows import ROWS
from conformance.embedded.objects.type_library_rows_more import ROWS as MORE
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.hresults import HRESULTS
from conformance.spec.constants.interfaces import COCLASSES, INTERFACES

if TYPE_CHECKING:
    from conformance.embedded.objects.dispatch import ComObject

Json = Any
REVISIONS: Final[Mapping[str, tuple[int, ...]]] = {
    "IMSMQQueueInfo": (36, 40, 45, 45),
    "IMSMQQueue": (19, 25, 38, 39),
    "IMSMQMessage": (55, 81, 97, 97),
    "IMSMQQuery": (7, 8, 9, 9),
    "IMSMQQueueInfos": (8, 9, 9, 9),
    "IMSMQTransactionDispenser": (7, 8, 8),
    "IMSMQCoordinatedTransactionDispenser": (7, 8, 8),
}
"""Interfaces whose revisions repeat and extend their first one: the last slot of each."""
FIRST_SLOT: Final[Mapping[str, int]] = {"IUnknown": 3, "IDispatch": 7, "dispinterface": 7}
ALONE: Final[dict[str, dict[str, int]]] = {
    "MQCERT_REGISTER": {"MQCERT_REGISTER_ALWAYS": 1, "MQCERT_REGISTER_IF_NOT_EXIST": 2},
    "MQMSGIDSIZE": {"MQMSG_MSGID_SIZE": 20, "MQMSG_CORRELATIONID_SIZE": 20, "MQMSG_XACTID_SIZE": 20},
    "MQMSGMAX": {"MQ_MAX_MSG_LABEL_LEN": 249},
    "MQPRIORITY": {"MQ_MIN_PRIORITY": 0, "MQ_MAX_PRIORITY": 7},
    "MQMAX": {"MQ_MAX_Q_NAME_LEN": 124, "MQ_MAX_Q_LABEL_LEN": 124},
    "QUEUE_TYPE": {
        "MQ_TYPE_PUBLIC": 0, "MQ_TYPE_PRIVATE": 1, "MQ_TYPE_MACHINE": 2, "MQ_TYPE_CONNECTOR": 3, "MQ_TYPE_MULTICAST": 4,
    },
    "FOREIGN_STATUS": {"MQ_STATUS_FOREIGN": 0, "MQ_STATUS_NOT_FOREIGN": 1, "MQ_STATUS_UNKNOWN": 2},
    "XACT_STATUS": {"MQ_XACT_STATUS_XACT": 0, "MQ_XACT_STATUS_NOT_XACT": 1, "MQ_XACT_STATUS_UNKNOWN": 2},
    "MQDEFAULT": {
        "DEFAULT_M_PRIORITY": 3, "DEFAULT_M_DELIVERY": 0, "DEFAULT_M_ACKNOWLEDGE": 0, "DEFAULT_M_JOURNAL": 0,
        "DEFAULT_M_APPSPECIFIC": 0, "DEFAULT_M_PRIV_LEVEL": 0, "DEFAULT_M_AUTH_LEVEL": 0, "DEFAULT_M_SENDERID_TYPE": 1,
        "DEFAULT_Q_JOURNAL": 0, "DEFAULT_Q_BASEPRIORITY": 0, "DEFAULT_Q_QUOTA": 0xFFFFFFFF,
        "DEFAULT_Q_JOURNAL_QUOTA": 0xFFFFFFFF, "DEFAULT_Q_TRANSACTION": 0, "DEFAULT_Q_AUTHENTICATE": 0,
        "DEFAULT_Q_PRIV_LEVEL": 1, "DEFAULT_M_LOOKUPID": 0,
    },
    "MQWARNING": {name: value for name, value in HRESULTS.items() if value >> 16 == 0x400E},
}  # fmt: skip
"""Enumerations that the interface definition has alone, but for MQERROR, whose numbers it prints a line off."""
_VERSION = re.compile(r"_v(\d)\Z")
_REVISION = re.compile(r"\d?\Z")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument as the interface definition declares it. vt: its type, None if no VARIANT has it."""

    name: str
    vt: str | None
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an interface. called: its name in the newest revision of the interface."""

    slot: int
    kind: str
    name: str
    arguments: tuple[Argument, ...]
    called: str


class TypeLibrary:
    """What clients learn of the classes without making an object."""

    def described(self, target: type[ComObject]) -> dict[str, Json]:
        """Return the description of a class in the form of the protocol."""
        return {
            **({"clsid": self.clsid(target.CLASS)} if target.CLASS in COCLASSES else {}),
            "interfaces": [self.interface(name) for name in (*target.INTERFACES, *target.SOURCES)],
            "constants": self.constants(),
        }

    def interface(self, name: str) -> dict[str, Json]:
        """Return the description of an interface."""
        return {
            "name": name,
            "iid": self.iid(name),
            "base": self.base(name),
            "members": [_told(each, self.base(name)) for each in self.members(name)],
        }

    def clsid(self, name: str) -> str:
        """Return the identifier of a class."""
        return COCLASSES[name]

    def iid(self, name: str) -> str:
        """Return the identifier of an interface."""
        return INTERFACES[name].uuid

    def base(self, name: str) -> str:
        """Return the interface that an interface extends."""
        return INTERFACES[name].base

    def members(self, name: str) -> tuple[Member, ...]:
        """Return the members of an interface, without those of its base."""
        return declared(name)

    def constants(self) -> dict[str, dict[str, int]]:
        """Return the enumerations."""
        listed = {each: dict(found.members) for each, found in ENUMERATIONS.items() if _is_ours(found.source)}
        return {**listed, **ALONE}


@cache
def declared(name: str) -> tuple[Member, ...]:
    """Return the members of an interface as it declares them; empty for one that has none."""
    family = _REVISION.sub("", name)
    last, revision = None, 0
    if family in REVISIONS:
        revision = int(name.removeprefix(family) or 1)
        last, name = REVISIONS[family][revision - 1], f"{family}{len(REVISIONS[family])}"
    rows = ({**ROWS, **MORE}).get(name, "").split("\n")
    first = _first_slot(name)
    members = [_member(first + at, row.split(), revision) for at, row in enumerate(filter(None, map(str.strip, rows)))]
    return tuple(each for each in members if last is None or each.slot <= last)


def _first_slot(name: str) -> int:
    base = INTERFACES[name].base
    return FIRST_SLOT[base] if base in FIRST_SLOT else _first_slot(base) + len(declared(base))


def _member(slot: int, row: list[str], revision: int) -> Member:
    kind, called, *arguments = row
    version = _VERSION.search(called)
    older = version is not None and revision and int(version[1]) >= revision
    name = _VERSION.sub("", called) if older else called
    return Member(slot, kind, name, tuple(_argument(kind, each) for each in arguments), called)


def _argument(kind: str, word: str) -> Argument:
    if word.endswith("?"):
        return Argument(word[:-1], "VARIANT", ("in", "optional"))
    name, _, vt = word.lstrip(">").partition(":")
    if kind != "get" and not word.startswith(">"):
        return Argument(name, vt or None, ("in",))
    return Argument(name, vt or None, ("out", "retval") if vt else ("out",))


def _told(member: Member, base: str) -> dict[str, Json]:
    place = {"dispid": member.slot - FIRST_SLOT[base]} if base == "dispinterface" else {}
    return {
        "name": member.name,
        "kind": member.kind,
        "slot": member.slot,
        **place,
        "arguments": [
            {"name": each.name, **({"vt": each.vt} if each.vt else {}), "flags": list(each.flags)}
            for each in member.arguments
        ],
    }


def _is_ours(source: str) -> bool:
    return source.startswith("MC-MQAC 2.2.2")
