"""The members of the objects: arguments, results, domains of values, and the cells of a row with their requirements."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, Protocol

from conformance.activex.values import INTEGERS, Variant, long, text
from conformance.spec.catalogue import requirement_id
from conformance.spec.compiled import data_folder
from conformance.spec.constants.enumerations import ENUMERATIONS

_GUID = re.compile(r"\{[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}")


class Domain(Protocol):
    """The values that a parameter takes."""

    def admits(self, value: Variant) -> bool:
        """Tell whether the member takes the value."""

    def inside(self) -> tuple[Variant, ...]:
        """Return values that the member takes: those at the limits, where there are limits."""

    def outside(self) -> tuple[Variant, ...]:
        """Return values of the declared type that the member refuses; none if it takes all."""


@dataclass(frozen=True, slots=True)
class Longs:
    """Whole numbers of 32 bits between two limits."""

    low: int = INTEGERS["I4"][0]
    high: int = INTEGERS["I4"][1]

    def admits(self, value: Variant) -> bool:
        return value.vt == "I4" and self.low <= value.value <= self.high

    def inside(self) -> tuple[Variant, ...]:
        middle = (self.low + self.high + 1) // 2
        return tuple(long(number) for number in sorted({self.low, middle, self.high}))

    def outside(self) -> tuple[Variant, ...]:
        least, most = INTEGERS["I4"]
        near = {self.low - 1, self.high + 1, least, most}
        return tuple(Variant("I4", n) for n in sorted(near) if least <= n <= most and not self.low <= n <= self.high)


@dataclass(frozen=True, slots=True)
class Named:
    """The values of an enumeration, and further ones that the member's steps name."""

    enumeration: str
    further: tuple[int, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(sorted({*ENUMERATIONS[self.enumeration].members.values(), *self.further}))

    def admits(self, value: Variant) -> bool:
        return value.vt == "I4" and value.value in self.numbers

    def inside(self) -> tuple[Variant, ...]:
        return tuple(long(number) for number in self.numbers)

    def outside(self) -> tuple[Variant, ...]:
        numbers = self.numbers
        near = {one for number in numbers for one in (number - 1, number + 1)} | {-1, 0x7FFFFFFF}
        return tuple(Variant("I4", number) for number in sorted(near - set(numbers)))


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts. below: they have fewer characters than this. further: texts that the member's section names."""

    below: int | None = None
    further: tuple[str, ...] = ()

    def admits(self, value: Variant) -> bool:
        return value.vt == "BSTR" and (self.below is None or len(value.value or "") < self.below)

    def inside(self) -> tuple[Variant, ...]:
        lengths = (125, 250, 1000) if self.below is None else (self.below - 1,)
        longest = (text("x" * length) for length in lengths)
        named = (text(one) for one in self.further)
        return (text("a"), text(" a  b "), text("Ünï€ \U0001f600"), *named, *longest, text(""))

    def outside(self) -> tuple[Variant, ...]:
        return () if self.below is None else (text("x" * self.below), text("x" * (4 * self.below)))


@dataclass(frozen=True, slots=True)
class Guids:
    """Texts of GUIDs in braces (3.17.4.1.53 and .54)."""

    def admits(self, value: Variant) -> bool:
        return value.vt == "BSTR" and _GUID.fullmatch(value.value or "") is not None

    def inside(self) -> tuple[Variant, ...]:
        return (
            text("{01234567-89AB-CDEF-0123-456789ABCDEF}"),
            text("{01234567-89ab-cdef-0123-456789abcdef}"),
            text("{" + "F" * 8 + "-FFFF" * 3 + "-" + "F" * 12 + "}"),
        )

    def outside(self) -> tuple[Variant, ...]:
        bare = "01234567-89AB-CDEF-0123-456789ABCDEF"
        wrong = ("G" + bare[1:], bare[:-1], bare + "0", bare.replace("-", ""))
        return (text(bare), *(text("{" + one + "}") for one in wrong), text("{" + bare), text("a"))


@dataclass(frozen=True, slots=True)
class Variants:
    """Values of some types, each shown by the samples, and others that the member refuses."""

    samples: tuple[Variant, ...]
    refused: tuple[Variant, ...] = ()

    def admits(self, value: Variant) -> bool:
        return (value.vt, value.of) in {(sample.vt, sample.of) for sample in self.samples}

    def inside(self) -> tuple[Variant, ...]:
        return self.samples

    def outside(self) -> tuple[Variant, ...]:
        return self.refused


Kind = Literal["method", "get", "put", "putref"]

INFINITE: Final = Variant("I4", -1)


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a member. vt: the declared type; VARIANT arguments keep the type that the client gives them.

    default: what the member takes when the client leaves the argument out; `optional` says whether it may. result: the
    argument is what the member answers.
    """

    name: str
    vt: str
    default: Variant | None = None
    optional: bool = False
    result: bool = False


@dataclass(frozen=True, slots=True)
class Slot:
    """One form of a member: a method, or the reading or writing of a property. opnum: its place in the interface."""

    kind: Kind
    opnum: int
    section: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """A precondition of a member. name: that of its cell. status: the HRESULT of the refusal, None for any failure."""

    name: str
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """The effect of a member at the queue manager. call: a method of the protocol's plain facets with the same effect.

    cursor: the member reads at the object's own cursor.
    """

    call: str
    cursor: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a class.

    interface: the one that declares it first in the sections of the class. initial: what a new object shows; None if
    the document does not say. null: a new object's value is NULL, shown in any form that stands for it. takes: values
    of a put, None for what has no put. refusal: the HRESULT of others. unimplemented: every form answers E_NOTIMPL.
    kept_as: the attribute of the abstract data model that holds the value; members that share it show each other's.
    checks: preconditions in the order of the text.
    """

    coclass: str
    interface: str
    name: str
    slots: tuple[Slot, ...]
    vt: str | None = None
    initial: Variant | None = None
    null: bool = False
    takes: Domain | None = None
    refusal: int | None = None
    unimplemented: bool = False
    kept_as: str | None = None
    checks: tuple[Check, ...] = ()
    event: Event | None = None

    def slot(self, kind: Kind) -> Slot | None:
        """Return the slot of a form, None if the member lacks it."""
        return next((slot for slot in self.slots if slot.kind == kind), None)


def property_slots(section: str, vt: str, **forms: tuple[int, str]) -> Iterator[Slot]:
    """Yield the slots of a property. forms: `get`, `put`, `putref`, each with opnum and name of the argument.

    section: that of the interface's methods, where opnum 7 is the first: most classes describe them in this order.
    """
    for kind in ("get", "put", "putref"):
        if kind in forms:
            opnum, name = forms[kind]
            argument = Argument(name, vt, result=kind == "get")
            yield Slot(kind, opnum, f"{section}.{opnum - 6}", (argument,))


def left_out(name: str, default: Variant | None = None) -> Argument:
    """Return a VARIANT argument that the client may leave out."""
    return Argument(name, "VARIANT", default, optional=True)


Cells = Mapping[str, tuple[str, ...]]


@cache
def all_cells() -> Mapping[str, Cells]:
    """Return `Class.Member.form` to columns to requirement ids. Raises CatalogueError for an unknown id."""
    data = tomllib.loads((data_folder() / "cells" / "mqac.toml").read_text(encoding="utf-8"))
    return {
        key: {column: tuple(requirement_id(name) for name in names) for column, names in columns.items()}
        for key, columns in data.items()
    }


def requirements(member: Member, kind: Kind, *columns: str) -> tuple[str, ...]:
    """Return the requirements of some columns of a form of a member, without those of columns that it lacks."""
    return _requirements(member.coclass, member.name, kind, columns)


@cache
def flags(member: Member, kind: Kind, column: str = "gives") -> Mapping[int, tuple[str, ...]]:
    """Return the flags of which a value is made, with the requirements of each, where the text tells of them apart."""
    cells = all_cells().get(f"{member.coclass}.{member.name}.{kind}", {})
    of = f"{column}:flag:"
    return {int(name.removeprefix(of)): names for name, names in cells.items() if name.startswith(of)}


@cache
def _requirements(coclass: str, name: str, kind: Kind, columns: tuple[str, ...]) -> tuple[str, ...]:
    cells = all_cells().get(f"{coclass}.{name}.{kind}", {})
    return tuple(name for column in columns for name in cells.get(column, ()))
