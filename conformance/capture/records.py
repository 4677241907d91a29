"""Reads the records of a capture file, pcap or pcapng, one at a time, and resynchronises behind damage."""

from __future__ import annotations

import io
import re
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from mmap import mmap
from pathlib import Path
from typing import IO, Protocol

from conformance.capture.addresses import STDIN, is_stored
from conformance.capture.events import CaptureError
from conformance.capture.files import Following, Forward, Piped, Stop, open_file
from conformance.capture.foreign import what_it_is
from conformance.capture.packed import MAGIC_BYTES, DamagedError, Readable, compression, unpacking
from conformance.suggest import near_file

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
        if magic == MAGIC:
            source.untake(magic)
            yield from pcapng_records(source, walk)
        elif magic in MAGICS:
            yield from pcap_records(source, magic, walk)
        else:
            if how:
                source.untake(magic)
                source.reach(_CHUNK)
                begins = source.held[0][source.held[1] :]
            else:  # No more is waited for than is there: a pipe may stay open.
                begins = head + buffered.peek() if len(head) == MAGIC_BYTES else head
            about = what_it_is(begins, str(path).removesuffix(how))
            raise CaptureError(f"{path} is not a capture: {'unpacked, ' if how else ''}{about}.")


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
        raise CaptureError(f"There is no file {path}{near_file(path)}") from None
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


CHAIN = 8
"""Records in a row that must be plausible before their beginning is accepted."""
REACH = 32 << 20
"""Bytes within which these records have to lie."""
_FIRST, _WINDOW = 1 << 12, 1 << 20
"""Bytes searched at a time: few at first, since a growing capture may have no more yet."""
_DAY_S = 86_400
_MAX_BLOCK = MAX_RECORD + 65_536
# Bytes that can be a length of at most MAX_RECORD (0x01000000), not 0, followed by another such number: the regular
# expression skips everything else at the speed of C. It matches the highest byte of a length, the last or the first.
_LENGTHS = {
    "<": (re.compile(rb"[\0\1](?=...[\0\1])(?<!\0\0\0\0)", re.DOTALL), 11),
    ">": (re.compile(rb"(?!\0\0\0\0)[\0\1](?=...[\0\1])", re.DOTALL), 8),
}
# A section header, or a block of a known type with a plausible length.
_BLOCKS = {
    "<": re.compile(rb"\n\r\r\n|[\1-\6\x09\x0a]\0\0\0(?=...[\0\1])", re.DOTALL),
    ">": re.compile(rb"\n\r\r\n|\0\0\0[\1-\6\x09\x0a](?=[\0\1])", re.DOTALL),
}
_SECTION = b"\n\r\r\n"
_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}

Bytes = bytes | mmap


class Rule(Protocol):
    """Recognises the records of a format. head: bytes that `step` needs."""

    @property
    def head(self) -> int:
        """The number of bytes."""

    def candidates(self, data: Bytes, begin: int, end: int) -> Iterator[int]:
        """Yield the places in [begin, end) where a record can begin."""

    def step(self, data: Bytes, at: int, before: int | None) -> tuple[int, int] | None:
        """Return the length of the record here, and the `before` of the next one; None where there is no record."""

    def closed(self, data: Bytes, at: int, length: int) -> bool:
        """Return True when the end of the record is right."""


@dataclass(frozen=True, slots=True)
class PcapRule:
    """Recognises records of classic captures. unit: nanoseconds of a fraction. head: bytes before each record."""

    order: str
    unit: int
    head: int

    def candidates(self, data: Bytes, begin: int, end: int) -> Iterator[int]:
        """Yield the places where two plausible lengths follow."""
        pattern, highest = _LENGTHS[self.order]
        for found in pattern.finditer(data, begin + highest, end + self.head):
            at = found.start() - highest
            if at >= end:
                return
            yield at

    def step(self, data: Bytes, at: int, before: int | None) -> tuple[int, int] | None:
        """Accept a non-empty record within a day of the one before it."""
        seconds, fraction, kept, length = struct.unpack_from(f"{self.order}IIII", data, at)
        if not 0 < kept <= length <= MAX_RECORD or fraction >= 1_000_000_000 // self.unit:
            return None
        if before is not None and abs(seconds - before) > _DAY_S:
            return None
        return self.head + kept, seconds

    def closed(self, data: Bytes, at: int, length: int) -> bool:
        """Return True: a record has no trailer."""
        return True


@dataclass(frozen=True, slots=True)
class BlockRule:
    """Recognises blocks of pcapng, which have their length at both ends.

    order: byte order of the section; another section brings its own.
    """

    order: str
    head: int = 12

    def candidates(self, data: Bytes, begin: int, end: int) -> Iterator[int]:
        """Yield the places with a known block type."""
        for found in _BLOCKS[self.order].finditer(data, begin, end + self.head):
            if found.start() >= end:
                return
            yield found.start()

    def step(self, data: Bytes, at: int, before: int | None) -> tuple[int, int] | None:
        """Accept a block of a plausible length; the next one has to have its byte order."""
        order = self.order if before is None else "<>"[before]
        if data[at : at + 4] == _SECTION:
            order = _ORDERS.get(data[at + 8 : at + 12], "")
            if not order:
                return None
        (length,) = struct.unpack_from(f"{order}I", data, at + 4)
        return (length, "<>".index(order)) if 12 <= length <= _MAX_BLOCK and not length % 4 else None

    def closed(self, data: Bytes, at: int, length: int) -> bool:
        """Compare the trailing length with the leading one."""
        return data[at + 4 : at + 8] == data[at + length - 4 : at + length]


class Ahead(Protocol):
    """Bytes that can be examined before they are passed over: a `Source`, or a mapped file."""

    @property
    def problem(self) -> str | None:
        """Why there are no more bytes, where the cause is not the end of the file."""

    @property
    def held(self) -> tuple[Bytes, int]:
        """The bytes that can be examined, and the position of the next byte in them."""

    def reach(self, count: int) -> int:
        """Return how many of the next `count` bytes exist."""

    def skip(self, count: int) -> None:
        """Pass over bytes."""


@dataclass(slots=True)
class Mapped:
    """A mapped file, from `at` on. need: gets the bytes of a range that may not be there yet."""

    data: Bytes
    at: int
    problem: str | None = None
    need: Callable[[int, int], None] | None = None

    @property
    def held(self) -> tuple[Bytes, int]:
        """The whole file."""
        return self.data, self.at

    def reach(self, count: int) -> int:
        """Return how many of the next `count` bytes exist."""
        found = min(count, len(self.data) - self.at)
        if self.need is not None:
            self.need(self.at, self.at + found)
        return found

    def skip(self, count: int) -> None:
        """Move on."""
        self.at += count


def search(source: Ahead, rule: Rule, most: int | None = None) -> tuple[int, bool]:
    """Pass over bytes until records begin again; return how many, and whether such a place was found.

    most: the place must lie within so many bytes. Without such a place everything is passed over, at most `most` bytes.
    """
    passed, window = 0, _FIRST
    while most is None or passed < most:
        room = window if most is None else min(window, most - passed)
        have = source.reach(room + rule.head - 1)
        data, at = source.held
        end = min(have - rule.head + 1, room)
        if end > 0 and data[at : at + have].count(0) < have:
            for place in rule.candidates(data, at, at + end):
                if _chain(source, rule, place - at):
                    source.skip(place - at)
                    return passed + place - at, True
        source.skip(min(room, have))
        passed += min(room, have)
        if have < room + rule.head - 1:
            rest = have - min(room, have) if most is None else 0
            source.skip(rest)
            return passed + rest, False
        window = min(2 * window, _WINDOW)
    return passed, False


def _chain(source: Ahead, rule: Rule, place: int) -> bool:
    """Return True when enough plausible records follow here, or all up to the very end of the file."""
    farthest = place + REACH
    before: int | None = None
    for _ in range(CHAIN):
        have = source.reach(place + rule.head)
        if have == place:
            return before is not None and source.problem is None
        if have < place + rule.head:
            return False
        data, at = source.held
        found = rule.step(data, at + place, before)
        if found is None:
            return False
        length, before = found
        if place + length > farthest or source.reach(place + length) < place + length:
            return False
        data, at = source.held
        if not rule.closed(data, at + place, length):
            return False
        place += length
    return True


# The first four bytes give byte order, the unit of the sub-second part, and the size of a record header.
MAGICS: dict[bytes, tuple[str, int, int]] = {
    b"\xd4\xc3\xb2\xa1": ("<", 1_000, 16),
    b"\xa1\xb2\xc3\xd4": (">", 1_000, 16),
    b"\x4d\x3c\xb2\xa1": ("<", 1, 16),
    b"\xa1\xb2\x3c\x4d": (">", 1, 16),
    b"\x34\xcd\xb2\xa1": ("<", 1_000, 24),
    b"\xa1\xb2\xcd\x34": (">", 1_000, 24),
}
FILE_HEADER = 24


@dataclass(frozen=True, slots=True)
class Layout:
    """The facts in the header of a pcap file. unit: nanoseconds of a fraction. header: bytes before each record."""

    order: str
    unit: int
    header: int
    link: int

    @classmethod
    def of(cls, head: bytes) -> Layout:
        """Parse the first bytes of a file that begins with one of `MAGICS`."""
        order, unit, header = MAGICS[head[:4]]
        # The upper half of the link type only describes the checksum.
        return cls(order, unit, header, struct.unpack_from(f"{order}I", head, 20)[0] & 0xFFFF)

    @property
    def rule(self) -> PcapRule:
        """The rule by which its records are found."""
        return PcapRule(self.order, self.unit, self.header)


def pcap_records(source: Source, magic: bytes, walk: RecordWalk) -> Iterator[Record]:
    """Yield the records after the magic number."""
    rest = source.take(FILE_HEADER - len(magic))
    if rest is None:
        have = source.reach(FILE_HEADER)
        walk.cut = source.problem or f"the file ends within the file header ({have} of 20 bytes)"
        return
    yield from walked(source, Layout.of(magic + rest), walk, FILE_HEADER)


def walked(source: Source, how: Layout, walk: RecordWalk, at: int) -> Iterator[Record]:
    """Yield the records from offset `at` on, resynchronising behind damage."""
    walk.first = walk.end = at
    while True:
        record, problem, cut = record_ahead(source, how, walk.records + 1)
        if record is not None:
            walk.records += 1
            at += how.header + len(record.data)
            walk.end = at
            yield record
            continue
        if not source.reach(1):
            walk.cut = source.problem
            return
        passed, found = behind(source, how)
        if not found:
            walk.cut = source.problem or problem
            walk.damaged += 0 if cut else passed
            return
        walk.damaged += passed
        at += passed
        walk.end = at


def record_ahead(source: Source, how: Layout, number: int) -> tuple[Record | None, str, bool]:
    """Take a record. None: why there is none, and whether the file ends within it; then nothing is taken."""
    raw = source.take(how.header)
    if raw is None:
        return None, f"the file ends within the header of record {number}", True
    seconds, fraction, kept, length = struct.unpack_from(f"{how.order}IIII", raw)
    problem, cut = nonsense(number, kept, length), False
    if problem is None:
        data = source.take(kept)
        if data is not None:
            time_ns = seconds * 1_000_000_000 + fraction * how.unit
            return Record(number, time_ns, how.link, data, max(length, kept)), "", False
        problem, cut = f"the file ends within record {number} ({source.reach(kept)} of {kept} bytes)", True
    source.untake(raw)
    return None, problem, cut


def behind(source: Source, how: Layout) -> tuple[int, bool]:
    """Pass over a record that makes no sense: return the bytes passed over, and whether there is another record."""
    source.skip(source.reach(1))
    passed, found = search(source, how.rule)
    return passed + 1, found


def nonsense(number: int, kept: int, length: int) -> str | None:
    """Return why these cannot be the lengths of a record; None when they can."""
    if kept > MAX_RECORD:
        what = f"record {number} claims {kept} bytes, more than a capture can hold"
        return f"{what}; perhaps the file was transferred as text"
    return None if kept or length else NO_BYTES.format(number)


MAGIC = b"\x0a\x0d\x0d\x0a"

_INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET, _SECRETS = 1, 2, 3, 6, 10
# Journal entries, custom blocks and system calls: Wireshark gives each of them a frame number.
_COUNTED = frozenset({9, 0xBAD, 0x40000BAD, 0x204, 0x216, 0x221})
SECRETS = "decryption secrets, which are not used"
_OPTION_COMMENT, _OPTION_RESOLUTION, _OPTION_OFFSET = 1, 9, 14
_MAX_TIME = (1 << 63) - (1 << 60)  # In ns: the year 2225. No clock is there, so that a time beyond it is none.
_SECTION_HEAD = 16  # Bytes of a section header before its options.


class _DamageError(Exception):
    """Raised for bytes that make no sense; the text gives the cause. ends: the file ends there."""

    def __init__(self, text: str, *, ends: bool = False) -> None:
        super().__init__(text)
        self.ends = ends


@dataclass(frozen=True, slots=True)
class _Interface:
    link: int
    snap: int
    ticks: int  # Ticks per second.
    offset: int  # Seconds to add.


def pcapng_records(source: Source, walk: RecordWalk) -> Iterator[Record]:
    """Yield the packets of a file from its first byte on, resynchronising behind bytes that make no sense.

    A block that is whole but cannot be understood is passed over alone.
    """
    order = "<"
    interfaces: list[_Interface | None] = []
    last_ns = 0
    while True:
        try:
            found = _block(source, order)
        except _DamageError as problem:
            source.skip(source.reach(1))
            passed, again = search(source, BlockRule(order))
            if not again:
                walk.cut = source.problem or str(problem)
                walk.damaged += 0 if problem.ends else passed + 1
                return
            walk.damaged += passed + 1
            continue
        if found is None:
            walk.cut = source.problem or walk.cut
            return
        order, kind, body = found
        record = None
        try:
            if kind == _SECTION_NUMBER:
                interfaces = []
                walk.comment = _comment(body, order)
            elif kind == _INTERFACE:
                interfaces.append(None)
                interfaces[-1] = _interface(body, order)
            elif kind in (_PACKET, _OLD_PACKET, _SIMPLE_PACKET):
                record = _packet(kind, body, order, interfaces, walk.records + 1)
                last_ns = record.time_ns
            elif kind in _COUNTED:
                record = Record(walk.records + 1, last_ns, NO_PACKET, b"", 0)
            elif kind == _SECRETS:
                walk.unused[SECRETS] += 1
        except _DamageError as problem:
            walk.damaged += 12 + len(body)
            walk.cut = str(problem) if not source.reach(1) else None
            continue
        if record is not None:
            walk.records += 1
            yield record


_SECTION_NUMBER = struct.unpack("<I", MAGIC)[0]  # The same number in either byte order.


def _block(source: Source, order: str) -> tuple[str, int, bytes] | None:
    """Return the next block: byte order, type, body; None at the end. Raises _DamageError and then takes nothing."""
    have = source.reach(12)
    if not have:
        return None
    head = source.take(12)
    if head is None:
        raise _DamageError(f"the file ends within the head of a block ({have} of 12 bytes)", ends=True)
    try:
        if head[:4] == MAGIC:
            if head[8:] not in _ORDERS:
                raise _DamageError("a section header has no byte-order mark")
            order = _ORDERS[head[8:]]
        kind, length = struct.unpack_from(f"{order}II", head)
        if length < 12 or length % 4 or length > _MAX_BLOCK:
            raise _DamageError(f"a block claims a length of {length} bytes, which cannot be")
    except _DamageError:
        source.untake(head)
        raise
    have = 12 + source.reach(length - 12)
    data, at = source.held
    problem = None
    if have < length:
        problem = _DamageError(f"the file ends within a block ({have} of {length} bytes)", ends=True)
    elif length > 12 and data[at + length - 16 : at + length - 12] != head[4:8]:
        problem = _DamageError("a block's two lengths differ")
    if problem is not None:
        source.untake(head)
        raise problem
    body = source.take(length - 12) if length > 12 else b""
    assert body is not None
    return order, kind, (head[8:] + body)[:-4]


def _interface(block: bytes, order: str) -> _Interface:
    if len(block) < 8:
        raise _DamageError("an interface description is too short")
    link, _, snap = struct.unpack_from(f"{order}HHI", block)
    ticks, offset = 1_000_000, 0
    for code, value in _options(block, 8, order):
        if code == _OPTION_RESOLUTION and len(value) == 1:
            power = value[0] & 0x7F
            ticks = 2 ** min(power, 62) if value[0] & 0x80 else 10 ** min(power, 18)
        elif code == _OPTION_OFFSET and len(value) == 8:
            offset = struct.unpack(f"{order}q", value)[0]
    return _Interface(link, snap, ticks, offset)


def _comment(block: bytes, order: str) -> str | None:
    """Return the first comment of a section header."""
    found = (value for code, value in _options(block, _SECTION_HEAD, order) if code == _OPTION_COMMENT)
    value = next(found, None)
    return None if value is None else value.decode("utf-8", "replace")


def _options(block: bytes, at: int, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield code and value of each option of a block, from this offset on."""
    while at + 4 <= len(block):
        code, size = struct.unpack_from(f"{order}HH", block, at)
        if code == 0:
            return
        yield code, block[at + 4 : at + 4 + size]
        at += 4 + (size + 3) // 4 * 4


def _packet(kind: int, block: bytes, order: str, interfaces: list[_Interface | None], number: int) -> Record:
    need = 4 if kind == _SIMPLE_PACKET else 20
    if len(block) < need:
        raise _DamageError(f"record {number} is too short")
    index, high, low = 0, 0, 0
    if kind == _SIMPLE_PACKET:
        (length,) = struct.unpack_from(f"{order}I", block)
        kept = min(length, len(block) - 4)
    elif kind == _PACKET:
        index, high, low, kept, length = struct.unpack_from(f"{order}IIIII", block)
    else:
        index, _, high, low, kept, length = struct.unpack_from(f"{order}HHIIII", block)
    interface = interfaces[index] if index < len(interfaces) else None
    if interface is None:
        raise _DamageError(f"record {number} names interface {index}, which was never described")
    if kind == _SIMPLE_PACKET and interface.snap:
        kept = min(kept, interface.snap)
    if kept > len(block) - need:
        raise _DamageError(f"record {number} claims {kept} bytes, its block holds {len(block) - need}")
    if kind == _SIMPLE_PACKET:  # It has no time, and an offset of its interface does not make one.
        return Record(number, 0, interface.link, block[need : need + kept], max(length, kept))
    time_ns = interface.offset * 1_000_000_000 + (high << 32 | low) * 1_000_000_000 // interface.ticks
    if abs(time_ns) > _MAX_TIME:
        time_ns = 0
    return Record(number, time_ns, interface.link, block[need : need + kept], max(length, kept))
