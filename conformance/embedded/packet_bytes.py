"""Read the bytes of a packet with a cursor."""

from __future__ import annotations

import base64
import struct
from typing import Any


class Malformed(Exception):
    """A packet violates its layout."""


class Bytes:
    """A cursor over the packet; reading past the end raises Malformed."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self._data):
            raise Malformed
        self.at += count
        return self._data[self.at - count : self.at]

    def unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        return layout.unpack(self.take(layout.size))

    def align(self, start: int) -> None:
        """Move to the next multiple of four bytes counted from `start`."""
        self.take(-(self.at - start) % 4)

    @property
    def left(self) -> int:
        """The number of bytes not yet read."""
        return len(self._data) - self.at

    def peek(self, count: int) -> bytes:
        """Return the next bytes, fewer at the end, without taking them."""
        return self._data[self.at : self.at + count]

    def upto(self, end: int) -> bytes:
        """Return the bytes from the start to an offset, which must be in the packet."""
        require(end <= len(self._data))
        return self._data[:end]

    def wide_until_null(self) -> str:
        """Take the text up to the next null character, and that character."""
        end = self.at
        while True:
            end = self._data.find(b"\0\0", end)
            require(end >= 0)
            if (end - self.at) % 2 == 0:
                break
            end += 1
        return wide_string(self.take(end + 2 - self.at))

    def number(self, count: int) -> int:
        return int.from_bytes(self.take(count), "little")


def require(holds: bool) -> None:
    """Raise Malformed unless the condition holds."""
    if not holds:
        raise Malformed


def wide_string(data: bytes) -> str:
    """Decode text that ends with its only null character; lone surrogates are allowed, as in 2.2.19.3."""
    require(len(data) >= 2 and len(data) % 2 == 0)
    text = data.decode("utf-16-le", "surrogatepass")
    require(text.find("\0") == len(text) - 1)
    return text[:-1]


def base64_text(data: bytes) -> str:
    """Encode bytes in base64."""
    return base64.b64encode(data).decode("ascii")
