"""Type information: the members that a class says it has, against the tables (MC-MQAC 3.x.4, section 6).

An interface lists its members by name, kind, place and arguments. Names of arguments are left out: drivers that read
them from an object of their language have other ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from conformance.activex.cells import requirements
from conformance.activex.members import Member, Slot
from conformance.activex.tables import CLASSES
from conformance.verdict import Outcome, Verdict

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
    wanted = {"kind": slot.kind, "slot": slot.opnum, "arguments": _taken(slot)}
    actual = None if found is None else {"kind": slot.kind, "slot": found["slot"], "arguments": _given(found)}
    outcome = Outcome.PASS if actual == wanted else Outcome.FAIL
    for name in names:
        yield Verdict(name, outcome, f"{member.coclass}.{member.name}", wanted, {"member": actual})


def _taken(slot: Slot) -> int:
    return sum(not argument.result for argument in slot.arguments)


def _given(found: Mapping[str, Any]) -> int:
    return sum(not {"out", "retval"} & set(argument.get("flags", ())) for argument in found.get("arguments", ()))


def ideal(coclass: str) -> Interfaces:
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


def claimed(coclass: str) -> tuple[str, ...]:
    """Return the requirements that a description is judged by."""
    return tuple(verdict.requirement for verdict in described(coclass, ideal(coclass)))
