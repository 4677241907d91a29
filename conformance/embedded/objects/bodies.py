"""Bodies of messages as VARIANTs (MC-MQAC 3.17.4.1.21, .22): bytes on the queue, and the type as body_type."""

from __future__ import annotations

import math
import struct
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from conformance.embedded.entities import MqError
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.variants import Variant, data, raw_flag

TYPES: Final = {
    "I2": 2, "I4": 3, "R4": 4, "R8": 5, "CY": 6, "DATE": 7, "BSTR": 8, "BOOL": 11, "I1": 16, "UI1": 17, "UI2": 18,
    "UI4": 19,
}  # fmt: skip
"""Types of a body with their numbers; an object needs a stream to be written to, and there is none here."""
ARRAY: Final = 0x2000
LPSTR, LPWSTR = 30, 31
_NAMES = {number: name for name, number in TYPES.items()}
_FORMATS = {
    "I1": "<b",
    "UI1": "<B",
    "I2": "<h",
    "UI2": "<H",
    "I4": "<i",
    "UI4": "<I",
    "R4": "<f",
    "R8": "<d",
    "DATE": "<d",
    "BOOL": "<h",
}
_CURRENCY = 10_000
_MOST_CURRENCY = Decimal(1 << 63) / _CURRENCY
_NUMBERS = frozenset({"I1", "UI1", "I2", "UI2", "I4", "UI4"})


def written(body: Variant, types: dict[str, int] = TYPES) -> tuple[bytes, int]:
    """Return the bytes and the body_type of a VARIANT. Raises MqError(E_INVALIDARG) for a type that no body has."""
    if body.vt == "ARRAY":
        if body.of not in types:
            raise MqError(E_INVALIDARG)
        if body.of == "UI1":
            return bytes(body.value), ARRAY | types["UI1"]
        if any(each.vt != body.of for each in body.value):
            raise MqError(E_INVALIDARG)
        items = [_bytes(each) for each in body.value]
        if body.of == "BSTR":
            items = [struct.pack("<I", len(each)) + each for each in items]
        return b"".join(items), ARRAY | types[body.of]
    if body.vt not in types:
        raise MqError(E_INVALIDARG)
    return _bytes(body), types[body.vt]


def read(content: bytes, body_type: int) -> Variant:
    """Return the VARIANT of a body; bytes where the type is none, or another than the content."""
    try:
        found = _array(content, body_type) if body_type & ARRAY else _single(content, body_type)
    except (struct.error, UnicodeDecodeError, ValueError):
        found = None
    return data(content) if found is None else found


def _single(content: bytes, body_type: int) -> Variant | None:
    if body_type == LPWSTR:
        return Variant("BSTR", content.decode("utf-16-le", "surrogatepass").removesuffix("\0"))
    if body_type == LPSTR:
        return Variant("BSTR", content.decode("latin-1").removesuffix("\0"))
    name = _NAMES.get(body_type)
    return None if name is None else Variant(name, _value(content, name))


def _array(content: bytes, body_type: int) -> Variant | None:
    name = _NAMES.get(body_type & ~ARRAY)
    if name is None or name == "UI1":
        return None
    items = []
    if name == "BSTR":
        while content:
            (size,) = struct.unpack_from("<I", content)
            items.append(_value(content[4 : 4 + size], name))
            content = content[4 + size :]
    else:
        size = 8 if name == "CY" else struct.calcsize(_FORMATS[name])
        if len(content) % size:
            return None
        items = [_value(content[at : at + size], name) for at in range(0, len(content), size)]
    return Variant("ARRAY", [Variant(name, item) for item in items], name)


def _bytes(body: Variant) -> bytes:
    if body.vt == "BSTR":
        return (body.value or "").encode("utf-16-le", "surrogatepass")
    if body.vt == "CY":
        return struct.pack("<q", _currency(body.value))
    if body.vt == "BOOL":
        return struct.pack("<h", raw_flag(body))
    try:
        number = body.value if body.vt in _NUMBERS else float(body.value)
        return struct.pack(_FORMATS[body.vt], number)
    except (struct.error, ValueError, OverflowError):
        raise MqError(E_INVALIDARG) from None


def _currency(value: str) -> int:
    try:
        amount = Decimal(value)
    except InvalidOperation:
        raise MqError(E_INVALIDARG) from None
    if not amount.is_finite() or not -_MOST_CURRENCY <= amount < _MOST_CURRENCY:
        raise MqError(E_INVALIDARG)
    return int(amount * _CURRENCY)


def _number_text(number: float) -> str:
    if math.isfinite(number):
        return repr(number)
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _value(content: bytes, name: str) -> Any:
    if name == "BSTR":
        return content.decode("utf-16-le", "surrogatepass")
    if name == "CY":
        return format(Decimal(struct.unpack("<q", content)[0]) / _CURRENCY, "f")
    (number,) = struct.unpack(_FORMATS[name], content)
    if name == "BOOL":
        return True if number == -1 else False if number == 0 else number
    return number if name in _NUMBERS else _number_text(number)
