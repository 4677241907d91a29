"""The type library as MC-MQAC section 6 declares it: interfaces with their members, and those of each class."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from conformance.spec.catalogue import requirement_id
from conformance.spec.compiled import data_folder

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
