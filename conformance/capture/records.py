"""Opening a capture file: which format it has, and its records one at a time."""

from __future__ import annotations

import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from conformance.capture.errors import CaptureError
from conformance.capture.following import Following, Piped, Stop
from conformance.capture.inputs import STDIN

_GZIP = b"\x1f\x8b"
_CHUNK = 65_536
NO_BYTES = "record {} claims a packet of no bytes, as a hole in the file does"
MAX_RECORD = 16 * 1024 * 1024  # Bytes; far above any snapshot length in use, so that a corrupt length is noticed.


@dataclass(frozen=True, slots=True)
class Record:
    """One captured link-layer packet.

    number: from 1. time_ns: nanoseconds since 1970. link: the LINKTYPE number. data: the bytes kept. length: bytes the
    packet had on the wire, at least len(data).
    """

    number: int
    time_ns: int
    link: int
    data: bytes
    length: int


class CutError(Exception):
    """The file stopped within a record, or a record makes no sense; the text says which."""


class _Readable(Protocol):
    def read(self, count: int, /) -> bytes: ...


class Source:
    """A file read forward only, with exact reads."""

    def __init__(self, stream: _Readable) -> None:
        self._stream = stream

    def exactly(self, count: int, what: str) -> bytes:
        """`count` bytes. Raises CutError when the file has fewer."""
        data = self.up_to(count)
        if len(data) < count:
            raise CutError(f"the file ends within {what} ({len(data)} of {count} bytes)")
        return data

    def up_to(self, count: int) -> bytes:
        """`count` bytes, fewer at the end of the file. Raises CutError where compressed data is damaged."""
        try:
            return self._stream.read(count)
        except (EOFError, zlib.error) as problem:
            raise CutError(f"the compressed file is cut or damaged ({problem})") from None


def read_records(
    path: str | Path, *, on_progress: Callable[[int, int], None] | None = None, follow: Stop | None = None
) -> Iterator[Record]:
    """The records of a pcap or pcapng file, either of them gzip-compressed or not.

    path: `-` is standard input. on_progress gets (bytes of the file read, bytes in all, 0 when nobody knows) about
    every megabyte. follow: wait for more at the end of the file, until it says stop; standard input ends by it as
    well. Raises CaptureError when the file is no capture, CutError (after the records that could be read) when it is
    cut.
    """
    from conformance.capture import pcap, pcapng

    with ExitStack() as stack:
        raw, size = _open(path, stack, follow)
        if str(path) == STDIN:
            path = "standard input"
        counted = _Counted(raw, size, on_progress)
        buffered = io.BufferedReader(counted, 1 << 18)
        head = buffered.read(len(_GZIP))  # A pipe may hand over a single byte at first: no peeking.
        stream = _Headed(head, buffered)
        source = Source(_Unzipped(stream) if head == _GZIP else stream)
        try:
            magic = source.up_to(4)
        except CutError as cut:
            raise CaptureError(f"{path} cannot be unpacked: {cut}.") from None
        if not magic:
            raise CaptureError(f"{path} is empty; give a pcap or pcapng file.")
        if magic == pcapng.MAGIC:
            yield from pcapng.records(source)
        elif magic in pcap.MAGICS:
            yield from pcap.records(source, magic)
        else:
            raise CaptureError(
                f"{path} is not a capture (it starts with {magic.hex(' ')}); give a pcap or pcapng file."
            )


class _Headed:
    """A stream whose first bytes were read already."""

    def __init__(self, head: bytes, rest: _Readable) -> None:
        self._head = head
        self._rest = rest

    def read(self, count: int, /) -> bytes:
        """`count` bytes, fewer at the end."""
        taken, self._head = self._head[:count], self._head[count:]
        return taken + self._rest.read(count - len(taken)) if len(taken) < count else taken


class _Unzipped:
    """Decompresses as it is read. Unlike the library's reader it hands out what precedes the damage, then raises."""

    def __init__(self, packed: _Readable) -> None:
        self._packed = packed
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._rest = b""
        self._problem: Exception | None = None

    def read(self, count: int, /) -> bytes:
        """`count` bytes, fewer at the end or before damage. Raises EOFError or zlib.error when only damage is left."""
        out = bytearray()
        while len(out) < count and self._problem is None:
            try:
                piece = self._member.decompress(self._rest, count - len(out))
            except zlib.error as problem:
                self._problem = problem
                break
            out += piece
            self._rest = self._member.unconsumed_tail
            if self._member.eof:
                self._rest = self._member.unused_data or self._packed.read(_CHUNK)
                if self._rest[:1] != _GZIP[:1]:  # The end, or padding after it.
                    break
                self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            elif not piece and not self._rest:
                self._rest = self._packed.read(_CHUNK)
                if not self._rest:
                    self._problem = EOFError("it stops before its end")
        if not out and self._problem is not None and count:
            raise self._problem
        return bytes(out)


class _Counted(io.RawIOBase):
    """The raw file, telling how far reading has come."""

    def __init__(
        self, raw: IO[bytes] | io.RawIOBase, size: int, on_progress: Callable[[int, int], None] | None
    ) -> None:
        self._raw = raw
        self._size = size
        self._read = 0
        self._on_progress = on_progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        count: int = self._raw.readinto(buffer)  # type: ignore[union-attr, arg-type]
        before = self._read >> 20
        self._read += count
        if self._on_progress is not None and (self._read >> 20 != before or not count):
            self._on_progress(self._read, max(self._size, self._read) if self._size else 0)
        return count


def _open(path: str | Path, stack: ExitStack, follow: Stop | None) -> tuple[IO[bytes] | io.RawIOBase, int]:
    if str(path) == STDIN:
        return Piped(open(sys.stdin.fileno(), "rb", buffering=0, closefd=False), follow or Stop()), 0
    path = Path(path)
    try:
        raw = stack.enter_context(path.open("rb", buffering=0))
        size = path.stat().st_size
    except FileNotFoundError:
        raise CaptureError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise CaptureError(f"{path} is a folder; give the capture files in it.") from None
    except OSError as problem:
        raise CaptureError(f"{path} cannot be read: {problem.strerror}.") from None
    except ValueError:  # A NUL within the name.
        raise CaptureError(f"{str(path)!r} is no name of a file.") from None
    return (Following(raw, follow) if follow is not None else raw), size
