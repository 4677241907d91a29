"""Opens a capture file, detects its format, and yields its records one at a time."""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from conformance.capture.addresses import is_stored
from conformance.capture.errors import CaptureError
from conformance.capture.files import Forward, open_file
from conformance.capture.following import Following, Piped, Stop
from conformance.capture.inputs import STDIN
from conformance.capture.packed import MAGIC_BYTES, DamagedError, Readable, compression, unpacking

_CHUNK = 65_536
NO_BYTES = "record {} claims a packet of no bytes, as a hole in the file does"
NO_PACKET = -1
"""The link type of an entry that is no packet, such as an event of the system's log."""
MAX_RECORD = 16 * 1024 * 1024  # Bytes; far above any snapshot length in use, so that a corrupt length is noticed.


@dataclass(frozen=True, slots=True)
class Record:
    """One captured link-layer packet, or an entry of another kind (link: `NO_PACKET`), which Wireshark counts, too.

    number: from 1. time_ns: nanoseconds since 1970. link: the LINKTYPE number. data: the bytes kept. length: bytes of
    the packet on the wire, at least len(data).
    """

    number: int
    time_ns: int
    link: int
    data: bytes
    length: int


@dataclass(slots=True)
class RecordWalk:
    """The progress of reading a file, or a range of it.

    first, end: offsets of the first record and behind the last one (None without any). damaged: bytes passed over to
    find a record. cut: where and how the file ends within a record, or in a part that cannot be unpacked. unused: parts
    that are no records and could tell more, by their kind. comment: of the section that is read.
    """

    first: int | None = None
    end: int | None = None
    records: int = 0
    damaged: int = 0
    cut: str | None = None
    unused: Counter[str] = field(default_factory=Counter)
    comment: str | None = None


class Source:
    """A file read forward only, with exact reads. Bytes looked at ahead are held until they are taken.

    problem: why there is no more to read, where the cause is not the end of the file; a clause.
    """

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._held = b""
        self._at = 0
        self._ended = False
        self.problem: str | None = None

    def take(self, count: int) -> bytes | None:
        """Take `count` bytes; return None, taking nothing, when there are fewer."""
        if self._at == len(self._held):
            self._held, self._at = b"", 0
            data = self._read(count)
            if len(data) < count:
                self._held, self._at = data, 0
                return None
            return data
        if self.reach(count) < count:
            return None
        self._at += count
        return self._held[self._at - count : self._at]

    def untake(self, data: bytes) -> None:
        """Give back the bytes that were taken last."""
        if self._at >= len(data):
            self._at -= len(data)
        else:
            self._held, self._at = data + self._held[self._at :], 0

    def reach(self, count: int) -> int:
        """Hold `count` bytes; return how many are there, fewer at the end of the file."""
        have = len(self._held) - self._at
        if have < count and not self._ended:
            # Read at least as many bytes as are moved, so that each byte is moved only a few times.
            more = self._read(max(count - have, min(have, _CHUNK << 6)))
            self._held, self._at = self._held[self._at :] + more, 0
            have = len(self._held)
        return min(have, count)

    @property
    def held(self) -> tuple[bytes, int]:
        """The bytes held, and the position of the next byte in them."""
        return self._held, self._at

    def skip(self, count: int) -> None:
        """Pass over bytes that are held."""
        self._at += count

    def _read(self, count: int) -> bytes:
        if self._ended:
            return b""
        out: list[bytes] = []
        while count > 0 and not self._ended:
            try:
                data = self._stream.read(count)
            except DamagedError as problem:
                data, self.problem = b"", f"the compressed file is cut or damaged ({problem})"
            except OSError as problem:
                data, self.problem = b"", f"the file cannot be read any further ({problem.strerror or problem})"
            self._ended = not data
            out.append(data)
            count -= len(data)
        return b"".join(out) if len(out) != 1 else out[0]


def read_records(
    path: str | Path,
    walk: RecordWalk,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    follow: Stop | None = None,
    raw: io.RawIOBase | None = None,
) -> Iterator[Record]:
    """Yield the records of a pcap or pcapng file, either of them compressed or not.

    path: `-` is standard input; it may be an address in a store. walk: updated while reading: bytes passed over, and
    how the file is cut. on_progress is called with (bytes of the file read, bytes in all, 0 when unknown) about every
    megabyte. follow: at the end of the file, wait for more until it is over; it ends standard input as well. raw: the
    file, if it is open already; it is closed at the end. Raises CaptureError when the file is not a capture.
    """
    from conformance.capture import pcap, pcapng

    with ExitStack() as stack:
        opened, size = _open(path, stack, follow) if raw is None else (stack.enter_context(raw), 0)
        if str(path) == STDIN:
            path = "standard input"
        counted = _Counted(opened, size, on_progress)
        buffered = io.BufferedReader(counted, 1 << 18)
        head = buffered.read(MAGIC_BYTES)  # A pipe may deliver a single byte at first: no peeking.
        how, stream = compression(head), _Headed(head, buffered)
        try:
            source = Source(unpacking(stream, how) if how else stream)
        except DamagedError as problem:
            raise CaptureError(f"{path} cannot be unpacked: {problem}.") from None
        magic = source.take(4) or source.held[0]
        if source.problem is not None:
            verb = "unpacked" if how else "read"
            raise CaptureError(f"{path} cannot be {verb}: {source.problem}.")
        if not magic:
            raise CaptureError(f"{path} is empty; give a pcap or pcapng file.")
        if magic == pcapng.MAGIC:
            source.untake(magic)
            yield from pcapng.records(source, walk)
        elif magic in pcap.MAGICS:
            yield from pcap.records(source, magic, walk)
        else:
            raise CaptureError(
                f"{path} is not a capture (it starts with {magic.hex(' ')}); give a pcap or pcapng file."
            )


class _Headed:
    """A stream whose first bytes were already read."""

    def __init__(self, head: bytes, rest: Readable) -> None:
        self._head = head
        self._rest = rest

    def read(self, count: int, /) -> bytes:
        """Read `count` bytes, fewer at the end."""
        taken, self._head = self._head[:count], self._head[count:]
        return taken + self._rest.read(count - len(taken)) if len(taken) < count else taken


class _Counted(io.RawIOBase):
    """The raw file, reporting the progress of reading."""

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
    if is_stored(str(path)):
        return _open_stored(str(path), stack, follow)
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
        raise CaptureError(f"{str(path)!r} is not a valid file name.") from None
    return (Following(raw, follow, path=path) if follow is not None else raw), size


def _open_stored(name: str, stack: ExitStack, follow: Stop | None) -> tuple[io.RawIOBase, int]:
    if follow is not None:
        raise CaptureError(f"{name} cannot be followed: an object of a store does not grow.")
    try:
        file = open_file(name)
    except FileNotFoundError:
        raise CaptureError(f"There is no file {name}.") from None
    except OSError as problem:
        raise CaptureError(f"{name} cannot be read: {problem.strerror}.") from None
    return stack.enter_context(Forward(file)), file.size
