"""Octets of the calls of MS-MQRR, MS-MQQP and MS-MQMR in NDR 2.0, little endian (C706 chapter 14).

scapy carries the PDUs; what is in them is written and read here, because a judge looks at each octet: `Reader` refuses
whatever is not there, and tells what is left over.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

MAX_BYTES: Final = 16 << 20
"""No answer is longer: a message has at most 4 MiB."""
_MAX_ELEMENTS: Final = 65_536
_REFERENT: Final = 0x00020000


class NdrError(Exception):
    """An answer is not what its interface says; the message is a sentence."""


class CountError(NdrError):
    """An array has not as many elements as a parameter says. of: what is counted, `number`, `size` or `length`."""

    def __init__(self, text: str, of: str) -> None:
        super().__init__(text)
        self.of = of


class Writer:
    """Writes a request. Pointees of pointers in a structure come behind it, in their order (C706 14.3.12.3)."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._deferred: list[Callable[[], None]] = []
        self._referents = _REFERENT
        self._depth = 0

    def octets(self) -> bytes:
        """Return what was written."""
        return bytes(self._data)

    def align(self, size: int) -> None:
        """Fill up to a multiple of `size`."""
        self._data += bytes(-len(self._data) % size)

    def number(self, size: int, value: int) -> None:
        """Write an unsigned number of so many octets, at its alignment."""
        self.align(size)
        self._data += value.to_bytes(size, "little")

    def short(self, value: int) -> None:
        """Write 16 bits."""
        self.number(2, value)

    def long(self, value: int) -> None:
        """Write 32 bits."""
        self.number(4, value)

    def hyper(self, value: int) -> None:
        """Write 64 bits."""
        self.number(8, value)

    def guid(self, value: UUID) -> None:
        """Write an identifier."""
        self.align(4)
        self._data += value.bytes_le

    def raw(self, data: bytes) -> None:
        """Write octets as they are."""
        self._data += data

    @contextmanager
    def structure(self, alignment: int = 4) -> Iterator[None]:
        """Write a structure; at the end of the outermost one come the pointees."""
        self.align(alignment)
        self._depth += 1
        yield
        self._depth -= 1
        while self._deferred and not self._depth:
            pointees, self._deferred = self._deferred, []
            for pointee in pointees:
                pointee()

    def pointer(self, pointee: Callable[[], None] | None) -> None:
        """Write a unique pointer in a structure, null for None."""
        if pointee is None:
            self.long(0)
            return
        self._referents += 4
        self.long(self._referents)
        self._deferred.append(pointee)

    def wide(self, text: str) -> None:
        """Write a string of UTF-16 with its null: a conformant and varying array."""
        data = text.encode("utf-16-le", "surrogatepass") + b"\0\0"
        count = len(data) // 2
        for number in (count, 0, count):
            self.long(number)
        self.raw(data)


class Reader:
    """Reads an answer. Raises NdrError where it is not what was expected."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def left(self) -> int:
        """How many octets follow."""
        return len(self._data) - self._at

    def raw(self, size: int) -> bytes:
        """Read so many octets."""
        if size > self.left:
            raise NdrError(f"{size} octets are named at {self._at}, and {self.left} follow")
        self._at += size
        return self._data[self._at - size : self._at]

    def align(self, size: int) -> None:
        """Skip the fill before an alignment."""
        self.raw(-self._at % size)

    def number(self, size: int) -> int:
        """Read an unsigned number."""
        self.align(size)
        return int.from_bytes(self.raw(size), "little")

    def short(self) -> int:
        """Read 16 bits."""
        return self.number(2)

    def long(self) -> int:
        """Read 32 bits."""
        return self.number(4)

    def hyper(self) -> int:
        """Read 64 bits."""
        return self.number(8)

    def guid(self) -> UUID:
        """Read an identifier."""
        self.align(4)
        return UUID(bytes_le=self.raw(16))

    def count(self, size: int = 1) -> int:
        """Read how many elements of `size` octets follow, as far as they can be there."""
        found = self.long()
        if found > _MAX_ELEMENTS * 256 or found * size > self.left:
            raise NdrError(f"{found} elements are named at {self._at}, and {self.left} octets follow")
        return found

    def octets(self, expected: int | None = None) -> bytes:
        """Read a conformant array of octets. expected: what its size member has said."""
        count = self.count()
        if expected is not None and count != expected:
            raise CountError(f"an array of {expected} octets has {count}", "size")
        return self.raw(count)

    def wide(self) -> str:
        """Read a string of UTF-16 up to its null."""
        most, offset, actual = self.long(), self.long(), self.count(2)
        if offset or actual > most or not actual:
            raise NdrError(f"a string has {actual} of {most} elements from {offset} on")
        data = self.raw(2 * actual)
        if data[-2:] != b"\0\0":
            raise NdrError("a string does not end with a null")
        return data[:-2].decode("utf-16-le", "surrogatepass")

    def end(self) -> None:
        """Look that all was read."""
        if self.left:
            raise NdrError(f"{self.left} octets follow behind the last parameter")


CONTEXT: Final = struct.Struct("<I16s")
"""A context handle: its attributes, 0, and an identifier (C706, ndr_context_handle)."""
NULL_CONTEXT: Final = bytes(CONTEXT.size)


def context(reader: Reader) -> bytes:
    """Read a context handle."""
    reader.align(4)
    return reader.raw(CONTEXT.size)
