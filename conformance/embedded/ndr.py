"""NDR 2.0 (C706 chapter 14), little-endian and without headers; checked access to the values of structures."""

from __future__ import annotations

import base64
import binascii
import re
import struct
import uuid
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from conformance.embedded.entities import MqError
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_PARAMETER

_Value = TypeVar("_Value")
_FORMATS = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}
_SIGNED = {1: "<b", 2: "<h", 4: "<i", 8: "<q"}
FIRST_REFERENT = 0x00020000
MAX_DEPTH = 32  # nested constructs; deeper nesting is refused


def refuse() -> MqError:
    """Return the error for a malformed structure, or for a value that no structure can hold."""
    return MqError(MQ_ERROR_INVALID_PARAMETER)


class NdrWriter:
    """Writes a construct; `bytes(writer.out)` is the result after `construct` has returned."""

    def __init__(self) -> None:
        self.out = bytearray()
        self._deferred: list[Callable[[], None]] = []
        self._referents = 0
        self._depth = 0

    def construct(self, write: Callable[[], None]) -> None:
        """Write a construct, and then the referents of its pointers."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise refuse()
        outer, self._deferred = self._deferred, []
        write()
        mine, self._deferred = self._deferred, outer
        for referent in mine:
            self.construct(referent)
        self._depth -= 1

    def align(self, size: int) -> None:
        """Pad to a multiple of `size`."""
        self.out += bytes(-len(self.out) % size)

    def number(self, value: int, size: int, *, signed: bool = False) -> None:
        """Write a number of 1, 2, 4 or 8 bytes. Raises MqError if it does not fit."""
        self.align(size)
        try:
            self.out += struct.pack((_SIGNED if signed else _FORMATS)[size], value)
        except struct.error:
            raise refuse() from None

    def raw(self, data: bytes) -> None:
        """Write bytes unchanged."""
        self.out += data

    def pointer(self, write: Callable[[], None] | None) -> None:
        """Write a unique pointer whose referent `write` writes; null for None."""
        if write is None:
            self.number(0, 4)
            return
        self.number(self.referent(), 4)
        self._deferred.append(write)

    def referent(self) -> int:
        """Return the referent identifier of the next pointer that is not null."""
        self._referents += 1
        return FIRST_REFERENT + 4 * (self._referents - 1)

    def maximum(self, count: int) -> None:
        """Write the maximum count in front of a conformant array."""
        self.number(count, 4)

    def variance(self, count: int) -> None:
        """Write the offset and actual count in front of the elements of a varying array."""
        self.number(0, 4)
        self.number(count, 4)

    def text(self, text: str) -> None:
        """Write a [string] of WCHARs: conformant, varying, null-terminated."""
        data = wide(text) + b"\0\0"
        self.maximum(len(data) // 2)
        self.variance(len(data) // 2)
        self.raw(data)


class NdrReader:
    """Reads a construct. Malformed data raises MqError(MQ_ERROR_INVALID_PARAMETER)."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0
        self._deferred: list[Callable[[], None]] = []
        self._depth = 0

    @property
    def left(self) -> int:
        """The number of bytes not yet read."""
        return len(self._data) - self.at

    def construct(self, read: Callable[[], _Value]) -> _Value:
        """Read a construct, and then the referents of its pointers."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise refuse()
        outer, self._deferred = self._deferred, []
        value = read()
        mine, self._deferred = self._deferred, outer
        for referent in mine:
            self.construct(referent)
        self._depth -= 1
        return value

    def end(self) -> None:
        """Refuse bytes after the structure."""
        if self.left:
            raise refuse()

    def align(self, size: int) -> None:
        """Skip padding, of any value, to a multiple of `size`."""
        self.raw(-self.at % size)

    def raw(self, count: int) -> bytes:
        """Read the next bytes."""
        if not 0 <= count <= self.left:
            raise refuse()
        self.at += count
        return self._data[self.at - count : self.at]

    def number(self, size: int, *, signed: bool = False) -> int:
        """Read a number of 1, 2, 4 or 8 bytes."""
        self.align(size)
        return int.from_bytes(self.raw(size), "little", signed=signed)

    def pointer(self, read: Callable[[], None]) -> bool:
        """Read a unique pointer; unless it is null, call `read` later, in the referent's place."""
        present = self.number(4) != 0
        if present:
            self._deferred.append(read)
        return present

    def maximum(self, count: int) -> None:
        """Read the maximum count of a conformant array, which must be `count`."""
        if self.number(4) != count:
            raise refuse()

    def variance(self, most: int, exactly: int | None = None) -> int:
        """Read the offset, which must be 0, and actual count of a varying array of at most `most` elements."""
        offset, count = self.number(4), self.number(4)
        if offset or count > most or exactly not in (None, count):
            raise refuse()
        return count

    def room(self, count: int, size: int) -> None:
        """Refuse a count of elements, each of `size` bytes at least, which the bytes left cannot hold."""
        if count * size > self.left:
            raise refuse()

    def text(self) -> str:
        """A [string] of WCHARs: its null is the last element and the only one."""
        count = self.variance(self.number(4))
        return terminated(self.raw(2 * count))


def wide(text: str) -> bytes:
    """Text as WCHARs, without a null at the end. Raises MqError for a null inside."""
    if "\0" in text:
        raise refuse()
    return text.encode("utf-16-le", "surrogatepass")


def terminated(data: bytes) -> str:
    """The text of WCHARs whose last one is the only null."""
    if len(data) < 2 or len(data) % 2:
        raise refuse()
    text = data.decode("utf-16-le", "surrogatepass")
    if text.find("\0") != len(text) - 1:
        raise refuse()
    return text[:-1]


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
