"""Resynchronises behind damage: the one rule of every reader of capture files.

Records begin again at the first offset from which `CHAIN` records in a row are plausible, or all up to the very end of
the file. Only the records themselves count as evidence, because the bytes before the damage may be damaged, too.

Time is linear in the bytes examined, and memory is bounded by `REACH`, whatever the file holds: an offset is examined
once, and the evidence for it lies within a bounded number of bytes behind it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from mmap import mmap
from typing import Protocol

from conformance.capture.records import MAX_RECORD

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
