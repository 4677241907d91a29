"""VARIANTS as values of a plan and an answer, and the HRESULTs that MC-MQAC names, also those with wrong numbers."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from conformance.model.values import value
from conformance.spec.catalogue import catalogue, reading_id
from conformance.spec.constants import hresults

INTEGERS: Final = {
    "I1": (-(2**7), 2**7 - 1),
    "UI1": (0, 2**8 - 1),
    "I2": (-(2**15), 2**15 - 1),
    "UI2": (0, 2**16 - 1),
    "I4": (-(2**31), 2**31 - 1),
    "UI4": (0, 2**32 - 1),
    "INT": (-(2**31), 2**31 - 1),
    "UINT": (0, 2**32 - 1),
    "I8": (-(2**63), 2**63 - 1),
    "UI8": (0, 2**64 - 1),
}
"""Types of whole numbers with the least and the greatest value of each."""
NOTHING: Final = frozenset({"EMPTY", "NULL"})
LEFT_OUT: Final = 0x80020004
"""DISP_E_PARAMNOTFOUND: with the type ERROR it stands for an argument that the client leaves out."""


@value
class Variant:
    """A typed value. vt: name of its type without `VT_`. of: the type of an array's elements.

    value: as the protocol has it, but bytes for an array of UI1, values for the elements of another one, and an int for
    a whole number of 64 bits.
    """

    vt: str
    value: Any = None
    of: str | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Variant:
        """Return the value that the protocol's object has. Raises ValueError or KeyError for another object."""
        vt, value, of = data["vt"], data.get("value"), data.get("of")
        if vt == "ARRAY" and of == "UI1" and isinstance(value, str):
            value = base64.b64decode(value)
        elif vt in ("I8", "UI8") and not str(value).startswith("$"):  # a plan may name a value that a driver will tell
            value = int(data["value"])
        elif isinstance(value, list):
            value = tuple(cls.from_json(one) for one in value)
        return cls(vt, value, of)

    def to_json(self) -> dict[str, Any]:
        """Return the protocol's object."""
        value = self.value
        if isinstance(value, bytes):
            value = base64.b64encode(value).decode("ascii")
        elif self.vt in ("I8", "UI8"):
            value = str(value)
        elif isinstance(value, tuple):
            value = [one.to_json() for one in value]
        out: dict[str, Any] = {"vt": self.vt}
        if self.of is not None:
            out["of"] = self.of
        if self.vt not in NOTHING:
            out["value"] = value
        return out


MISSING: Final = Variant("ERROR", LEFT_OUT)


def long(number: int) -> Variant:
    """Return a 32-bit number as the signed type that the interfaces declare: 0xFFFFFFFF is -1."""
    return Variant("I4", number - 2**32 if number > INTEGERS["I4"][1] else number)


def short(number: int) -> Variant:
    """Return a 16-bit number as the signed type that the interfaces declare."""
    return Variant("I2", number - 2**16 if number > INTEGERS["I2"][1] else number)


def text(value: str) -> Variant:
    """Return a text as a BSTR."""
    return Variant("BSTR", value)


def octets(value: bytes) -> Variant:
    """Return bytes as an array of UI1."""
    return Variant("ARRAY", value, "UI1")


def truth(value: bool) -> Variant:
    """Return a VARIANT_BOOL."""
    return Variant("BOOL", value)


def same(one: Variant, other: Variant) -> bool:
    """Tell whether a client that reads either finds the same type and the same value."""
    return _plain(one) == _plain(other)


def _plain(value: Variant) -> tuple[Any, ...]:
    if value.vt == "BSTR":
        return (value.vt, value.value or "")
    if value.vt == "BOOL":
        return (value.vt, bool(value.value))
    if value.vt in ("R4", "R8", "CY", "DATE", "DECIMAL"):
        return (value.vt, float(value.value))
    return (value.vt, value.of, value.value)


def hollow(value: Variant) -> bool:
    """Tell whether a value stands for NULL: none, an empty text, an empty array, or a null pointer."""
    return value.vt in NOTHING or (value.vt in ("BSTR", "ARRAY", "DISPATCH", "UNKNOWN") and not value.value)


S_OK: Final = 0
E_FAIL: Final = 0x80004005
E_NOTIMPL: Final = 0x80004001
OLE_E_BLANK: Final = 0x80040007
E_INVALIDARG: Final = 0x80070057
E_POINTER: Final = 0x80004003
MEMBER_NOT_FOUND: Final = 0x80020003
"""DISP_E_MEMBERNOTFOUND: an object has no member of this name in this form."""

ILLEGAL_PROPERTY_VALUE: Final = hresults.MQ_ERROR_ILLEGAL_PROPERTY_VALUE
LABEL_TOO_LONG: Final = hresults.MQ_ERROR_LABEL_TOO_LONG
TRANSACTION_USAGE: Final = hresults.MQ_ERROR_TRANSACTION_USAGE


def failed(status: int) -> bool:
    """Tell whether a status is a failure: the highest bit of an HRESULT."""
    return status >= 0x80000000


NUMBERS: Final = reading_id("R-MQAC-com-result-values")
BY_NAME, AS_PRINTED = "by-name", "as-printed"
_PRINTED: Final[Mapping[int, int]] = {E_INVALIDARG: 0x80000003, E_POINTER: 0x80000005}

Number = tuple[int, tuple[tuple[str, str], ...]]
"""A status, and the readings that it follows."""


@cache
def _disputed() -> frozenset[str]:
    return frozenset(catalogue().readings[NUMBERS].requirements)


def numbers(names: Iterable[str], status: int) -> tuple[Number, ...]:
    """Return the numbers that stand for a status in some requirements, that of its name first."""
    if status not in _PRINTED or not any(name in _disputed() for name in names):
        return ((status, ()),)
    return ((status, ((NUMBERS, BY_NAME),)), (_PRINTED[status], ((NUMBERS, AS_PRINTED),)))


def accepted(names: Iterable[str], status: int, readings: Mapping[str, tuple[str, ...]]) -> tuple[Number, ...]:
    """Return those of the numbers that the accepted readings allow, the default first."""
    return tuple(
        one
        for one in numbers(names, status)
        if all(which in readings.get(reading, (which,)) for reading, which in one[1])
    )
