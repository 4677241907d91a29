"""Checked access to the values of structures in the form of the adapter protocol; invalid values are refused."""

from __future__ import annotations

import base64
import binascii
import re
import uuid
from collections.abc import Collection
from typing import Any

from conformance.embedded.ndr import refuse

Json = Any
U8, U16, U32, U64 = 0xFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
MOST_BYTES = 16 << 20  # of a buffer that is padded with zeros
_DECIMAL = re.compile(r"-?[0-9]{1,20}\Z", re.ASCII)
_GUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\Z", re.ASCII)


def members(value: Json, allowed: Collection[str], required: Collection[str] = ()) -> dict[str, Json]:
    """An object with these members and no others."""
    if not isinstance(value, dict) or not value.keys() <= set(allowed) or not set(required) <= value.keys():
        raise refuse()
    return value


def number(value: Json, most: int = U32, least: int = 0) -> int:
    """A number in a range."""
    if type(value) is not int or not least <= value <= most:
        raise refuse()
    return value


def one_of(value: Json, allowed: Collection[int]) -> int:
    """A number from a table."""
    if type(value) is not int or value not in allowed:
        raise refuse()
    return value


def decimal(value: Json, least: int, most: int) -> int:
    """A number of 64 bits, given as decimal text."""
    if not isinstance(value, str) or not _DECIMAL.match(value):
        raise refuse()
    return number(int(value), most, least)


def flag(value: Json) -> bool:
    """True or false."""
    if type(value) is not bool:
        raise refuse()
    return value


def text(value: Json) -> str:
    """Text without nulls."""
    if not isinstance(value, str) or "\0" in value:
        raise refuse()
    return value


def array(value: Json) -> list[Json]:
    """An array."""
    if not isinstance(value, list):
        raise refuse()
    return value


def guid(value: Json) -> uuid.UUID:
    """A GUID."""
    if not isinstance(value, str) or not _GUID.match(value):
        raise refuse()
    return uuid.UUID(value)


def data(value: Json) -> bytes:
    """Bytes in base64."""
    if not isinstance(value, str):
        raise refuse()
    try:
        return binascii.a2b_base64(value, strict_mode=True) if value else b""
    except (binascii.Error, ValueError):
        raise refuse() from None


def base64_text(raw: bytes) -> str:
    """The inverse of `data`."""
    return base64.b64encode(raw).decode("ascii")


def is_sid(raw: bytes) -> bool:
    """Return true if these bytes begin with a complete SID (MS-DTYP 2.4.2.2)."""
    return len(raw) >= 8 and raw[0] == 1 and raw[1] <= 15 and len(raw) >= 8 + 4 * raw[1]
