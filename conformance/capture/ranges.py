"""A byte range of a classic capture file: its records one at a time, found again where the file is damaged.

A record is of the range in which its header starts. Only pcap can be split: pcapng and compressed files are one range.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from conformance.capture.errors import CaptureError
from conformance.capture.pcap import MAGICS
from conformance.capture.records import MAX_RECORD, NO_BYTES, CutError, Record

FILE_HEADER = 24
CHAIN = 8  # Records in a row that must be plausible for their beginning to be believed.
_DAY_S = 86_400
_WINDOW = 1 << 20  # Bytes looked through at a time for the next record.
_ZEROS = bytes(_WINDOW + 32)
# Whether bytes can be a length of at most MAX_RECORD (0x01000000), not 0, with another such number behind it: what is
# no header is passed over at the speed of C. Of a length the highest byte is matched, which is the last or the first.
_LENGTHS = {
    "<": (re.compile(rb"[\0\1](?=...[\0\1])(?<!\0\0\0\0)", re.DOTALL), 11),
    ">": (re.compile(rb"(?!\0\0\0\0)[\0\1](?=...[\0\1])", re.DOTALL), 8),
}


@dataclass(frozen=True, slots=True)
class Layout:
    """What the header of a pcap file tells. unit: nanoseconds of a fraction. header: bytes before each record."""

    order: str
    unit: int
    header: int
    link: int
    size: int


@dataclass(slots=True)
class Walk:
    """How a walk over a range went. first, end: offsets of the first record and behind the last one (None without any).

    damaged: bytes passed over to find a record. cut: where and how the file ends within a record.
    """

    first: int | None = None
    end: int | None = None
    records: int = 0
    damaged: int = 0
    cut: str | None = None


def layout(path: str | Path) -> Layout | None:
    """The layout of a pcap file; None for any other file. Raises CaptureError where it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(FILE_HEADER)
            size = Path(path).stat().st_size
    except (OSError, ValueError) as problem:
        raise CaptureError(f"{path} cannot be read: {getattr(problem, 'strerror', None) or problem}.") from None
    if len(head) < FILE_HEADER or head[:4] not in MAGICS:
        return None
    order, unit, header = MAGICS[head[:4]]
    return Layout(order, unit, header, struct.unpack_from(f"{order}I", head, 20)[0] & 0xFFFF, size)


def split(size: int, at_most: int) -> list[tuple[int, int]]:
    """The ranges of a file of `size` bytes, each of `at_most`: [start, stop) without gaps."""
    starts = list(range(FILE_HEADER, size, at_most)) or [FILE_HEADER]
    return [(start, stop) for start, stop in zip(starts, [*starts[1:], max(size, FILE_HEADER)], strict=True)]


def read_range(path: str | Path, start: int, stop: int, walk: Walk) -> Iterator[Record]:
    """The records whose headers start in [start, stop); how it went is in `walk` when they are all read.

    start: FILE_HEADER for the beginning of the file; anything else is moved on to the next record. Records are numbered
    from 1 within the range. Raises CaptureError for a file that is no pcap or cannot be read.
    """
    how = layout(path)
    if how is None:
        raise CaptureError(f"{path} is no pcap file.")
    try:
        with Path(path).open("rb", buffering=1 << 18) as file:
            at: int | None = start
            if start != FILE_HEADER:
                at = next_record(file, how, start, stop)
            if at is not None:
                yield from _walk(file, how, at, stop, walk)
    except OSError as problem:
        walk.cut = f"record {walk.records + 1} cannot be read ({problem.strerror})"


def _walk(file: BinaryIO, how: Layout, at: int, stop: int, walk: Walk) -> Iterator[Record]:
    header = struct.Struct(f"{how.order}IIII")
    file.seek(at)
    walk.first = walk.end = at
    while at < stop:
        try:
            seconds, fraction, kept, length = _header(file, header, how, walk.records + 1)
            data = file.read(kept)
            if len(data) < kept:
                raise CutError(f"the file ends within record {walk.records + 1} ({len(data)} of {kept} bytes)")
        except CutError as cut:
            found = next_record(file, how, at + 1, how.size)
            if found is None:
                walk.cut = str(cut)
                return
            walk.damaged += found - at
            at = walk.end = found
            file.seek(at)
            continue
        walk.records += 1
        at += how.header + kept
        walk.end = at
        yield Record(walk.records, seconds * 1_000_000_000 + fraction * how.unit, how.link, data, max(length, kept))


def _header(file: BinaryIO, header: struct.Struct, how: Layout, number: int) -> tuple[int, int, int, int]:
    raw = file.read(how.header)
    if len(raw) < how.header:
        raise CutError(f"the file ends within the header of record {number}")
    seconds, fraction, kept, length = header.unpack_from(raw)
    if kept > MAX_RECORD:
        raise CutError(f"record {number} claims {kept} bytes, more than a capture can hold")
    if not kept and not length:
        raise CutError(NO_BYTES.format(number))
    return seconds, fraction, kept, length


def found_again(path: str | Path, start: int) -> int | None:
    """The first offset from `start` on where records begin again; None without any."""
    how = layout(path)
    if how is None:
        return None
    with Path(path).open("rb") as file:
        return next_record(file, how, start, how.size)


def next_record(file: BinaryIO, how: Layout, start: int, stop: int) -> int | None:
    """The first offset in [start, stop) where records begin.

    Nothing but the records themselves speaks for them: the time of the one before the damage may be damage, too.
    """
    header = struct.Struct(f"{how.order}IIII")
    pattern, highest = _LENGTHS[how.order]
    fractions = 1_000_000_000 // how.unit
    while start < stop:
        file.seek(start)
        window = file.read(_WINDOW + how.header - 1)
        most = min(len(window) - how.header + 1, stop - start, _WINDOW)
        hole = window == _ZEROS[: len(window)]
        for found in pattern.finditer(window, highest) if not hole else ():
            at = found.start() - highest
            if at >= most:
                break
            _, fraction, kept, length = header.unpack_from(window, at)
            if not 0 < kept <= length <= MAX_RECORD or fraction >= fractions:
                continue
            if _chain(file, header, how, start + at):
                return start + at
        start += _WINDOW
    return None


def _chain(file: BinaryIO, header: struct.Struct, how: Layout, at: int) -> bool:
    """Whether enough plausible records stand in a row here, or all up to the very end of the file."""
    fractions = 1_000_000_000 // how.unit
    before: int | None = None
    for _ in range(CHAIN):
        if at == how.size:
            return before is not None
        file.seek(at)
        raw = file.read(how.header)
        if len(raw) < how.header:
            return False
        seconds, fraction, kept, length = header.unpack_from(raw)
        if not 0 < kept <= length <= MAX_RECORD or fraction >= fractions:
            return False
        if before is not None and abs(seconds - before) > _DAY_S:
            return False
        before = seconds
        at += how.header + kept
    return at <= how.size
