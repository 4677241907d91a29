"""OLE Automation: VARIANTs as the protocol writes them, their conversions, late binding, and HRESULTs of COM."""

from __future__ import annotations

import base64
import binascii
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from conformance.embedded.entities import MqError

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager
    from conformance.embedded.receiving import Caller

S_FALSE: Final = 1
E_FAIL: Final = 0x80004005
E_NOTIMPL: Final = 0x80004001
E_NOINTERFACE: Final = 0x80004002
E_POINTER: Final = 0x80004003
E_INVALIDARG: Final = 0x80070057
E_HANDLE: Final = 0x80070006
OLE_E_BLANK: Final = 0x80040007
REGDB_E_CLASSNOTREG: Final = 0x80040154
CONNECT_E_NOCONNECTION: Final = 0x80040200
CONNECT_E_ADVISELIMIT: Final = 0x80040201
CONNECT_E_CANNOTCONNECT: Final = 0x80040202
RPC_S_SERVER_UNAVAILABLE: Final = 0x800706BA
XACT_E_NOTSUPPORTED: Final = 0x8004D00F
DISP_E_MEMBERNOTFOUND: Final = 0x80020003
DISP_E_PARAMNOTFOUND: Final = 0x80020004
DISP_E_TYPEMISMATCH: Final = 0x80020005
DISP_E_UNKNOWNNAME: Final = 0x80020006
DISP_E_OVERFLOW: Final = 0x8002000A
DISP_E_BADPARAMCOUNT: Final = 0x8002000E
DISP_E_PARAMNOTOPTIONAL: Final = 0x8002000F

Json = Any
INTEGERS: Final = {
    "I1": (8, True), "I2": (16, True), "I4": (32, True), "INT": (32, True), "I8": (64, True),
    "UI1": (8, False), "UI2": (16, False), "UI4": (32, False), "UINT": (32, False), "UI8": (64, False),
}  # fmt: skip
"""Integer types: bits, and whether they have a sign."""
UNIX_EPOCH_DAYS: Final = 25569  # 1 January 1970 in days since 30 December 1899
_SECONDS = 86400


@dataclass(frozen=True, slots=True)
class Variant:
    """A typed value. vt: its type without VT_. value: a number, text, bytes, object, list of variants, or None.

    of: the element type of an ARRAY.
    """

    vt: str
    value: Any = None
    of: str | None = None

    @property
    def left_out(self) -> bool:
        """True for an argument that the caller did not give (MC-MQAC 3.1.4.2)."""
        return self.vt == "ERROR" and self.value == DISP_E_PARAMNOTFOUND


EMPTY: Final = Variant("EMPTY")
LEFT_OUT: Final = Variant("ERROR", DISP_E_PARAMNOTFOUND)
NOTHING: Final = Variant("DISPATCH", None)


def long(number: int) -> Variant:
    """Return a VT_I4 with the low 32 bits of a number."""
    return Variant("I4", (number + 0x80000000) % 0x100000000 - 0x80000000)


def short(number: int) -> Variant:
    """Return a VT_I2."""
    return Variant("I2", number)


def text(value: str | None) -> Variant:
    """Return a VT_BSTR; None is a BSTR that is NULL."""
    return Variant("BSTR", value)


def flag(value: bool) -> Variant:
    """Return a VT_BOOL, VARIANT_TRUE being all bits."""
    return Variant("BOOL", bool(value))


def data(value: bytes | None) -> Variant:
    """Return VT_ARRAY | VT_UI1, or VT_EMPTY without a value."""
    return EMPTY if value is None else Variant("ARRAY", value, "UI1")


def date(seconds: int) -> Variant:
    """Return a VT_DATE of seconds since 1970, UTC."""
    return Variant("DATE", repr(UNIX_EPOCH_DAYS + seconds / _SECONDS))


def braced(guid: str) -> str:
    """Return a GUID in braces."""
    return "{" + guid.strip("{}") + "}"


def guid_bytes(guid: str, number: int) -> bytes:
    """Return an OBJECTID (MS-MQMQ 2.2.8): a GUID and a number of 32 bits, little-endian."""
    return uuid.UUID(guid).bytes_le + (number & 0xFFFFFFFF).to_bytes(4, "little")


# Conversions of an argument.
def as_integer(value: Variant, bits: int = 32, *, signed: bool = True) -> int:
    """Return the integer that a value is converted to. Raises MqError if there is none."""
    if value.vt in INTEGERS:
        number = int(value.value)
    elif value.vt == "BOOL":
        number = raw_flag(value)
    elif value.vt == "EMPTY":
        number = 0
    else:
        raise MqError(DISP_E_TYPEMISMATCH)
    low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    if not low <= number < high:
        raise MqError(DISP_E_OVERFLOW)
    return number


def raw_flag(value: Variant) -> int:
    """Return the number in a VT_BOOL."""
    return -int(value.value) if isinstance(value.value, bool) else int(value.value)


def as_flag(value: Variant) -> bool:
    """Return the truth that a value is converted to: every number but 0 is true."""
    return as_integer(value, 64) != 0


def as_text(value: Variant) -> str | None:
    """Return the text that a value is converted to; a BSTR may be NULL."""
    if value.vt == "BSTR":
        return None if value.value is None else str(value.value)
    if value.vt in INTEGERS:
        return str(value.value)
    raise MqError(DISP_E_TYPEMISMATCH)


def as_object(value: Variant) -> ComObject | None:
    """Return the object of a VT_DISPATCH or VT_UNKNOWN, None if it is NULL."""
    if value.vt not in ("DISPATCH", "UNKNOWN"):
        raise MqError(DISP_E_TYPEMISMATCH)
    found: ComObject | None = value.value
    return found


def as_bytes(value: Variant) -> bytes | None:
    """Return the bytes of VT_ARRAY | VT_UI1, None of an empty value."""
    if value.vt in ("EMPTY", "NULL"):
        return None
    if value.vt != "ARRAY" or value.of != "UI1":
        raise MqError(E_INVALIDARG)
    return bytes(value.value)


def from_base64(given: str) -> bytes:
    """Return the bytes of a text in base64. Raises MqError(E_INVALIDARG)."""
    try:
        return binascii.a2b_base64(given, strict_mode=True) if given else b""
    except (binascii.Error, ValueError):
        raise MqError(E_INVALIDARG) from None


def to_base64(value: bytes) -> str:
    """Return bytes as base64."""
    return base64.b64encode(value).decode("ascii")


Convert = Callable[[Variant], Any]
Perform = TypeVar("Perform", bound=Callable[..., Any])
METHOD, GET, PUT, PUTREF = "method", "get", "put", "putref"


@dataclass(frozen=True, slots=True)
class Kind:
    """The declared type of an argument. optional: a VARIANT that may be left out. convert: makes the value."""

    vt: str
    convert: Convert
    optional: bool = False


LONG = Kind("I4", as_integer)
SHORT = Kind("I2", lambda value: as_integer(value, 16))
TEXT = Kind("BSTR", as_text)
OBJECT = Kind("DISPATCH", as_object)
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
