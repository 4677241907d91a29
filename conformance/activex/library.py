"""The type library: interfaces, constants and members against the document's, and mutations (MC-MQAC 2.2.2)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from conformance.activex.members import Member, Slot, requirements
from conformance.activex.tables import CLASSES, STATES
from conformance.spec.catalogue import catalogue, requirement_id
from conformance.spec.compiled import data_folder
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.hresults import HRESULTS
from conformance.verdict import Outcome, Verdict

IUNKNOWN: Final = "00000000-0000-0000-c000-000000000046"
IDISPATCH: Final = "00020400-0000-0000-c000-000000000046"


@dataclass(frozen=True, slots=True)
class Declared:
    """A member of an interface. arguments: name, type and flags of each."""

    kind: str
    name: str
    slot: int
    arguments: tuple[tuple[str, str, frozenset[str]], ...]
    dispid: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the member as a description has it."""
        out: dict[str, Any] = {"name": self.name, "kind": self.kind, "slot": self.slot}
        if self.dispid is not None:
            out["dispid"] = self.dispid
        out["arguments"] = [{"name": name, "vt": vt, "flags": sorted(flags)} for name, vt, flags in self.arguments]
        return out


@dataclass(frozen=True, slots=True)
class DeclaredInterface:
    """An interface. members: its own ones by their place, without those of its base."""

    name: str
    iid: str
    base: str
    members: Mapping[int, Declared] = field(default_factory=dict)


@cache
def interfaces() -> Mapping[str, DeclaredInterface]:
    """Return the interfaces by name."""
    return {
        name: DeclaredInterface(name, one["iid"], one["base"], {m.slot: m for m in map(_member, one["members"])})
        for name, one in _data("library")["interfaces"].items()
    }


@cache
def classes() -> Mapping[str, tuple[str, ...]]:
    """Return the names of each class's interfaces, the default one first."""
    return {name: tuple(ones) for name, ones in _data("library")["classes"].items()}


@cache
def at(interface: str, slot: int) -> Declared | None:
    """Return the member at a place of an interface, its bases included; None if there is none."""
    one = interfaces().get(interface)
    if one is None:
        return None
    return one.members.get(slot) or at(one.base, slot)


@cache
def of_interfaces() -> Mapping[str, tuple[str, ...]]:
    """Return the requirements of each interface. Raises CatalogueError for an unknown id."""
    return {name: tuple(map(requirement_id, ids)) for name, ids in _data("identity")["interfaces"].items()}


@cache
def of_members() -> Mapping[tuple[str, int], tuple[str, ...]]:
    """Return the requirements of each member by interface and place."""
    found = {}
    for key, ids in _data("identity")["methods"].items():
        interface, slot = key.split()
        found[interface, int(slot)] = tuple(map(requirement_id, ids))
    return found


@cache
def of_revisions() -> Mapping[tuple[str, int], tuple[str, frozenset[int]]]:
    """Return by class and place of a member its requirement and the numbers of the revisions that have it."""
    found = {}
    for key, one in _data("identity")["revisions"].items():
        coclass, slot = key.split()
        found[coclass, int(slot)] = (requirement_id(one["requirement"]), frozenset(one["numbers"]))
    return found


@cache
def of_classes() -> Mapping[str, str]:
    """Return the requirement of each class's identifier."""
    return {name: requirement_id(one) for name, one in _data("identity")["classes"].items()}


def declaration_of(coclass: str) -> str:
    """Return the requirement of a class's declaration in section 6. Raises CatalogueError for an unknown class."""
    words = of_classes()[coclass].removeprefix("MQAC-1.9.").removesuffix("-class-id")
    return requirement_id(f"MQAC-6.{words}-coclass")


def revision(coclass: str, number: int) -> str:
    """Return the name of the interface that is a revision of a class: `IMSMQQueue2` is the second one."""
    return f"I{coclass}" if number == 1 else f"I{coclass}{number}"


def _member(line: str) -> Declared:
    kind, name, slot, *rest = line.split()
    dispid = next((int(word.removeprefix("dispid=")) for word in rest if word.startswith("dispid=")), None)
    arguments = tuple(_argument(word) for word in rest if ":" in word)
    return Declared(kind, name, int(slot), arguments, dispid)


def _argument(word: str) -> tuple[str, str, frozenset[str]]:
    name, vt, flags = word.split(":")
    return name, vt, frozenset(flags.split("+"))


@cache
def _data(name: str) -> Mapping[str, Any]:
    return tomllib.loads((data_folder() / "cells" / f"{name}.toml").read_text(encoding="utf-8"))


_SOURCE: Final = "MC-MQAC 2.2.2."
_SPELLED: Final = {"MQMSG_ACKNOWLEDGEMENT_": "MQMSG_ACKNOWLEDGMENT_", "MQMSGDELIVERY_": "MQMSG_DELIVERY_"}
"""Beginnings of names as a section spells them, to those of section 6, of which type libraries are made (Q93)."""


@cache
def _entries() -> tuple[tuple[str, str, str, int], ...]:
    """Return requirement, enumeration, name and value of each constant."""
    known = {entry.id for entry in catalogue() if entry.kind == "member" and entry.checked == "call"}
    found: list[tuple[str, str, str, int]] = []
    for enumeration, listed in ENUMERATIONS.items():
        if not listed.source.startswith(_SOURCE):
            continue
        section = listed.source.removeprefix("MC-MQAC ")
        for name, value in listed.members.items():
            requirement = f"MQAC-{section}.{name.lower().replace('_', '-')}"
            if requirement in known:
                found.append((requirement, enumeration, name, value))
    return tuple(found)


_CODES: Final = ("MQERROR", "MQWARNING")
_CONTRADICTED: Final = range(0xC00E0001, 0xC00E001E)
"""Codes to whose names section 6 gives the values of their neighbours."""


@cache
def _codes() -> Mapping[str, tuple[str, int]]:
    """Return requirement and value of each code of MS-MQMQ 2.4 by its name, as far as section 6 agrees."""
    known = {entry.id for entry in catalogue() if entry.id.startswith("MQMQ-2.4.") and entry.checked == "call"}
    last = HRESULTS["MQ_ERROR_CANNOT_UPDATE_PSC_OBJECTS"]
    found = {
        name: (f"MQMQ-2.4.{name.lower().replace('_', '-')}", value)
        for name, value in HRESULTS.items()
        if value not in _CONTRADICTED and value <= last
    }
    return {name: each for name, each in found.items() if each[0] in known}


def codes_claimed() -> tuple[str, ...]:
    """Return the requirements on codes, which are judged as far as a library has them."""
    return tuple(requirement for requirement, _ in _codes().values())


def constants(shown: Mapping[str, Mapping[str, int]]) -> Iterator[Verdict]:
    """Yield a verdict on each constant, and on each code that is there.

    shown: the enumerations that a driver tells of, in a type library of theirs.
    """
    for enumeration in _CODES:
        for name, number in shown.get(enumeration, {}).items():
            if name in _codes():
                requirement, code = _codes()[name]
                outcome = Outcome.PASS if number == code else Outcome.FAIL
                yield Verdict(requirement, outcome, f"{enumeration}.{name}", code, number)
    plain = {enumeration: {_plain(name): value for name, value in each.items()} for enumeration, each in shown.items()}
    for requirement, enumeration, name, value in _entries():
        actual = plain.get(enumeration, {}).get(_plain(name))
        outcome = Outcome.PASS if actual == value else Outcome.FAIL
        yield Verdict(requirement, outcome, f"{enumeration}.{name}", value, actual)


def _plain(name: str) -> str:
    return next((new + name.removeprefix(old) for old, new in _SPELLED.items() if name.startswith(old)), name)


def enumerations_claimed() -> tuple[str, ...]:
    """Return the requirements on constants."""
    return tuple(requirement for requirement, *_ in _entries())


def reference_enumerations() -> dict[str, dict[str, int]]:
    """Return the enumerations as the document has them."""
    out: dict[str, dict[str, int]] = {}
    for _, enumeration, name, value in _entries():
        out.setdefault(enumeration, {})[name] = value
    for name, (_, value) in _codes().items():
        out.setdefault(_CODES[name.startswith("MQ_INFORMATION")], {})[name] = value
    return out


Interfaces = Iterable[Mapping[str, Any]]


def described(coclass: str, interfaces: Interfaces) -> Iterator[Verdict]:
    """Yield a verdict on each form of each member of a class. interfaces: those that it describes."""
    shown = {
        (member["name"], member["kind"]): member
        for interface in reversed(list(interfaces))
        for member in interface["members"]
    }
    for member in CLASSES[coclass].values():
        for slot in member.slots:
            names = requirements(member, slot.kind, "exists")
            found = shown.get((member.name, slot.kind))
            yield from _verdicts(names, member, slot, found)


def _verdicts(names: tuple[str, ...], member: Member, slot: Slot, found: Mapping[str, Any] | None) -> Iterator[Verdict]:
    if found is not None and "slot" not in found:
        return  # no type library: what can be seen without one are names and kinds
    wanted = {"kind": slot.kind, "slot": slot.opnum, "arguments": _parameter_count(slot)}
    actual = None if found is None else {"kind": slot.kind, "slot": found["slot"], "arguments": _argument_count(found)}
    outcome = Outcome.PASS if actual == wanted else Outcome.FAIL
    for name in names:
        yield Verdict(name, outcome, f"{member.coclass}.{member.name}", wanted, {"member": actual})


def _parameter_count(slot: Slot) -> int:
    return sum(not argument.result for argument in slot.arguments)


def _argument_count(found: Mapping[str, Any]) -> int:
    return sum(not {"out", "retval"} & set(argument.get("flags", ())) for argument in found.get("arguments", ()))


def reference_members(coclass: str) -> Interfaces:
    """Return a description that follows the tables."""
    members = [
        {
            "name": member.name,
            "kind": slot.kind,
            "slot": slot.opnum,
            "arguments": [{"name": one.name, "flags": ["out" if one.result else "in"]} for one in slot.arguments],
        }
        for member in CLASSES[coclass].values()
        for slot in member.slots
    ]
    return [{"name": "I", "iid": "", "members": members}]


def members_claimed(coclass: str) -> tuple[str, ...]:
    """Return the requirements that a description is judged by."""
    return tuple(verdict.requirement for verdict in described(coclass, reference_members(coclass)))


def caught_in_library() -> frozenset[str]:
    """Return the requirements that hold for a library that follows the document and fail for a changed one."""
    return frozenset(_failed(_changed())) & frozenset(_passed())


def _passed() -> Iterator[str]:
    verdicts = (*_described(0), *constants(reference_enumerations()))
    return (verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.PASS)


def _changed() -> Iterator[Verdict]:
    yield from _described(1)
    wrong = {name: {one: value ^ 1 for one, value in each.items()} for name, each in reference_enumerations().items()}
    yield from constants(wrong)


def _described(further: int) -> Iterator[Verdict]:
    """Yield the verdicts on classes whose members stand so many places further on."""
    for coclass, states in STATES.items():
        if states.new is None:
            continue
        for interface in reference_members(coclass):
            members = [{**member, "slot": member["slot"] + further} for member in interface["members"]]
            yield from described(coclass, [{**interface, "members": members}])


def _failed(verdicts: Iterator[Verdict]) -> Iterator[str]:
    return (verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL)
