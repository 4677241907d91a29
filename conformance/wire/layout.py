"""The vocabulary of layout tables: the fields of a section, in wire order, little-endian, bit 0 the lowest.

A table is data only. `decode` reads bytes by it, `encode` writes them, and `layers` makes a scapy layer of it, so the
three cannot disagree about an offset. Bit order is LSB first (MS-MQQB 4.1.7: flags 0x00281C00 hold DQ = 7).

Keys: a field is identified everywhere by its section and path, `UserHeader.DestinationQueue.Count`, a bit field by its
flags word, `BaseHeader.Flags.PR`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = int | str | bytes | bool
Key: TypeAlias = str


@dataclass(frozen=True, slots=True)
class Bits:
    """Consecutive bits of a flags word. low: position of the lowest one; width: their number."""

    name: str
    low: int
    width: int

    @property
    def mask(self) -> int:
        """The largest value of these bits, unshifted."""
        return (1 << self.width) - 1

    @property
    def reserved(self) -> bool:
        """True for bits that the document reserves; it names such bits X, X1, X2 and so on."""
        return self.name == "X" or (self.name[0] == "X" and self.name[1:].isdigit())


@dataclass(frozen=True, slots=True)
class UInt:
    """An unsigned number of `width` bytes (1, 2, 4 or 8)."""

    name: str
    width: int
    bits: tuple[Bits, ...] = ()
    default: int = 0


@dataclass(frozen=True, slots=True)
class Guid:
    """Sixteen bytes in MS-DTYP 2.3.4.2 layout; the value is lower-case text without braces."""

    name: str


@dataclass(frozen=True, slots=True)
class Length:
    """A byte count: `times` times the value of field `of` of the same section, less `minus`; or just `fixed` bytes.

    bytes_under: the alternative layout in which the field counts bytes, whatever `times` is.
    """

    of: str = ""
    times: int = 1
    minus: int = 0
    fixed: int = 0
    bytes_under: str = ""


@dataclass(frozen=True, slots=True)
class Align:
    """In an element: any bytes up to a multiple of `to`. doubtful: only one reading aligns here."""

    to: int
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """In an element: UTF-16LE text up to and with its first NUL; the value excludes the NUL."""

    name: str


ElementItem: TypeAlias = UInt | Guid | Align | Ended


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of a list of bytes, back to back: a 2-byte selector and the layout it chooses.

    count: the field beside the list that counts them. No document states the origin of alignment; `elements` tries each
    way. Facts about the list as a whole are decoded beside it (see `elements.facts`).
    """

    count: str
    selector: str
    options: Mapping[int, tuple[ElementItem, ...]]


@dataclass(frozen=True, slots=True)
class Octets:
    """Bytes that only the application interprets, or a list of elements. Absent when the length is zero.

    filled: they are UTF-16LE text that a NUL ends and zeros fill up. They stay bytes; three facts are decoded beside
    them: `.Ended` (a WCHAR is a NUL), `.Behind` (the bytes behind the first NUL) and `.Zeros` (all of those are zero).
    """

    name: str
    length: Length
    elements: Elements | None = None
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Wide:
    """UTF-16LE text ended by a NUL that the length counts; the value excludes the NUL. Absent at length zero.

    Three facts that need the raw bytes are decoded beside it: `.Terminated` (the last WCHAR is the NUL), `.Inner` (an
    earlier WCHAR is one) and `.Odd` (half a WCHAR is left over).
    """

    name: str
    length: Length


@dataclass(frozen=True, slots=True)
class Pad:
    """Bytes up to the next multiple of `to` from the start of the section; any value (MS-MQMQ product notes 1, 2, 8).

    `.Complete` is decoded beside it: false when the packet ended inside the padding. not_under: the alternative layout
    without padding here.
    """

    name: str = "Padding"
    to: int = 4
    not_under: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition: field `key` (full key) has one of `values`, or with `negate` none of them."""

    key: Key
    values: tuple[int, ...] = (1,)
    negate: bool = False


@dataclass(frozen=True, slots=True)
class When:
    """Items that are present only under a condition."""

    condition: Condition
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A field whose layout a selector decides. Decoding stops at a selector value without an option."""

    name: str
    by: Key
    options: Mapping[int, tuple[Item, ...]]


Item: TypeAlias = UInt | Guid | Octets | Wide | Pad | When | Choice


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A header or body. source: document and section. items in wire order. There is one object per section."""

    name: str
    source: str
    items: tuple[Item, ...]

    def key(self, name: str) -> Key:
        """Return the full key of a field of this section."""
        return f"{self.name}.{name}"


def bits(notation: str) -> tuple[Bits, ...]:
    """Parse bit fields from `PR:3 IN SH`, lowest first; a name without a width is one bit."""
    out: list[Bits] = []
    low = 0
    for word in notation.split():
        name, _, width = word.partition(":")
        out.append(Bits(name, low, int(width or 1)))
        low += int(width or 1)
    return tuple(out)


def leaves(section: Section) -> Iterator[tuple[str, Item]]:
    """Yield each field with its path inside the section, choices and conditions opened, in wire order."""
    yield from _leaves(section.items, "")


def _leaves(items: tuple[Item, ...], prefix: str) -> Iterator[tuple[str, Item]]:
    for item in items:
        match item:
            case When():
                yield from _leaves(item.items, prefix)
            case Choice():
                for option in item.options.values():
                    yield from _leaves(option, f"{prefix}{item.name}.")
            case _:
                yield prefix + item.name, item


def bit_fields(section: Section) -> Iterator[tuple[str, Bits]]:
    """Yield each bit field with its path inside the section, such as `Flags.PR`."""
    for path, item in leaves(section):
        if isinstance(item, UInt):
            for one in item.bits:
                yield f"{path}.{one.name}", one
