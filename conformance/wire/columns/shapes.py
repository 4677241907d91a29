"""The places of the keys of a decoded packet in emitted code, and the conditions of their presence.

A walker (see `walkers`) notes the offset of each section, of each further run of fixed fields and of each field of
variable length in a row of int64 *slots*; a field at a fixed distance from such an anchor is read from the packet when
it is requested. Emitted code calls an anchor in slot 7 `a7`, an address, and a length in slot 8 `n8`.

Places are right for a packet that was decoded without trouble: then a field is present exactly when its section is and
the conditions of the layout tables that lead to it are met.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, replace
from enum import Enum
from typing import Any

from conformance.wire.layout import Condition


class UnknownShapeError(Exception):
    """Raised when a table holds an item that cannot be emitted. It is never skipped: tables and emitter must agree."""


class Sort(Enum):
    """The kind of value of a key."""

    NUMBER = "number"
    FLAG = "flag"  # True or False
    WORD = "word"  # one of a few texts, by number
    GUID = "guid"
    BYTES = "bytes"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class NotEmpty:
    """A condition of presence: the length in this slot is not zero."""

    slot: int


@dataclass(frozen=True, slots=True)
class NotBelowZero:
    """A condition of presence: the number in this slot is not negative."""

    slot: int


Presence = Condition | NotEmpty | NotBelowZero
_PRESENCES: dict[str, type[Presence]] = {kind.__name__: kind for kind in (Condition, NotEmpty, NotBelowZero)}


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a key.

    section: empty for facts that every packet has. conditions: all must be met, beside the section's presence. anchor:
    slot of the offset it is counted from, -1 for none. offset: bytes from there. width: of a number, in bytes. low,
    mask: of bits. length: slot of a variable length, -1 for none; size: a fixed length. fact: how to compute a value
    that is not a field: `slot` (it is in `anchor`), `const` (it is `size`), `Terminated`, `Inner`, `Odd` of a text,
    `Ended`, `Behind`, `Zeros` of one that zeros fill up.
    words: the texts of a WORD, by number.
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

    def to_json(self) -> list[Any]:
        """Return the place as JSON: its members in their order."""
        met = [[type(one).__name__, *astuple(one)] for one in self.conditions]
        rest = (self.anchor, self.offset, self.width, self.low, self.mask, self.length, self.size, self.fact)
        return [self.key, self.section, self.sort.value, met, *rest, self.words]

    @classmethod
    def of_json(cls, value: list[Any]) -> Place:
        """Read what `to_json` wrote."""
        key, section, sort, met, anchor, offset, width, low, mask, length, size, fact, words = value
        conditions = [_PRESENCES[kind](*(_tuples(one) for one in members)) for kind, *members in met]
        rest = (anchor, offset, width, low, mask, length, size, fact, tuple(words))
        return cls(key, section, Sort(sort), tuple(conditions), *rest)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@dataclass(slots=True)
class Shapes:
    """All places, and the slots they need. sections: by name, the bit that marks a section as present."""

    places: dict[str, Place] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    sections: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> list[Any]:
        """Return the shapes as JSON; a place is stored beside its key."""
        return [[[key, place.to_json()] for key, place in self.places.items()], self.slots, self.sections]

    @classmethod
    def of_json(cls, value: list[Any]) -> Shapes:
        """Read what `to_json` wrote."""
        places, slots, sections = value
        return cls({key: Place.of_json(place) for key, place in places}, slots, sections)

    def slot(self, name: str) -> int:
        """Return the slot of this name, a new one when it has none."""
        return self.slots.setdefault(name, len(self.slots))

    def bit(self, section: str) -> int:
        """Return the bit of a section in the mask of present sections."""
        found = self.sections.setdefault(section, len(self.sections))
        if found > 61:
            raise UnknownShapeError("more sections than a word has bits")
        return found

    def add(self, place: Place) -> None:
        """Add the place of a key. Raises UnknownShapeError when the key has two places."""
        before = self.places.get(place.key)
        self.places[place.key] = place if before is None else _either(before, place)

    def place(self, key: str) -> Place:
        """Return the place of a key. Raises UnknownShapeError for a key that no table has."""
        found = self.places.get(key)
        if found is None:
            raise UnknownShapeError(f"no table says where {key} is")
        return found


def _either(one: Place, other: Place) -> Place:
    """Merge the places of a key that two options of a choice share: under one or the other."""
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


OF_FILLED = {"Ended": "(nul_at({at}, {size}) >= 0)", "Behind": "behind({at}, {size})", "Zeros": "zeros({at}, {size})"}


def load(width: int, address: str) -> str:
    """Emit the load of a number of `width` bytes at an address."""
    if width not in (1, 2, 4, 8):
        raise UnknownShapeError(f"no load for {width} bytes")
    return f"u{8 * width}({address})"


def number(place: Place) -> str:
    """Emit the value of a number, a flag, or a word's number. Needs the anchors that `Frame.ready` defines."""
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
    if place.fact in OF_FILLED:
        return OF_FILLED[place.fact].format(at=at, size=length)
    if place.fact or place.sort is not Sort.NUMBER:
        raise UnknownShapeError(f"{place.key} is no number")
    word = load(place.width, f"{at} + {place.offset}" if place.offset else at)
    if place.mask:
        word = f"(({word} >> {place.low}) & {place.mask:#x})" if place.low else f"({word} & {place.mask:#x})"
    return word


def size_of(place: Place) -> str:
    """Emit the length in bytes of a field of bytes or text."""
    return f"n{place.length}" if place.length >= 0 else str(place.size)


def address_of(place: Place) -> str:
    """Emit the address of a field of whole bytes."""
    return f"a{place.anchor} + {place.offset}" if place.offset else f"a{place.anchor}"


def is_among(value: str, values: tuple[int, ...]) -> str:
    """Emit whether a number is one of a few: 0 or 1 without a branch; values below 62 by one bit test."""
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
