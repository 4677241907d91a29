"""Unpacks compressed captures while they are read: gzip, and zstandard with the extra `zstd`."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, Protocol

COMPRESSED_SUFFIXES = (".gz", ".zst")
"""Endings of compressed files."""
MAGIC_BYTES = 4
"""Bytes at the beginning of a file that tell how it is compressed."""
MAX_RATIO, FREE = 2_048, 1 << 30
"""A file that unpacks to more than `FREE` bytes and more than `MAX_RATIO` times its size is no capture but a trap; gzip
cannot reach the ratio."""
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"  # Behind one byte 50 to 5f: a frame of zstandard that holds no data.
_MAX_WINDOW_LOG = 27  # 128 MiB, the format's own limit unless a reader is told otherwise.
_CHUNK = 1 << 14


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, count: int, /) -> bytes:
        """Read at most `count` bytes; none at the end."""


class DamagedError(Exception):
    """Raised where compressed data cannot be unpacked any further; the text gives the cause."""


class _Member(Protocol):
    """One of the compressed streams that a file consists of."""

    @property
    def eof(self) -> bool:
        """True behind its end."""

    @property
    def left(self) -> bytes:
        """The bytes that were given but not used."""

    def unpack(self, data: bytes, most: int) -> bytes:
        """Return up to `most` bytes. Raises DamagedError."""


class Unpacked:
    """Decompresses while reading. Unlike a library's reader it returns the data before damage, then raises.

    new: begins a compressed stream. begins: tells whether bytes begin another one.
    """

    def __init__(self, packed: Readable, new: Callable[[], _Member], begins: Callable[[bytes], bool]) -> None:
        self._packed, self._new, self._begins = packed, new, begins
        self._member = new()
        self._rest = b""
        self._problem: DamagedError | None = None
        self._taken = self._given = 0
        self._ended = False

    def read(self, count: int, /) -> bytes:
        """Read `count` bytes, fewer at the end. Raises DamagedError when only damage is left."""
        out = bytearray()
        while len(out) < count and self._problem is None and not self._ended:
            try:
                piece = self._member.unpack(self._rest, count - len(out))
            except DamagedError as problem:
                self._problem = problem
                break
            out += piece
            self._given += len(piece)
            self._rest = self._member.left
            if self._given > FREE and self._given > MAX_RATIO * self._taken:
                self._problem = DamagedError(f"it unpacks to more than {MAX_RATIO:,} times its size")
            elif self._member.eof:
                if len(self._rest) < MAGIC_BYTES:
                    self._rest += self._more()
                if self._begins(self._rest):
                    self._member = self._new()
                elif self._rest.strip(b"\0"):  # The end, or zero padding, would be fine.
                    self._problem = DamagedError("what follows its end is not compressed")
                else:
                    self._ended = True
            elif not piece and not self._rest:
                self._rest = self._more()
                if not self._rest:
                    self._problem = DamagedError("it stops before its end")
        if not out and self._problem is not None and count:
            raise self._problem
        return bytes(out)

    def _more(self) -> bytes:
        data = self._packed.read(_CHUNK)
        self._taken += len(data)
        return data


class _Gzip:
    def __init__(self) -> None:
        self._of = zlib.decompressobj(zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        return self._of.eof

    @property
    def left(self) -> bytes:
        return self._of.unused_data if self._of.eof else self._of.unconsumed_tail

    def unpack(self, data: bytes, most: int) -> bytes:
        try:
            return self._of.decompress(data, most)
        except zlib.error as problem:
            raise DamagedError(str(problem)) from None


class _Zstandard:
    """A frame. The library keeps the bytes that it has not used yet, until the frame ends."""

    def __init__(self) -> None:
        self._library = _zstandard()
        window = {self._library.DecompressionParameter.window_log_max: _MAX_WINDOW_LOG}
        self._of = self._library.ZstdDecompressor(options=window)

    @property
    def eof(self) -> bool:
        return bool(self._of.eof)

    @property
    def left(self) -> bytes:
        return bytes(self._of.unused_data) if self._of.eof else b""

    def unpack(self, data: bytes, most: int) -> bytes:
        try:
            return bytes(self._of.decompress(data, most))
        except self._library.ZstdError as problem:
            raise DamagedError(str(problem)) from None


def compression(head: bytes) -> str:
    """Return the ending of files that begin with these `MAGIC_BYTES`: one of `SUFFIXES`, or "" for no compression."""
    if head[:2] == _GZIP:
        return ".gz"
    return ".zst" if head[:4] == _ZSTD or _skippable(head) else ""


def unpacking(packed: Readable, how: str) -> Unpacked:
    """Return a stream of what `packed` holds. how: as `compression` returns it. Raises DamagedError without library."""
    if how == ".gz":
        return Unpacked(packed, _Gzip, lambda data: data[:2] == _GZIP)
    return Unpacked(packed, _Zstandard, lambda data: data[:4] == _ZSTD or _skippable(data))


def beginning(data: bytes, most: int) -> bytes:
    """Return up to `most` bytes of what a file that begins with `data` holds, unpacked as far as that is possible."""
    how = compression(data)
    if not how:
        return data[:most]
    try:
        return unpacking(_Bytes(data), how).read(most)
    except DamagedError:
        return b""


class _Bytes:
    """Bytes as a stream."""

    def __init__(self, data: bytes) -> None:
        self._left = data

    def read(self, count: int, /) -> bytes:
        taken, self._left = self._left[:count], self._left[count:]
        return taken


def _skippable(head: bytes) -> bool:
    return head[1:4] == _SKIPPABLE and 0x50 <= head[0] <= 0x5F


def _zstandard() -> Any:
    """Return the library, which Python has since 3.14."""
    for name in ("compression.zstd", "backports.zstd"):
        with suppress(ImportError):
            return import_module(name)
    raise DamagedError("zstandard needs backports.zstd, which is not installed: pip install 'mqconform[zstd]'")
