"""The shape of a typed value, so that a request with another is refused before it changes anything."""

from __future__ import annotations

from typing import Any

from conformance.embedded.objects.variants import INTEGERS

Json = Any
_AS_TEXT = ("I8", "UI8")
_WORDS = ("R4", "R8", "CY", "DATE", "DECIMAL")


def is_typed(given: Json) -> bool:
    """Return true for a typed value of the protocol."""
    if not isinstance(given, dict) or not isinstance(given.get("vt"), str):
        return False
    vt, value = given["vt"], given.get("value")
    if vt == "ARRAY":
        return _is_array(given.get("of"), value)
    if vt in ("EMPTY", "NULL"):
        return "value" not in given
    if vt in INTEGERS:
        return _fits(value, *INTEGERS[vt], as_text=vt in _AS_TEXT)
    if vt == "ERROR":
        return type(value) is int and 0 <= value <= 0xFFFFFFFF
    if vt == "BOOL":
        return type(value) is bool or (type(value) is int and -32768 <= value <= 32767)
    if vt == "BSTR":
        return value is None or isinstance(value, str)
    if vt in ("DISPATCH", "UNKNOWN"):
        return value is None or isinstance(value, str) or type(value) is int
    return vt in _WORDS and isinstance(value, str)


def _fits(value: Json, bits: int, signed: bool, *, as_text: bool) -> bool:
    if as_text:
        digits = value.removeprefix("-") if isinstance(value, str) else ""
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
            return False
        value = int(value)
    elif type(value) is not int:
        return False
    low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    return bool(low <= value < high)


def _is_array(of: Json, value: Json) -> bool:
    if of == "UI1":
        return isinstance(value, str)
    if not isinstance(of, str) or not isinstance(value, list):
        return False
    return all(is_typed(each) and each["vt"] != "ARRAY" for each in value)
