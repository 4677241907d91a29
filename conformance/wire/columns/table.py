"""Columns of decoded packets: the keys, the position of each in the row of int64 columns, and the code that fills them.

A number, flag or word (by its number, see `Place.words`) takes one column; 64-bit fields wrap. A GUID takes two, the
halves of its sixteen bytes. Text and bytes take two, the offset in the buffer and the number of bytes, or with `#`
behind the key one, a 64-bit hash of the value's bytes (of a text without its NUL). The first columns mark the keys that
the packet has, one bit each. A column of a key that the packet lacks holds an arbitrary value.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.wire.columns.frames import Frame, closed, written
from conformance.wire.columns.shapes import Place, Shapes, Sort, UnknownShapeError, address_of, size_of
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
