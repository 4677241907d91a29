"""Members of the COM objects as data: their slots, arguments, values, refusals and checks.

A row describes one member of a class, with all the forms in which a client calls it: a property that is read and
written is one row with two slots. The tables of the classes are made of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from conformance.activex.domains import Domain
from conformance.activex.values import Variant

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
