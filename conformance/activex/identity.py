"""Identity: what a class says of itself, and which interfaces its objects answer to (MC-MQAC 1.9, 3.x.4, section 6).

What a driver does not tell of a member is not judged: its place, the types of its arguments, their flags. Without a
place there is no type library at all, and then names of arguments are those of the driver's language.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from conformance.activex import library
from conformance.activex.expected import Readings
from conformance.activex.library import Declared, DeclaredInterface
from conformance.spec.catalogue import reading_id, requirement_id
from conformance.spec.constants.interfaces import COCLASSES
from conformance.verdict import Outcome, Verdict

Described = Iterable[Mapping[str, Any]]

E_NOINTERFACE: Final = 0x80004002
KIND: Final = reading_id("R-MQAC-active-queues-kind")
_OTHER_KINDS: Final[Mapping[tuple[str, str], str]] = {("ActiveQueues", "method"): "get"}
"""Member and kind in the document to the kind that a type library in use has."""
EVERY_OBJECT: Final = requirement_id("MQAC-3.1.client-active-x-i-unknown")
_OUTGOING: Final = "_DMSMQEventEvents"
_DISPINTERFACE: Final = "dispinterface"
_ANSWERED: Final = {
    "MSMQEvent": {
        "IConnectionPointContainer": (
            requirement_id("MQAC-3.16.class-msmq-event-i-connection-point"),
            requirement_id("MQAC-3.16.4.6.class-and-interface-ids"),
        ),
        "IConnectionPoint": (requirement_id("MQAC-3.16.class-msmq-event-i-connection-point"),),
    }
}
"""Interfaces beside those of its type library that a class answers to."""
POINT: Final = reading_id("R-MQAC-event-connection-point")
_ELSEWHERE: Final = frozenset({"IConnectionPoint"})
"""Interfaces among these that another object may have, to which the class leads."""


def described(
    coclass: str, shown: Described, readings: Readings | None = None, clsid: str | None = None
) -> Iterator[Verdict]:
    """Yield the verdicts on the description of a class. clsid: its identifier, None where it is not told."""
    told = {one["name"]: one for one in shown}
    known = {} if readings is None else readings
    others = {name: _as_declared(one, known) for name, one in told.items()}
    if others == told:
        yield from _described(coclass, told)
        yield _declaration(coclass, told, clsid)
        return
    for letter, other in zip(_described(coclass, told), _described(coclass, others), strict=True):
        explained = letter.outcome is Outcome.FAIL and other.outcome is Outcome.PASS
        yield replace(other, readings=((KIND, "property"),)) if explained else other
    yield _declaration(coclass, told, clsid)


def other_kind(member: str, kind: str) -> str | None:
    """Return the form in which type libraries in use have a member, None if it is the document's."""
    return _OTHER_KINDS.get((member, kind))


def takes_other_kind(readings: Readings) -> bool:
    """Tell whether a member may have that form."""
    return "property" in readings.get(KIND, ("property",))


def _as_declared(interface: Mapping[str, Any], readings: Readings) -> Mapping[str, Any]:
    """Return what is told of an interface with the document's kind of each member that may have another one."""
    if not takes_other_kind(readings):
        return interface
    kinds = {(name, other): kind for (name, kind), other in _OTHER_KINDS.items()}
    members = [{**one, "kind": kinds.get((one["name"], one["kind"]), one["kind"])} for one in interface["members"]]
    return {**interface, "members": members}


def _described(coclass: str, told: Mapping[str, Mapping[str, Any]]) -> Iterator[Verdict]:
    for name in library.classes()[coclass]:
        wanted, found = library.interfaces()[name], told.get(name)
        whole = _interface(coclass, wanted, found)
        members = (
            verdict
            for slot, member in wanted.members.items()
            for verdict in _member(
                coclass, name, member, _at(told, name, slot), library.of_members().get((name, slot), ())
            )
        )
        # A member that is told otherwise is wrong itself; where one is lacking, the interface is.
        alike = found is not None and len(found["members"]) == len(wanted.members)
        yield from chain(members, whole) if alike else chain(whole, members)
    yield from _revisions(coclass, told)


def _declaration(coclass: str, told: Mapping[str, Mapping[str, Any]], clsid: str | None) -> Verdict:
    """Return the verdict on the declaration of a class: names of its interfaces, the default one, and the identifier.

    Which interface is the default one is known of a type library alone: without it, or without the identifier, nothing
    passes.
    """
    ones = library.classes()[coclass]
    expected: dict[str, Any] = {"interfaces": sorted(ones)}
    actual: dict[str, Any] = {"interfaces": sorted(told)}
    if all("slot" in member for one in told.values() for member in one["members"]):
        expected["default"], actual["default"] = ones[0], next(iter(told), None)
    if clsid is not None:
        expected["clsid"], actual["clsid"] = COCLASSES[coclass], clsid.lower()
    name = library.declaration_of(coclass)
    if actual != expected:
        return Verdict(name, Outcome.FAIL, coclass, expected, actual)
    if not {"default", "clsid"} <= expected.keys():
        return Verdict(name, Outcome.SKIP, coclass, reason="the driver tells no clsid, or no slots of a type library")
    return Verdict(name, Outcome.PASS, coclass, expected, actual)


def answers(coclass: str, iid: str, status: int, same: bool, readings: Readings | None = None) -> Iterator[Verdict]:
    """Yield the verdicts on a query for an interface. same: the object that was handed out is the one asked."""
    name = next((one.name for one in library.interfaces().values() if one.iid == iid), None)
    has = name in library.classes()[coclass] and name != _OUTGOING
    names = tuple(one for one in library.of_interfaces().get(name or "", ()) if not one.startswith("MQAC-6."))
    if iid in (library.IUNKNOWN, library.IDISPATCH):
        has, names = True, (EVERY_OBJECT,)
    elif not has:
        names = _ANSWERED.get(coclass, {}).get(name or "", ())
        has = bool(names)
    wanted = {"status": 0, "object": "the same"} if has else {"status": E_NOINTERFACE}
    actual = {"status": status, "object": "the same" if same else "another"} if status == 0 else {"status": status}
    word = "object" if actual == wanted else "beside" if name in _ELSEWHERE and status == E_NOINTERFACE else ""
    assumed = ((POINT, word),) if name in _ELSEWHERE and word else ()
    taken = word in (readings or {}).get(POINT, (word,)) if assumed else actual == wanted
    outcome = Outcome.PASS if taken else Outcome.FAIL
    for one in names:
        yield Verdict(one, outcome, f"{coclass} as {name or iid}", wanted, actual, assumed)


def identified(coclass: str, status: int, clsid: str | None) -> Iterator[Verdict]:
    """Yield the verdict on the identifier of a class that a library describes: an object of it can be made.

    status: what its creation answered. clsid: the identifier, None where it is not told.
    """
    name = library.of_classes().get(coclass)
    if name is not None:
        expected: dict[str, Any] = {"status": 0} | ({} if clsid is None else {"clsid": COCLASSES[coclass]})
        actual: dict[str, Any] = {"status": status} | ({} if clsid is None else {"clsid": clsid.lower()})
        if actual != expected:
            yield Verdict(name, Outcome.FAIL, coclass, expected, actual)
        elif clsid is None:
            yield Verdict(name, Outcome.SKIP, coclass, reason="the driver tells no clsid")
        else:
            yield Verdict(name, Outcome.PASS, coclass, expected, actual)


_DIRECTORY: Final = ("directory",)
_MANAGED: Final = ("management.get", "outgoing.counts")
MEANS: Final[Mapping[str, tuple[str, ...]]] = {
    "MSMQEvent": ("objects.advise",),
    "MSMQQuery": _DIRECTORY,
    "MSMQQueueInfos": _DIRECTORY,
    "MSMQManagement": _MANAGED,
    "MSMQQueueManagement": _MANAGED,
    "MSMQOutgoingQueueManagement": _MANAGED,
    "MSMQCollection": _MANAGED,
}
"""Class to the methods of which a driver has one if it has the class: who offers none of them may lack it."""


def absent(coclass: str, status: int) -> Iterator[Verdict]:
    """Yield the verdict on a class that a driver neither describes nor makes, though it has others of the library.

    status: what the creation of an object of it answered.
    """
    name = library.of_classes().get(coclass)
    if name is not None:
        yield Verdict(name, Outcome.FAIL, coclass, {"status": 0}, {"status": status})


def queried(coclass: str) -> tuple[str, ...]:
    """Return the interfaces that an object of a class is asked for."""
    own = (library.interfaces()[name].iid for name in library.classes()[coclass] if name != _OUTGOING)
    further = (library.interfaces()[name].iid for name in _ANSWERED.get(coclass, {}))
    return (library.IUNKNOWN, library.IDISPATCH, *own, *further)


def _interface(coclass: str, wanted: DeclaredInterface, found: Mapping[str, Any] | None) -> Iterator[Verdict]:
    iid = {"iid": wanted.iid}
    shown = None if found is None else {"iid": str(found["iid"]).lower()}
    whole: dict[str, Any] = iid | {
        "base": wanted.base,
        "members": _names(one.to_json() for one in wanted.members.values()),
    }
    seen = None
    if found is not None and shown is not None:
        seen = shown | {"base": _base(found, wanted), "members": _names(found["members"])}
        if any("slot" not in one for one in found["members"]):
            whole, seen = iid, shown
    for name in library.of_interfaces().get(wanted.name, ()):
        expected, actual = (whole, seen) if name.startswith("MQAC-6.") else (iid, shown)
        outcome = Outcome.PASS if actual == expected else Outcome.FAIL
        yield Verdict(name, outcome, f"{coclass}: {wanted.name}", expected, actual)


def _base(found: Mapping[str, Any], wanted: DeclaredInterface) -> Any:
    """Return the base that a description tells. A dispinterface is told by its kind, or by the interface it extends."""
    base = found.get("base", wanted.base)
    return wanted.base if (wanted.base, base) == (_DISPINTERFACE, "IDispatch") else base


def _names(members: Iterable[Mapping[str, Any]]) -> list[str]:
    return sorted(f"{one.get('slot')} {one['kind']} {one['name']}" for one in members)


def _member(
    coclass: str, interface: str, wanted: Declared, found: Mapping[str, Any] | None, names: tuple[str, ...]
) -> Iterator[Verdict]:
    if found is not None and "slot" not in found:
        return
    expected = wanted.to_json()
    right = found is not None and _plain(found, wanted) == _plain(expected, wanted)
    actual = None if found is None else dict(found)
    for name in names:
        outcome = Outcome.PASS if right else Outcome.FAIL
        yield Verdict(name, outcome, f"{coclass}: {interface}.{wanted.name}", expected, actual)


def _plain(member: Mapping[str, Any], wanted: Declared) -> dict[str, Any]:
    """Return a member in the form in which two are compared: what is not told is as it is wanted."""
    arguments = []
    for at, one in enumerate(member.get("arguments", ())):
        _, vt, flags = wanted.arguments[at] if at < len(wanted.arguments) else ("", "", frozenset[str]())
        arguments.append([one["name"].lower(), one.get("vt", vt), sorted(one.get("flags", flags))])
    kept = {"name": member["name"], "kind": member["kind"], "slot": member.get("slot"), "arguments": arguments}
    return kept | ({} if wanted.dispid is None else {"dispid": member.get("dispid")})


def _at(told: Mapping[str, Mapping[str, Any]], interface: str, slot: int) -> Mapping[str, Any] | None:
    """Return what is told of the member at a place of an interface or of its bases; by name where no place is told."""
    one = told.get(interface)
    if one is None:
        return None
    wanted = library.at(interface, slot)
    members: Iterable[Mapping[str, Any]] = one["members"]
    for member in members:
        if member.get("slot") == slot:
            return member
        if (
            "slot" not in member
            and wanted is not None
            and (member["kind"], member["name"]) == (wanted.kind, wanted.name)
        ):
            return member
    return _at(told, str(one.get("base")), slot)


def _revisions(coclass: str, told: Mapping[str, Mapping[str, Any]]) -> Iterator[Verdict]:
    present = [number for number in range(1, 5) if library.revision(coclass, number) in library.classes()[coclass]]
    for (owner, slot), (name, numbers) in library.of_revisions().items():
        if owner != coclass:
            continue
        expected: dict[str, Any] = {}
        actual: dict[str, Any] = {}
        for number in present:
            interface = library.revision(coclass, number)
            wanted, found = library.at(interface, slot), _at(told, interface, slot)
            if found is not None and "slot" not in found:
                return
            has = wanted is not None and number in numbers
            expected[interface] = f"{wanted.kind} {wanted.name}" if wanted is not None and has else None
            actual[interface] = None if found is None else f"{found['kind']} {found['name']}"
        outcome = Outcome.PASS if actual == expected else Outcome.FAIL
        yield Verdict(name, outcome, f"{coclass}: place {slot}", expected, actual)


def ideal(coclass: str) -> list[Mapping[str, Any]]:
    """Return a description that follows the document."""
    ones = [library.interfaces()[name] for name in library.classes()[coclass]]
    return [
        {"name": one.name, "iid": one.iid, "base": one.base, "members": [m.to_json() for m in one.members.values()]}
        for one in ones
    ]


def claimed(coclass: str) -> tuple[str, ...]:
    """Return the requirements that the description of a class and the queries of its objects judge."""
    found = [*described(coclass, ideal(coclass)), *identified(coclass, 0, None)]
    for iid in queried(coclass):
        found += answers(coclass, iid, 0, True)
    return tuple(dict.fromkeys(verdict.requirement for verdict in found))
