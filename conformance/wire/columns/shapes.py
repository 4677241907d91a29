"""Where each key of a decoded packet is found by emitted code, and when it is there.

A walker (see `walkers`) notes the offset of each section, of each further run of fixed fields and of each field of
variable length in a row of int64 *slots*; what lies at a fixed distance from such an anchor is read from the packet
when it is asked for. Emitted code speaks of an anchor in slot 7 as `a7`, an address, and of a length in slot 8 as `n8`.

Places are right for a packet that was decoded without trouble: then a field is there exactly when its section is and
the conditions of the layout tables that lead to it are met.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from conformance.wire.layout import Condition


class UnknownShapeError(Exception):
    """A table holds something the emitter has no code for. Never skipped: the tables and the emitter must agree."""


class Sort(Enum):
    """What kind of value a key has."""

    NUMBER = "number"
    FLAG = "flag"  # True or False
    WORD = "word"  # one of a few texts, by number
    GUID = "guid"
    BYTES = "bytes"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class NotEmpty:
    """Presence: the length in this slot is not zero."""

    slot: int


@dataclass(frozen=True, slots=True)
class NotBelowZero:
    """Presence: the number in this slot is not negative."""

    slot: int


Presence = Condition | NotEmpty | NotBelowZero


@dataclass(frozen=True, slots=True)
class Place:
    """Where a key is.

    section: empty for facts every packet has. conditions: all must be met, beside the section's presence. anchor: slot
    of the offset it is counted from, -1 for none. offset: bytes from there. width: of a number, in bytes. low, mask:
    of bits. length: slot of a variable length, -1 for none; size: a fixed length. fact: how a value is computed that
    is no field: `slot` (it is in `anchor`), `const` (it is `size`), `Terminated`, `Inner`, `Odd` of a text. words:
    the texts of a WORD, by number.
    """

    key: str
    section: str
    sort: Sort
    conditions: tuple[Presence, ...] = ()
    anchor: int = -1
    offset: int = 0
    width: int = 0
    low: int = 0
    mask: int = 0
    length: int = -1
    size: int = 0
    fact: str = ""
    words: tuple[str, ...] = ()


@dataclass(slots=True)
class Shapes:
    """All places, and the slots they need. sections: by name, the bit that says that a section is there."""

    places: dict[str, Place] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    sections: dict[str, int] = field(default_factory=dict)

    def slot(self, name: str) -> int:
        """The slot of this name, a new one when it has none."""
        return self.slots.setdefault(name, len(self.slots))

    def bit(self, section: str) -> int:
        """The bit of a section in the mask of those that are there."""
        found = self.sections.setdefault(section, len(self.sections))
        if found > 61:
            raise UnknownShapeError("more sections than a word has bits")
        return found

    def add(self, place: Place) -> None:
        """Note where a key is. Raises UnknownShapeError when it has two places."""
        before = self.places.get(place.key)
        self.places[place.key] = place if before is None else _either(before, place)

    def place(self, key: str) -> Place:
        """Where a key is. Raises UnknownShapeError for one no table has."""
        found = self.places.get(key)
        if found is None:
            raise UnknownShapeError(f"no table says where {key} is")
        return found


def _either(one: Place, other: Place) -> Place:
    """The place of a key that two options of a choice both lead to: under one or the other."""
    merged: list[Presence] = []
    for mine, its in zip(one.conditions, other.conditions, strict=False):
        if mine != its:
            if not (isinstance(mine, Condition) and isinstance(its, Condition) and mine.key == its.key):
                break
            if mine.negate or its.negate:
                break
            mine = Condition(mine.key, tuple(dict.fromkeys((*mine.values, *its.values))))
        merged.append(mine)
    both = replace(one, conditions=tuple(merged))
    if len(one.conditions) != len(merged) or both != replace(other, conditions=tuple(merged)):
        raise UnknownShapeError(f"{one.key} would lie in two places")
    return both


def load(width: int, address: str) -> str:
    """A number of `width` bytes at an address."""
    if width not in (1, 2, 4, 8):
        raise UnknownShapeError(f"no load for {width} bytes")
    return f"u{8 * width}({address})"


def number(place: Place) -> str:
    """The value of a number, a flag, or a word's number. Needs the anchors `needs` lists."""
    if place.fact == "slot":
        return f"noted(o, {place.anchor})"
    if place.fact == "const":
        return str(place.size)
    at, length = f"a{place.anchor}", size_of(place)
    if place.fact == "Terminated":
        return f"terminated({at}, {length})"
    if place.fact == "Inner":
        return f"inner_nul({at}, {length})"
    if place.fact == "Odd":
        return f"({length} & 1)"
    if place.fact or place.sort is not Sort.NUMBER:
        raise UnknownShapeError(f"{place.key} is no number")
    word = load(place.width, f"{at} + {place.offset}" if place.offset else at)
    if place.mask:
        word = f"(({word} >> {place.low}) & {place.mask:#x})" if place.low else f"({word} & {place.mask:#x})"
    return word


def size_of(place: Place) -> str:
    """The length in bytes of a field of bytes or text."""
    return f"n{place.length}" if place.length >= 0 else str(place.size)


def address_of(place: Place) -> str:
    """The address of a field of whole bytes."""
    return f"a{place.anchor} + {place.offset}" if place.offset else f"a{place.anchor}"


def is_among(value: str, values: tuple[int, ...]) -> str:
    """Whether a number is one of a few: 0 or 1 without a branch; values below 64 by one bit test."""
    if not values:
        return "0"
    small = [one for one in values if 0 <= one < 62]
    rest = [one for one in values if not 0 <= one < 62]
    parts = [f"({value} == {one})" for one in rest]
    if len(small) == 1:
        parts.append(f"({value} == {small[0]})")
    elif small:
        mask = sum(1 << one for one in small)
        parts.append(f"((({value}) < 62) & ({value} >= 0) & (({mask:#x} >> ({value} & 63)) & 1))")
    return parts[0] if len(parts) == 1 else "(" + " | ".join(parts) + ")"
