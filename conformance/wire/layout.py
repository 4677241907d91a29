"""The vocabulary of layout tables, little-endian, bit 0 the lowest, and its compilation to `struct` steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from struct import Struct
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


@lru_cache(maxsize=1 << 12)
def guid_text(raw: bytes) -> str:
    """Format sixteen bytes in MS-DTYP 2.3.4.2 layout as text, lower case, without braces."""
    h = raw.hex()
    return f"{h[6:8]}{h[4:6]}{h[2:4]}{h[0:2]}-{h[10:12]}{h[8:10]}-{h[14:16]}{h[12:14]}-{h[16:20]}-{h[20:]}"


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


_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}
_MOST = 1 << 10  # Places and words of a run that are remembered at once.


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Adjacent fields of fixed width. fields: (full key, offset from the run's start, width, is a GUID).

    A run stands in few places, and its flags have few values: what follows from these is worked out once.
    """

    struct: Struct
    fields: tuple[tuple[str, int, int, bool], ...]
    bits: tuple[tuple[str, str, int, int], ...]  # (full key, key of the word, shift, mask)
    defaults: tuple[int, ...]
    keys: tuple[str, ...] = field(init=False, repr=False)
    guids: tuple[int, ...] = field(init=False, repr=False)
    """The places of GUIDs among the fields."""
    words: tuple[tuple[int, tuple[tuple[str, int, int], ...], dict[int, dict[str, int]]], ...] = field(
        init=False, repr=False
    )
    """The place of each word with bits, its bits (full key, shift, mask), and by value what they are."""
    _spans: dict[int, dict[str, tuple[int, int]]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        keys = tuple(key for key, *_ in self.fields)
        of: dict[int, list[tuple[str, int, int]]] = {}
        for key, word, low, mask in self.bits:
            of.setdefault(keys.index(word), []).append((key, low, mask))
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "guids", tuple(at for at, one in enumerate(self.fields) if one[3]))
        object.__setattr__(self, "words", tuple((at, tuple(bits), {}) for at, bits in of.items()))

    def spans(self, start: int) -> Mapping[str, tuple[int, int]]:
        """Return the offset and the length of each field of a run that begins here."""
        found = self._spans.get(start)
        if found is None:
            if len(self._spans) >= _MOST:
                self._spans.clear()
            found = self._spans[start] = {key: (start + offset, width) for key, offset, width, _ in self.fields}
        return found


def parted(value: int, bits: tuple[tuple[str, int, int], ...], known: dict[int, dict[str, int]]) -> Mapping[str, int]:
    """Return the bits of a word (`Run.words`)."""
    found = known.get(value)
    if found is None:
        if len(known) >= _MOST:
            known.clear()
        found = known[value] = {key: (value >> low) & mask for key, low, mask in bits}
    return found


@dataclass(frozen=True, slots=True)
class Blob:
    """Octets (`text` false) or UTF-16LE text. of: full key of the field that holds the length, empty when fixed.

    elements: the elements of the octets, when they are a list; count: full key of the field that counts them. filled:
    the octets are text filled up with zeros.
    """

    key: str
    of: str
    length: Length
    text: bool
    elements: Elements | None = None
    count: str = ""
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Padding:
    """Padding up to a multiple of `to` from the start of the section, except in one alternative layout."""

    key: str
    to: int
    not_under: str = ""


@dataclass(frozen=True, slots=True)
class Branch:
    """Steps that depend on a selector: an unlisted value cannot be decoded, unless a condition decides."""

    key: str
    by: str
    options: dict[int, tuple[Step, ...]]
    condition: Condition | None = None


Step: TypeAlias = Run | Blob | Padding | Branch


@cache
def steps_of(section: Section) -> tuple[Step, ...]:
    """Return the steps that read or write a section. Sections are few: cached for the whole process."""
    return _compile(section.items, section.name, section.name)


def _compile(items: tuple[Item, ...], prefix: str, section: str) -> tuple[Step, ...]:
    out: list[Step] = []
    fixed: list[UInt | Guid] = []

    def flush() -> None:
        if fixed:
            out.append(_run(tuple(fixed), prefix))
            fixed.clear()

    for item in items:
        if isinstance(item, UInt | Guid):
            fixed.append(item)
            continue
        flush()
        key = f"{prefix}.{item.name}" if not isinstance(item, When) else prefix
        match item:
            case Octets() | Wide():
                of = f"{prefix}.{item.length.of}" if item.length.of else ""
                elements = item.elements if isinstance(item, Octets) else None
                count = f"{prefix}.{elements.count}" if elements else ""
                filled = isinstance(item, Octets) and item.filled
                out.append(Blob(key, of, item.length, isinstance(item, Wide), elements, count, filled))
            case Pad():
                out.append(Padding(key, item.to, item.not_under))
            case When():
                out.append(Branch(key, item.condition.key, {1: _compile(item.items, prefix, section)}, item.condition))
            case Choice():
                options = {value: _compile(option, key, section) for value, option in item.options.items()}
                out.append(Branch(key, item.by, options))
    flush()
    return tuple(out)


def _run(items: tuple[UInt | Guid, ...], prefix: str) -> Run:
    code, at = "<", 0
    fields: list[tuple[str, int, int, bool]] = []
    bits: list[tuple[str, str, int, int]] = []
    defaults: list[int] = []
    for item in items:
        key = f"{prefix}.{item.name}"
        if isinstance(item, Guid):
            code += "16s"
            fields.append((key, at, 16, True))
            defaults.append(0)
            at += 16
            continue
        code += _CODES[item.width]
        fields.append((key, at, item.width, False))
        defaults.append(item.default)
        bits.extend((f"{key}.{one.name}", key, one.low, one.mask) for one in item.bits)
        at += item.width
    return Run(Struct(code), tuple(fields), tuple(bits), tuple(defaults))
