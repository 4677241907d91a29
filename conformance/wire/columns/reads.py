"""Emits the reads of wide code: packet by packet into slots, for code that reads all slots at once.

`see_SECTION(p, o, have, z)` reads, and is called as soon as a section is walked over (see `packets`). Absent keys are
not read: their slots keep their previous contents, and wide code checks a key's presence before it uses its slot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from conformance.wire.columns.frames import PARAMETERS, Frame, Truth, written
from conformance.wire.columns.shapes import (
    OF_FILLED,
    Place,
    Shapes,
    Sort,
    UnknownShapeError,
    address_of,
    number,
    size_of,
)

_AT, _SIZE, _CHARS = "{at}", "{size}", "{chars}"
_OF_TEXT = {
    "Terminated": f"terminated({_AT}, {_SIZE})",
    "Inner": f"has_nul({_AT}, {_CHARS})",
    "Odd": f"({_SIZE} & 1)",
    **OF_FILLED,
}


@dataclass(slots=True)
class Reads:
    """The slots of values that wide code needs. first: the first free slot. slots: by the value read."""

    shapes: Shapes
    first: int
    slots: dict[tuple[object, ...], int] = field(default_factory=dict)
    _numbers: list[tuple[Place, int, Callable[[Frame], str]]] = field(default_factory=list)
    _texts: dict[str, tuple[Place, list[tuple[int, str, bool]]]] = field(default_factory=dict)

    def number(self, place: Place) -> str:
        """Return the whole word that holds a number."""
        word = replace(place, low=0, mask=0)
        return self._read(place, (place.anchor, place.offset, place.width), lambda _: number(word))

    def half(self, place: Place, by: int) -> str:
        """Return eight bytes of a GUID."""
        key = (place.anchor, place.offset + by, 8)
        return self._read(place, key, lambda _: f"u64({address_of(place)} + {by})")

    def byte(self, place: Place, index: int) -> str:
        """Return one byte of a field; 0 when the field is too short."""

        def source(frame: Frame) -> str:
            return f"u8(select({size_of(place)} > {index}, {address_of(place)} + {index}, z))"

        return self._read(place, (place.key, index), source)

    def text(self, place: Place, source: str, *, decides: bool = False) -> str:
        """Return the result of a function of a text. source: the call, of `{at}`, `{size}` and `{chars}`. decides: a
        result of 2 means that letters beyond ASCII decide."""
        key = (place.anchor, place.offset, source)
        found = self.slots.get(key)
        if found is None:
            found = self._slot(key)
            self._texts.setdefault(f"{place.anchor}+{place.offset}", (place, []))[1].append((found, source, decides))
        return f"noted(o, {found})"

    def _read(self, place: Place, key: tuple[object, ...], source: Callable[[Frame], str]) -> str:
        found = self.slots.get(key)
        if found is None:
            found = self._slot(key)
            self._numbers.append((place, found, source))
        return f"noted(o, {found})"

    def _slot(self, key: tuple[object, ...]) -> int:
        self.slots[key] = self.first + len(self.slots)
        return self.slots[key]

    def code(self) -> str:
        """Emit `see_SECTION` for each section."""
        frames: dict[str, Frame] = {}
        for place, slot, source in self._numbers:
            frame = frames.setdefault(place.section, Frame(self.shapes, frozenset({place.section})))
            frame.ready(place)
            frame.lines.append(f"note(o, {slot}, {source(frame)})")
        for place, wanted in self._texts.values():
            self._of_text(
                frames.setdefault(place.section, Frame(self.shapes, frozenset({place.section}))), place, wanted
            )
        out: list[str] = []
        for section in self.shapes.sections:
            lines = frames[section].lines if section in frames else []
            out += [f"def see_{section}({PARAMETERS}):", *(f"    {line}" for line in lines), "    return 0", "", ""]
        return "\n".join(out)

    def _of_text(self, frame: Frame, place: Place, wanted: list[tuple[int, str, bool]]) -> None:
        there = frame.presence(place)
        frame.ready(place)
        at, size, letters = address_of(place), size_of(place), self.shapes.slots["Packet.letters"]
        # Texts are most of the work, and the prediction that a text is present is mostly right.
        lines = [f"chars = shown({at}, {size})"]
        for slot, source, decides in wanted:
            lines.append(f"found = {source.format(at=at, size=size, chars='chars')}")
            lines.append(f"note(o, {slot}, found)")
            if decides:
                lines.append(f"note(o, {letters}, noted(o, {letters}) | (found >> 1))")
        frame.lines += [f"if {written(there)} != 0:", *(f"    {line}" for line in lines)]


@dataclass(slots=True)
class WideFrame(Frame):
    """The body of a function under `@wide`. Its names in source: `o`, and `have`, the sections of each packet."""

    reads: Reads = field(kw_only=True)

    def section(self, name: str) -> Truth:
        found = Frame.section(self, name)
        return found if isinstance(found, bool) else self.truth(f"((have & {1 << self.shapes.bit(name):#x}) != 0)")

    def value(self, place: Place) -> str:
        if place.fact in ("slot", "const"):
            return number(place)
        if place.fact in _OF_TEXT:
            return self.reads.text(place, _OF_TEXT[place.fact])
        if place.fact or place.sort is not Sort.NUMBER:
            raise UnknownShapeError(f"{place.key} is no number")
        word = self.reads.number(place)
        if not place.mask:
            return word
        return self.name(f"(({word} >> {place.low}) & {place.mask:#x})" if place.low else f"({word} & {place.mask:#x})")

    def size(self, place: Place) -> str:
        """Return the length in bytes of a field of bytes or text."""
        return f"noted(o, {place.length})" if place.length >= 0 else str(place.size)
