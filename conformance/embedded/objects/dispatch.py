"""Late binding (IDispatch::Invoke): a member is found by its name and kind, and its arguments are converted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from conformance.embedded.entities import MqError
from conformance.embedded.objects import variants
from conformance.embedded.objects.variants import (
    DISP_E_BADPARAMCOUNT,
    DISP_E_MEMBERNOTFOUND,
    DISP_E_PARAMNOTOPTIONAL,
    DISP_E_UNKNOWNNAME,
    E_NOTIMPL,
    LEFT_OUT,
    Variant,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager
    from conformance.embedded.receiving import Caller

Convert = Callable[[Variant], Any]
Perform = TypeVar("Perform", bound=Callable[..., Any])
METHOD, GET, PUT, PUTREF = "method", "get", "put", "putref"


@dataclass(frozen=True, slots=True)
class Kind:
    """The declared type of an argument. optional: a VARIANT that may be left out. convert: makes the value."""

    vt: str
    convert: Convert
    optional: bool = False


LONG = Kind("I4", variants.as_integer)
SHORT = Kind("I2", lambda value: variants.as_integer(value, 16))
TEXT = Kind("BSTR", variants.as_text)
OBJECT = Kind("DISPATCH", variants.as_object)
ANY = Kind("VARIANT", lambda value: value)
OPTIONAL = Kind("VARIANT", lambda value: value, optional=True)


@dataclass(frozen=True, slots=True)
class Signature:
    """A member. attribute: the method of the Python class. row: a row of a table instead, which the class performs."""

    name: str
    kind: str
    arguments: Mapping[str, Kind]
    attribute: str
    row: Any = None
    waits: bool = False


def member(
    kind: str, name: str, listed: tuple[str, ...] = (), *, waits: bool = False, **arguments: Kind
) -> Callable[[Perform], Perform]:
    """Make a method a member. listed: arguments that may be left out, instead of others.

    waits: it may answer later, through the caller it is given first.
    """

    def mark(perform: Perform) -> Perform:
        perform.com = (kind, name, {**dict.fromkeys(listed, OPTIONAL), **arguments}, waits)  # type: ignore[attr-defined]
        return perform

    return mark


class NoAnswer(Exception):
    """The member answers later, through its caller."""


class ComObject:
    """An object. CLASS: its coclass. INTERFACES: what it can be asked for, the default one first.

    NOT_IMPLEMENTED: members that do nothing but refuse. rows: members of a table, which `row` performs.
    SOURCES: interfaces of those who listen to it. ALSO: interfaces without IDispatch. STANDARD:
    identifiers of interfaces of OLE Automation.
    """

    CLASS: ClassVar[str] = ""
    INTERFACES: ClassVar[tuple[str, ...]] = ()
    NOT_IMPLEMENTED: ClassVar[tuple[tuple[str, str], ...]] = ((GET, "Properties"),)
    DISPATCHES: ClassVar[bool] = True
    SOURCES: ClassVar[tuple[str, ...]] = ()
    ALSO: ClassVar[tuple[str, ...]] = ()
    STANDARD: ClassVar[tuple[str, ...]] = ()
    MEMBERS: ClassVar[dict[tuple[str, str], Signature]] = {}

    def __init_subclass__(cls) -> None:
        found = dict(cls.MEMBERS)
        for attribute, value in vars(cls).items():
            marked = getattr(value, "com", None)
            if marked is not None:
                kind, name, arguments, waits = marked
                found[kind, name.lower()] = Signature(name, kind, arguments, attribute, waits=waits)
        for kind, name in cls.NOT_IMPLEMENTED:
            given = {} if kind == GET else {name: OBJECT if kind == PUTREF else ANY}
            found.setdefault((kind, name.lower()), Signature(name, kind, given, "not_implemented"))
        for signature in cls.rows():
            key = (signature.kind, signature.name.lower())
            if key not in found or found[key].row is not None:
                found[key] = signature
        cls.MEMBERS = found

    def __init__(self, manager: Manager) -> None:
        """Make the object in its initial state."""
        self.manager = manager

    @classmethod
    def rows(cls) -> tuple[Signature, ...]:
        """Return the members that are rows of a table."""
        return ()

    def row(self, signature: Signature, values: list[Any]) -> Variant | None:
        """Perform a member that is a row of a table."""
        raise NotImplementedError(signature.name)

    def interfaces(self) -> tuple[str, ...]:
        """Return the interfaces that the object has now."""
        return self.INTERFACES

    def released(self) -> None:
        """Do what happens when nobody holds the object any more."""

    def not_implemented(self, *given: Any) -> Variant | None:
        """Refuse: the member is not implemented (E_NOTIMPL)."""
        raise MqError(E_NOTIMPL)

    def invoke(self, name: str, kind: str, given: list[Variant], caller: Caller | None) -> Variant | None:
        """Perform a member. Raises MqError for a failure, NoAnswer if it answers `caller` later."""
        signature = self.find(name, kind)
        values = self.converted(signature, given)
        if signature.row is not None:
            return self.row(signature, values)
        perform: Callable[..., Variant | None] = getattr(self, signature.attribute)
        if not signature.waits:
            return perform(*values)
        if caller is None:
            raise MqError(DISP_E_MEMBERNOTFOUND)
        return perform(caller, *values)

    def find(self, name: str, kind: str) -> Signature:
        """Return the member of this name and kind; names have no case. A put serves a putref too."""
        found = self.MEMBERS.get((kind, name.lower()))
        if found is None and kind == PUTREF:
            found = self.MEMBERS.get((PUT, name.lower()))
        if found is None:
            known = any(name.lower() == other for _, other in self.MEMBERS)
            raise MqError(DISP_E_MEMBERNOTFOUND if known else DISP_E_UNKNOWNNAME)
        return found

    def converted(self, signature: Signature, given: list[Variant]) -> list[Any]:
        """Return the arguments as the member takes them, those left out at the end included."""
        declared = list(signature.arguments.values())
        if len(given) > len(declared):
            raise MqError(DISP_E_BADPARAMCOUNT)
        values = []
        for at, kind in enumerate(declared):
            value = given[at] if at < len(given) else LEFT_OUT
            if value.left_out and not kind.optional:
                raise MqError(DISP_E_PARAMNOTOPTIONAL)
            values.append(kind.convert(value))
        return values
