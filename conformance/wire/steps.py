"""Compiles layout tables to steps: consecutive numbers and GUIDs become one `struct` read or write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from struct import Struct
from typing import TypeAlias

from conformance.wire.layout import (
    Choice,
    Condition,
    Elements,
    Guid,
    Item,
    Length,
    Octets,
    Pad,
    Section,
    UInt,
    When,
    Wide,
)

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
