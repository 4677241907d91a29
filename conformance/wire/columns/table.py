"""Columns of decoded packets: the row of int64 columns, and the emitted loop that fills it for a chunk of packets."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from conformance.wire.columns import texts
from conformance.wire.columns.frames import ZEROS, Frame, closed, written
from conformance.wire.columns.lowering import LANES, lowered, source_of
from conformance.wire.columns.machine_code import Wanted
from conformance.wire.columns.packet_facts import NOT_READ, Slow, seen
from conformance.wire.columns.packets import shapes_and_code
from conformance.wire.columns.shapes import Place, Shapes, Sort, UnknownShapeError, address_of, size_of
from conformance.wire.headers import PING
from conformance.wire.layout import Value

HASHED = "#"
FLAGS = 62
"""Presence bits in one column."""
_WIDE = (Sort.GUID, Sort.TEXT, Sort.BYTES)


@dataclass(frozen=True, slots=True)
class Column:
    """The position of one key. at: its first column. bit: its presence bit in column `flags`."""

    key: str
    place: Place
    hashed: bool
    at: int
    flags: int
    bit: int

    @property
    def width(self) -> int:
        """The number of its columns."""
        return 1 if self.hashed or self.place.sort not in _WIDE else 2


@dataclass(frozen=True, slots=True)
class ColumnSet:
    """Columns by key. width: the number of all columns."""

    columns: Mapping[str, Column]
    width: int

    def __getitem__(self, key: str) -> Column:
        return self.columns[key]

    def to_json(self) -> list[Any]:
        """Return the columns as JSON: a column's place is that of its key."""
        rows = [[one.key, one.hashed, one.at, one.flags, one.bit] for one in self.columns.values()]
        return [rows, self.width]

    @classmethod
    def of_json(cls, value: list[Any], shapes: Shapes) -> ColumnSet:
        """Read what `to_json` wrote."""
        rows, width = value
        found = [(key, shapes.place(key.removesuffix(HASHED)), *more) for key, *more in rows]
        return cls({one[0]: Column(*one) for one in found}, width)


def column_set(shapes: Shapes, keys: Sequence[str]) -> ColumnSet:
    """Return the columns for these keys. Raises UnknownShapeError for a key that no packet has."""
    out: dict[str, Column] = {}
    at = -(-len(keys) // FLAGS)
    for number, key in enumerate(keys):
        hashed = key.endswith(HASHED)
        place = shapes.place(key.removesuffix(HASHED))
        if hashed and place.sort not in (Sort.TEXT, Sort.BYTES):
            raise UnknownShapeError(f"{place.key} is not hashed: it is a number as it stands")
        column = Column(key, place, hashed, at, number // FLAGS, number % FLAGS)
        if out.setdefault(key, column) is not column:
            raise UnknownShapeError(f"{key} is wanted twice")
        at += column.width
    return ColumnSet(out, at)


def fill_code(shapes: Shapes, columns: ColumnSet) -> str:
    """Emit `fill(p, o, have, z, first, c, s)`. first: offset of the packet in the buffer. c: address of its row in
    the first column, s: bytes from one column to the next."""
    lines: list[str] = []
    by: dict[frozenset[str], list[Column]] = {}
    for column in columns.columns.values():
        by.setdefault(closed([column.place.section]) if column.place.section else frozenset(), []).append(column)
    flags = sorted({column.flags for column in columns.columns.values()})
    lines += [f"f{at} = 0" for at in flags]
    for number, (sections, found) in enumerate(by.items()):
        mask = sum(1 << shapes.bit(section) for section in sections)
        if mask:
            lines.append(f"if have & {mask:#x} == {mask:#x}:")
        inside = "    " if mask else ""
        used = sorted({column.flags for column in found})
        lines += [f"{inside}f{at} |= fill_{number}_{at}(p, o, have, z, first, c, s)" for at in used]
    lines += [f"put64(c + {at} * s, f{at})" for at in flags]
    parts = []
    for number, (sections, found) in enumerate(by.items()):
        for at in sorted({column.flags for column in found}):
            some = [column for column in found if column.flags == at]
            parts.append(_part(f"fill_{number}_{at}", shapes, sections, some))
    body = "\n".join(f"    {line}" for line in lines)
    whole = f"def fill(p, o, have, z, first, c, s):\n{body or '    pass'}\n    return 0\n"
    return "\n\n".join([*parts, whole])


def _part(name: str, shapes: Shapes, sections: frozenset[str], found: Sequence[Column]) -> str:
    frame = Frame(shapes, sections)
    for column in found:
        place = column.place
        there = frame.presence(place)
        frame.lines.append(f"# {column.key}")
        if column.hashed:
            at, size = _extent(frame, place)
            values = [f"mixed({at}, {size})"]
        elif place.sort in (Sort.TEXT, Sort.BYTES):
            at, size = _extent(frame, place)
            values = [f"first + {at} - p", size]
        elif place.sort is Sort.GUID:
            frame.ready(place)
            values = [f"u64({address_of(place)})", f"u64({address_of(place)} + 8)"]
        else:
            values = [frame.value(place)]
        frame.lines += [f"put64(c + {column.at + by} * s, {value})" for by, value in enumerate(values)]
        frame.lines.append(f"f |= {written(there)} << {column.bit}")
    body = "\n".join(f"    {line}" for line in frame.lines)
    return f"def {name}(p, o, have, z, first, c, s):\n    f = 0\n{body}\n    return f\n"


def _extent(frame: Frame, place: Place) -> tuple[str, str]:
    """Emit address and length of the value: of a text without its NUL and without half a WCHAR."""
    frame.ready(place)
    at, size = address_of(place), size_of(place)
    return (at, frame.name(f"2 * shown({at}, {size})")) if place.sort is Sort.TEXT else (at, size)


def value_of(column: Column, row: Sequence[int], data: bytes, first: int) -> Value | None:
    """Return the value of a key in a filled row, as `dissect` returns it, or its hash; None when the packet lacks it.

    data, first: the packet, and its offset in the buffer.
    """
    place = column.place
    if not row[column.flags] >> column.bit & 1:
        return None
    one = int(row[column.at])
    if column.hashed:
        return one
    match place.sort:
        case Sort.GUID:
            halves = (int(row[column.at + by]).to_bytes(8, "little", signed=True) for by in (0, 1))
            return str(uuid.UUID(bytes_le=b"".join(halves)))
        case Sort.TEXT | Sort.BYTES:
            raw = data[one - first : one - first + int(row[column.at + 1])]
            return raw.decode("utf-16-le", "surrogatepass") if place.sort is Sort.TEXT else raw
        case Sort.WORD:
            return place.words[one]
        case Sort.FLAG:
            return bool(one)
    return one % (1 << 64) if place.width == 8 and not place.mask else one


TCP, UDP, SIGNED_APART = 0, 1, 2
"""Values of `transport`: a stream's packet; a datagram's; a stream's packet whose signatures are judged elsewhere.

With SIGNED_APART a packet with a certificate is slow but has an outcome, in which the other rules are right.
"""
AHEAD = 6
"""Packets whose first bytes are prefetched before they are read."""
LINES = 5
"""Cache lines prefetched of each, beside the last."""
NEVER_JUDGED = frozenset({PING.name, *NOT_READ})
"""Sections that no rule is about, or none on a packet judged here."""
LOOP = "loop"
_NEAR, _TRIES, _FAR = 1 << 10, 4, 20
"""Outcomes are first searched among _NEAR rows, in _TRIES of them, then by the bits from _FAR on."""
_HEAD = 2  # int64s before the words of an outcome: its count, its hash


@dataclass(frozen=True, slots=True)
class Judged:
    """The `see_SECTION` functions, which read sections, and functions under `@wide` that derive words of bits from
    them.

    calls: mask of sections, function. slots: the number they need, words first.
    """

    source: str
    calls: Sequence[tuple[int, str]]
    words: int
    slots: int


@dataclass(frozen=True, eq=False)
class Chunks:
    """A compiled loop. source: as emitted. shapes, columns: places. words: of an outcome. scratch: its int64s."""

    source: str
    shapes: Shapes
    columns: ColumnSet
    words: int
    scratch: int

    @property
    def wanted(self) -> Wanted:
        """The machine code, which may exist already."""
        return lowered("judge", self.source, LOOP, 13)

    @cached_property
    def loop(self) -> Callable[..., int]:
        """The machine code, see `chunk_code`; compiled where it is not cached. room: see there."""
        return self.wanted.function()

    def room(self) -> Any:
        """Allocate the scratch memory of a call; it may be reused, but not by two calls at the same time."""
        return np.zeros(self.scratch, np.int64)


def chunk_code(shapes: Shapes, judged: Judged, first: int, columns: ColumnSet) -> str:
    """Emit `loop(buffer, offsets, lengths, transport, n, columns, step, rows, results, counts, mask, slow, room)`,
    which returns how many of the first n packets are slow. Its arguments are the addresses of these arrays, the bytes
    from one row of columns to the next, the number of rows, and the capacity of the counts minus one.

    buffer: uint8. offsets: int64, of each packet in it. lengths: int32, its bytes. transport: uint8, TCP or UDP.
    columns: int64 [columns, at least n], filled when it has rows. results: int32, the number of each packet's outcome,
    -1 for a slow one (see SIGNED_APART). counts: int64 [capacity + 1, 2 + words], capacity a power of two: outcome `r`
    was seen counts[r, 0] times and is the words counts[r, 2:]; the last row is the loop's own. slow: uint8, a `Slow`, 0
    for a packet that was judged.
    """
    parts = (
        fill_code(shapes, columns),
        _hash_code(shapes, judged, first),
        _count_code(shapes, judged, first),
        _loop_code(shapes, judged, first),
    )
    return "\n\n\n".join(parts)


def _hash_code(shapes: Shapes, judged: Judged, first: int) -> str:
    """Emit `hashed(o)`, which notes the hash of each outcome's words."""
    lines = [
        "@wide",
        "def hashed(o):",
        "    word = 0",
        # Each word has a multiplier of its own: the products do not wait for each other.
        *(f"    word += noted(o, {first + at}) * {_multiplier(at)}" for at in range(judged.words)),
        "    word ^= (word >> 29) & 0x7_FFFF_FFFF",
        "    word *= -0x6B2F_B644_ECCE_EE15",
        "    word ^= (word >> 32) & 0xFFFF_FFFF",
        f"    note(o, {shapes.slots['Packet.hash']}, word)",
    ]
    return "\n".join(lines)


def _count_code(shapes: Shapes, judged: Judged, first: int) -> str:
    """Emit `number_of(o, table, mask)`: the number of an outcome in the table, where a new one gets a row."""
    stride = 8 * (_HEAD + judged.words)
    lines = [
        "def number_of(o, table, mask):",
        f"    word = noted(o, {shapes.slots['Packet.hash']})",
        # There are nearly always few outcomes: they are stored close together, others wherever there is room.
        f"    at = word & mask & {_NEAR - 1}",
        "    tried = 0",
        "    while True:",
        f"        row = table + {stride} * at",
        "        if u64(row) == 0:",
        f"            own = table + {stride} * (mask + 1)",
        "            if u64(own) * 4 > mask * 3:",
        "                return -1",
        "            put64(own, u64(own) + 1)",
        "            put64(row + 8, word)",
        *(f"            put64(row + {8 * (_HEAD + at)}, noted(o, {first + at}))" for at in range(judged.words)),
        "            return at",
        "        if u64(row + 8) == word:",
        "            same = 0",
        *(f"            same |= u64(row + {8 * (_HEAD + at)}) ^ noted(o, {first + at})" for at in range(judged.words)),
        "            if same == 0:",
        "                return at",
        "        tried += 1",
        f"        at = ((word >> {_FAR}) if tried == {_TRIES} else at + 1) & mask",
    ]
    return "\n".join(lines)


def _loop_code(shapes: Shapes, judged: Judged, first: int) -> str:
    slots = shapes.slots
    have, stride = slots["Packet.have"], 8 * (_HEAD + judged.words)
    lines = [
        "def loop(base, offsets, lengths, transport, n, c, s, want, results, table, mask, slow, scratch):",
        "    o = (scratch + 63) & ~63",
        f"    z = o + {8 * LANES * (first + judged.slots)}",
        "    left_out = i = 0",
        "    while i < n:",
        f"        count = min(n - i, {LANES})",
        "        some = j = 0",
        "        while j < count:",
        f"            if i + j + {AHEAD} < n:",
        f"                ahead = base + u64(offsets + 8 * (i + j + {AHEAD}))",
        *(f"                prefetch(ahead + {64 * at})" for at in range(LINES)),
        f"                prefetch(ahead + u32(lengths + 4 * (i + j + {AHEAD})) - 1)",
        "            one = o + 8 * j",
        "            p = base + u64(offsets + 8 * (i + j))",
        f"            udp = 1 if u8(transport + i + j) == {UDP} else 0",
        "            have = decode(p, u32(lengths + 4 * (i + j)), udp, one, z)",
        "            put8(slow + i + j, 0 if have >= 0 else -have)",
        "            have = max(have, 0)",
        f"            note(one, {have}, have)",
        "            some |= have",
        "            j += 1",
        f"        while j < {LANES}:",
        f"            note(o + 8 * j, {have}, 0)",
        "            j += 1",
        *(["        judge(o, some)"] if judged.words else []),
        "        hashed(o)",
        "        for j in range(count):",
        "            one = o + 8 * j",
        "            number = -1",
        "            signed = 0",
        "            why = u8(slow + i + j)",
        "            if why == 0:",
        f"                why = {Slow.LETTERS:d}",
        f"                if noted(one, {slots['Packet.odd']}) != 0:",
        f"                    why = {Slow.ODD:d}",
        f"                elif noted(one, {slots['Packet.letters']}) == 0:",
        f"                    why = {Slow.CROWDED:d}",
        f"                    signed = noted(one, {slots['Packet.signed']})",
        f"                    if signed != 0 and u8(transport + i + j) != {SIGNED_APART}:",
        f"                        why = {Slow.SIGNED:d}",
        "                    else:",
        "                        number = number_of(one, table, mask)",
        "            put32(results + 4 * (i + j), number)",
        "            if number < 0:",
        "                put8(slow + i + j, why)",
        "                left_out += 1",
        "                continue",
        f"            put8(slow + i + j, {Slow.SIGNED:d} if signed != 0 else {Slow.NOT:d})",
        "            left_out += signed",
        f"            row = table + {stride} * number",
        "            put64(row, u64(row) + 1)",
        "            if want != 0:",
        "                begin = u64(offsets + 8 * (i + j))",
        f"                fill(base + begin, one, noted(one, {have}), z, begin, c + 8 * (i + j), s)",
        f"        i += {LANES}",
        "    return left_out",
        "",
    ]
    return "\n".join(lines)


def _multiplier(at: int) -> int:
    """Return an odd number of 64 bits, different for each word of an outcome."""
    raw = hashlib.sha256(f"word {at}".encode()).digest()
    return int.from_bytes(raw[:8], "little", signed=True) | 1


def judge_code(judged: Judged, first: int) -> str:
    """Emit `judge(o, some)`: the outcome words of decoded packets, from slot `first` on. some: their sections."""
    lines = [
        "@wide",
        "def begin(o):",
        *(f"    note(o, {first + at}, 0)" for at in range(judged.words)),
        "",
        "",
        "@apart",
        "def judge(o, some):",
        "    begin(o)",
    ]
    for sections, name in judged.calls:
        lines += [f"    if some & {sections:#x} == {sections:#x}:", f"        {name}(o)"]
    return "\n".join([judged.source, "", "", *lines, "    return 0", ""])


def chunks(keys: Sequence[str], judging: Callable[[Shapes, int], Judged]) -> Chunks:
    """Make the loop for these columns and rules; it is compiled by the first call in any process.

    judging: returns the functions that judge, given the places and the first slot of their words.
    """
    shapes, code = shapes_and_code()
    first = len(shapes.slots)
    judged = judging(shapes, first)
    columns = column_set(shapes, keys)
    unseen = [one for one in shapes.sections if one not in NEVER_JUDGED and seen(one) not in code]
    if unseen:
        raise UnknownShapeError(f"nothing looks at {', '.join(unseen)}")
    parts = [source_of(texts), code, judge_code(judged, first)]
    parts.append(chunk_code(shapes, judged, first, columns))
    source = _without_unread("\n\n".join(parts))
    scratch = LANES * (1 + first + judged.slots) + ZEROS // 8
    return Chunks(source, shapes, columns, judged.words, scratch)


def _without_unread(code: str) -> str:
    """Remove the notes in slots that no code reads."""
    read = set(re.findall(r"noted\(o, (\d+)\)", code)) | set(re.findall(r"noted\(one, (\d+)\)", code))

    def kept(found: re.Match[str]) -> str:
        return found[0] if found["slot"] in read else f"{found['depth']}pass"

    return re.sub(r"(?P<depth>^ +)note\(o, (?P<slot>\d+), .*$", kept, code, flags=re.MULTILINE)
