"""NDR 2.0 (C706 chapter 14), little-endian and without headers: numbers, pointers, arrays and strings.

Numbers are aligned to multiples of their size, counted from the first byte. The referents of the pointers inside a
construct follow the outermost construct. Each referent is complete, and followed by its own referents, before the next.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeVar

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
