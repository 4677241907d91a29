"""Type information: the members that a class says it has, against the tables (MC-MQAC 3.x.4, section 6).

An interface lists its members by name, kind, place and arguments. Names and types of arguments are compared in an
interface that tells its identifier, since it comes from a type library: a driver that reads them from an object of its
own language has other ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.activex import libraries
from conformance.activex.cells import requirements
from conformance.activex.members import Argument, Member, Slot
from conformance.activex.tables import CLASSES
from conformance.verdict import Outcome, Verdict

Interfaces = Iterable[Mapping[str, Any]]

MISPRINTED: Final = {"Trace": "lTrace", "ppqinfoAdmin": "pqinfoAdmin", "ppmq": "ppmsg"}
"""Names of arguments as sections of members print them, to the names that section 6 has there."""
_OPTIONAL: Final[Mapping[bool, list[str]]] = {False: [], True: ["optional"]}


def described(coclass: str, interfaces: Interfaces) -> Iterator[Verdict]:
    """Yield verdicts on the interfaces of a class and on each form of each member. interfaces: those it describes."""
    listed = list(interfaces)
    yield from libraries.identified(listed)
    by_name = {str(interface["name"]): _members(interface) for interface in listed}
    every = {key: member for interface in reversed(listed) for key, member in _members(interface).items()}
    for member in CLASSES.get(coclass, {}).values():
        for slot in member.slots:
            found = by_name.get(member.interface, every).get((member.name, slot.kind))
            yield from _verdicts(requirements(member, slot.kind, "exists"), member, slot, found)


def _members(interface: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, Any]]:
    typed = bool(interface.get("iid"))
    return {(member["name"], member["kind"]): {**member, "typed": typed} for member in interface["members"]}


def _verdicts(names: tuple[str, ...], member: Member, slot: Slot, found: Mapping[str, Any] | None) -> Iterator[Verdict]:
    if found is not None and "slot" not in found:
        return  # no type library: what can be seen without one are names and kinds
    wanted: dict[str, Any] = {"kind": slot.kind, "slot": slot.opnum, "arguments": _taken(slot)}
    actual: dict[str, Any] | None = None
    if found is not None:
        actual = {"kind": slot.kind, "slot": found["slot"], "arguments": _given(found)}
        shown = found.get("arguments", ())
        if found["typed"] and len(shown) == len(slot.arguments):
            pairs = list(zip(slot.arguments, shown, strict=True))
            wanted["named"] = [_declared(argument, one) for argument, one in pairs]
            actual["named"] = [_shown(one) for _, one in pairs]
    outcome = Outcome.PASS if actual == wanted else Outcome.FAIL
    for name in names:
        yield Verdict(name, outcome, f"{member.coclass}.{member.name}", wanted, {"member": actual})


def _declared(argument: Argument, shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return an argument as the table has it, with those members alone that a description shows."""
    misprinted = shown["name"] == MISPRINTED.get(argument.name)
    told = {"name": shown["name"] if misprinted else argument.name, "vt": argument.vt, "optional": argument.optional}
    return {name: value for name, value in told.items() if name in _shown(shown)}


def _shown(argument: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: argument[name] for name in ("name", "vt") if name in argument}
    return told | ({"optional": "optional" in argument["flags"]} if "flags" in argument else {})


def _taken(slot: Slot) -> int:
    return sum(not argument.result for argument in slot.arguments)


def _given(found: Mapping[str, Any]) -> int:
    return sum(not {"out", "retval"} & set(argument.get("flags", ())) for argument in found.get("arguments", ()))


def ideal(coclass: str) -> list[dict[str, Any]]:
    """Return a description that follows the tables, and what the document has of interfaces that they lack."""
    found: dict[str, list[dict[str, Any]]] = {}
    for member in CLASSES.get(coclass, {}).values():
        for slot in member.slots:
            arguments = [
                {"name": one.name, "vt": one.vt, "flags": ["out" if one.result else "in", *_OPTIONAL[one.optional]]}
                for one in slot.arguments
            ]
            told = {"name": member.name, "kind": slot.kind, "slot": slot.opnum, "arguments": arguments}
            found.setdefault(member.interface, []).append(told)
    declared = libraries.ideal(coclass)
    return [{**interface, "members": found.get(interface["name"], interface["members"])} for interface in declared]


def claimed(coclass: str) -> tuple[str, ...]:
    """Return the requirements that a description is judged by."""
    return tuple(verdict.requirement for verdict in described(coclass, ideal(coclass)))
