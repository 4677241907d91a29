"""Reads the classic capture format: a file header, then records with a fixed header each."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from conformance.capture.records import MAX_RECORD, NO_BYTES, Record, RecordWalk, Source
from conformance.capture.resync import PcapRule, search

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


def records(source: Source, magic: bytes, walk: RecordWalk) -> Iterator[Record]:
    """Yield the records after the magic number."""
    rest = source.take(FILE_HEADER - len(magic))
    if rest is None:
        have = source.reach(FILE_HEADER)
        walk.cut = source.problem or f"the file ends within the file header ({have} of 20 bytes)"
        return
    yield from walked(source, Layout.of(magic + rest), walk, FILE_HEADER)


def walked(source: Source, how: Layout, walk: RecordWalk, at: int, stop: int | None = None) -> Iterator[Record]:
    """Yield the records from offset `at` on, resynchronising behind damage. stop: where no record begins any more.

    A record found behind damage may lie behind `stop`: then reading ends.
    """
    header = struct.Struct(f"{how.order}IIII")
    walk.first = walk.end = at
    problem: str | None
    while stop is None or at < stop:
        raw = source.take(how.header)
        data = None
        if raw is None:
            have = source.reach(how.header)
            if not have:
                walk.cut = source.problem
                return
            problem, cut = f"the file ends within the header of record {walk.records + 1}", True
        else:
            seconds, fraction, kept, length = header.unpack_from(raw)
            problem, cut = nonsense(walk.records + 1, kept, length), False
            if problem is None:
                data = source.take(kept)
                if data is None:
                    have = source.reach(kept)
                    problem, cut = f"the file ends within record {walk.records + 1} ({have} of {kept} bytes)", True
        if data is not None:
            walk.records += 1
            at += how.header + kept
            walk.end = at
            yield Record(walk.records, seconds * 1_000_000_000 + fraction * how.unit, how.link, data, max(length, kept))
            continue
        if raw is not None:
            source.untake(raw)
        passed, found = behind(source, how)
        if not found:
            walk.cut = source.problem or problem
            walk.damaged += 0 if cut else passed
            return
        walk.damaged += passed
        at += passed
        walk.end = at


def behind(source: Source, how: Layout) -> tuple[int, bool]:
    """Pass over a record that makes no sense: return the bytes passed over, and whether there is another record."""
    source.skip(source.reach(1))
    passed, found = search(source, how.rule)
    return passed + 1, found


def nonsense(number: int, kept: int, length: int) -> str | None:
    """Return why these cannot be the lengths of a record; None when they can."""
    if kept > MAX_RECORD:
        return f"record {number} claims {kept} bytes, more than a capture can hold"
    return None if kept or length else NO_BYTES.format(number)
