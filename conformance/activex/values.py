"""Typed values: VARIANTs as the protocol's `typed_value` has them, and when two of them are the same to a client.

The adapter passes each VARIANT on as it is, so what MC-MQAC says of types can be judged. `same` leaves out what it does
not say: the two forms of an empty text, and the two forms of True.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

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


@dataclass(frozen=True, slots=True)
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
