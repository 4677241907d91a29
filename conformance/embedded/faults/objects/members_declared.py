"""Faults of what type information says of single members and constants (MC-MQAC 2.2.2, 3.2 to 3.16, 6)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from conformance.embedded.faults.base import kebab, row
from conformance.embedded.faults.objects.type_libraries import CONSTANTS
from conformance.embedded.objects.type_library import REVISIONS, Member, TypeLibrary, declared
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.interfaces import METHODS

INTERFACES: Final = (
    "IMSMQApplication", "IMSMQApplication2", "IMSMQApplication3", "IMSMQManagement", "IMSMQQueueManagement",
    "IMSMQOutgoingQueueManagement", "IMSMQTransactionDispenser3", "IMSMQCoordinatedTransactionDispenser3",
    "IMSMQTransaction", "IMSMQTransaction2", "IMSMQTransaction3", "IMSMQDestination", "IMSMQPrivateDestination",
    "IMSMQQuery4", "IMSMQQueueInfos4", "IMSMQCollection", "IMSMQEvent2", "IMSMQPrivateEvent", "_DMSMQEventEvents",
)  # fmt: skip
"""Interfaces whose members are described."""
REVISED: Final = {
    "IMSMQApplication": (3, "3.2.4"), "IMSMQTransactionDispenser": (3, "3.6.4"),
    "IMSMQCoordinatedTransactionDispenser": (3, "3.7.4"), "IMSMQTransaction": (3, "3.9.4"),
    "IMSMQQuery": (4, "3.13.4"), "IMSMQQueueInfos": (4, "3.14.4"), "IMSMQEvent": (3, "3.16.4"),
}  # fmt: skip
"""Families of interfaces: the number of their revisions, and the section with the table of their members."""


def _word(member: Member) -> str:
    prefix = "" if member.kind == "method" else f"{member.kind}-"
    return prefix + kebab(member.called)


def _is_same(given: Member, wanted: Member) -> bool:
    return (given.kind, given.called) == (wanted.kind, wanted.called)


def _changed(interface: str, member: Member, **changes: Any) -> Any:
    def members(self: Any, name: str) -> tuple[Member, ...]:
        found = TypeLibrary.members(self, name)
        if name != interface:
            return found
        return tuple(replace(each, **changes) if _is_same(each, member) else each for each in found)

    return members


def _without(interface: str, member: Member) -> Any:
    def members(self: Any, name: str) -> tuple[Member, ...]:
        found = TypeLibrary.members(self, name)
        return found if name != interface else tuple(each for each in found if not _is_same(each, member))

    return members


_register = partial(row, __name__, "type_library")


def _members() -> None:
    for interface in INTERFACES:
        sections = {each.opnum: each.section for each in METHODS[interface]}
        for member in declared(interface):
            word, called = _word(member), f"{member.kind} {member.name} of {interface}"
            breaks = (f"{sections[member.slot]}.{word}-method",)
            name = f"{kebab(interface)}-{word}"
            _register(
                f"{name}-has-another-opnum", f"{called} is greater by 50 than its opnum.", breaks,
                members=_changed(interface, member, slot=member.slot + 50),
            )  # fmt: skip
            if member.arguments:
                first = replace(member.arguments[0], name="other")
                _register(
                    f"{name}-calls-an-argument-otherwise", f"The first argument of {called} is called other.", breaks,
                    members=_changed(interface, member, arguments=(first, *member.arguments[1:])),
                )  # fmt: skip


def _revisions() -> None:
    for family, (count, section) in REVISED.items():
        known: set[tuple[str, str]] = set()
        for revision in range(1, count + 1):
            interface = family + (str(revision) if revision > 1 else "")
            for member in declared(interface):
                if (member.kind, member.called) in known:
                    continue
                known.add((member.kind, member.called))
                also = ", and those that repeat it have it" if family in REVISIONS else ""
                _register(
                    f"{kebab(interface)}-lacks-{_word(member)}", f"{interface} has no {member.name}{also}.",
                    (f"{section}.{_word(member)}-revisions",), members=_without(interface, member),
                )  # fmt: skip


def _constants() -> None:
    for enumeration, found in ENUMERATIONS.items():
        if not found.source.startswith("MC-MQAC 2.2.2"):
            continue
        section = found.source.removeprefix("MC-MQAC ")
        for constant in found.members:
            if CONSTANTS.get(enumeration, ("",))[0] == constant:
                continue  # it has a fault there
            word = constant.lower().replace("_", "-")
            _register(
                f"{word}-is-1000-more", f"{constant} of {enumeration} is greater by 1000.", (f"{section}.{word}",),
                constants=_another(enumeration, constant),
            )  # fmt: skip


def _another(enumeration: str, constant: str) -> Any:
    def constants(self: Any) -> dict[str, dict[str, int]]:
        found = TypeLibrary.constants(self)
        found[enumeration] = {**found[enumeration], constant: found[enumeration][constant] + 1000}
        return found

    return constants


_members()
_revisions()
_constants()
