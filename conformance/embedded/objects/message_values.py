"""Values of MSMQMessage and members of the protocol's messages, in both directions; bodies as VARIANTs."""

from __future__ import annotations

import math
import struct
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final

from conformance.embedded.entities import MqError
from conformance.embedded.objects.variants import (
    E_INVALIDARG,
    Variant,
    data,
    from_base64,
    guid_bytes,
    raw_flag,
    to_base64,
)

if TYPE_CHECKING:
    from conformance.embedded.objects.queue import QueueObject

Json = Any
_ACKNOWLEDGEMENTS = {"positive_arrival": 1, "positive_receive": 2, "negative_arrival": 4, "negative_receive": 8}
_NULL_CORRELATION = bytes(20)
_SAME = {
    "class": "class", "priority": "priority", "application_tag": "application_tag", "reach": "time_to_reach_queue",
    "receive": "time_to_be_received", "response_queue": "response_queue",
    "administration_queue": "administration_queue",
}  # fmt: skip
_RECEIVED = {
    "label": "label",
    "arrived": "arrival_time",
    "sent": "sent_time",
    "first": "first_in_transaction",
    "last": "last_in_transaction",
}


class Received:
    """The values that an object has from the queue it was read from."""

    @staticmethod
    def destination(queue: QueueObject) -> str | None:
        """Return the format name of the queue."""
        return None if queue.info is None else queue.info.known_format_name()


def of_fields(fields: dict[str, Json]) -> dict[str, Any]:
    """Return the values of an object for a message of the protocol."""
    values = {name: fields[given] for name, given in {**_SAME, **_RECEIVED}.items() if given in fields}
    if "," in (values.get("response_queue") or ""):
        values["response_destination"] = values.pop("response_queue")
    values["delivery"] = int(fields.get("delivery") == "recoverable")
    values["trace"] = int(fields.get("trace", False))
    values["journal"] = int(fields.get("negative_journaling", False)) + 2 * int(
        fields.get("positive_journaling", False)
    )
    values["acknowledgements"] = sum(_ACKNOWLEDGEMENTS[each] for each in fields.get("acknowledgements", ()))
    body = (from_base64(fields["body"]), int(fields.get("body_type", 0)))
    values["body"] = None if body == (b"", 0) else body
    values["extension"] = from_base64(fields["extension"]) if fields.get("extension") else None
    values["correlation"] = from_base64(fields.get("correlation_identifier", "")) or _NULL_CORRELATION
    values["lookup"] = int(fields.get("lookup_identifier", 0))
    identifier = fields.get("identifier")
    if identifier is not None:
        values["identifier"] = guid_bytes(identifier["source"], int(identifier["ordinal"]))
    return values


def to_fields(values: dict[str, Any]) -> dict[str, Json]:
    """Return the members of a message to send."""
    given = {name: values[field] for field, name in _SAME.items() if values[field] is not None}
    given["label"] = (values["label"] or "").partition("\0")[0]  # a text ends at its first null
    given["delivery"] = "recoverable" if values["delivery"] else "express"
    given["trace"] = bool(values["trace"])
    given["positive_journaling"] = bool(values["journal"] & 2)
    given["negative_journaling"] = bool(values["journal"] & 1)
    given["acknowledgements"] = [name for name, bit in _ACKNOWLEDGEMENTS.items() if values["acknowledgements"] & bit]
    if values["response_queue"] is None and "," in (values["response_destination"] or ""):
        given["response_queue"] = values["response_destination"]
    if values["body"] is not None:
        content, given["body_type"] = values["body"]
        given["body"] = to_base64(content)
    if values["extension"]:
        given["extension"] = to_base64(values["extension"])
    if values["correlation"] is not None:
        given["correlation_identifier"] = to_base64(values["correlation"])
    return given


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
