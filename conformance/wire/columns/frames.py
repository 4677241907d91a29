"""The body of an emitted function that reads a decoded packet: its known facts, its names, and its reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from conformance.wire.columns.packets import implied
from conformance.wire.columns.shapes import (
    OF_FILLED,
    NotBelowZero,
    NotEmpty,
    Place,
    Presence,
    Shapes,
    Sort,
    UnknownShapeError,
    address_of,
    number,
    size_of,
)
from conformance.wire.columns.walkers import met
from conformance.wire.layout import Condition

ZEROS = 4096
PARAMETERS = "p, o, have, z"
Truth = bool | str
_SHORT = 12  # characters; shorter source gets no name


def every(*truths: Truth) -> Truth:
    """Return the conjunction of truths."""
    if any(one is False for one in truths):
        return False
    parts = list(dict.fromkeys(one for one in truths if isinstance(one, str)))
    if not parts:
        return True
    return parts[0] if len(parts) == 1 else f"({' & '.join(parts)})"


def some(*truths: Truth) -> Truth:
    """Return the disjunction of truths."""
    if any(one is True for one in truths):
        return True
    parts = list(dict.fromkeys(one for one in truths if isinstance(one, str)))
    if not parts:
        return False
    return parts[0] if len(parts) == 1 else f"({' | '.join(parts)})"


def opposite(truth: Truth) -> Truth:
    """Return the negation of a truth."""
    return (not truth) if isinstance(truth, bool) else f"(1 - {truth})"


def written(truth: Truth) -> str:
    """Return a truth as source."""
    return truth if isinstance(truth, str) else str(int(truth))


@dataclass(slots=True)
class Frame:
    """A function body. present: sections known to be present. absent: sections known to be absent. lines: in order."""

    shapes: Shapes
    present: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    lines: list[str] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)
    _anchors: dict[str, Truth] = field(default_factory=dict)
    _conditions: dict[Presence, Truth] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.present = closed(self.present)

    def name(self, source: str) -> str:
        """Return a name for a value, the same for the same source. Short source is its own name."""
        if len(source) <= _SHORT:
            return source
        found = self._names.get(source)
        if found is None:
            found = self._names[source] = f"t{len(self._names)}"
            self.lines.append(f"{found} = {source}")
        return found

    def truth(self, truth: Truth) -> Truth:
        """Return a truth under a name."""
        return self.name(truth) if isinstance(truth, str) else truth

    def section(self, name: str) -> Truth:
        """Return the truth that a section is present."""
        if not name or name in self.present:
            return True
        if implied(name) & self.absent:
            return False
        return self.truth(f"((have >> {self.shapes.bit(name)}) & 1)")

    def presence(self, place: Place) -> Truth:
        """Return the truth that a key is present."""
        there = self.section(place.section)
        if there is False:
            return False
        return self.truth(every(there, *(self._condition(one) for one in place.conditions)))

    def value(self, place: Place) -> str:
        """Return the value of a number, flag or word; arbitrary when it is absent."""
        self.ready(place)
        return self.name(number(place))

    def ready(self, place: Place) -> None:
        """Define the names `a..` and `n..` that the source for this place uses."""
        if place.fact in ("slot", "const"):
            return
        there = self.presence(place)
        if there is False:
            raise UnknownShapeError(f"{place.key} is looked at where it cannot be")
        address = "p" if place.anchor == self.shapes.slots["BaseHeader"] else f"p + noted(o, {place.anchor})"
        self._define(f"a{place.anchor}", address, "z", there)
        if place.length >= 0:
            self._define(f"n{place.length}", f"noted(o, {place.length})", "0", there)

    def _define(self, name: str, value: str, instead: str, there: Truth) -> None:
        before = self._anchors.get(name)
        if before is None:
            self._anchors[name] = there
            self.lines.append(f"{name} = {value if there is True else f'select({there}, {value}, {instead})'}")
        elif before != there:
            raise UnknownShapeError(f"the anchor {name} is there under {before} and under {there}")

    def _condition(self, condition: Presence) -> Truth:
        found = self._conditions.get(condition)
        if found is None:
            match condition:
                case Condition():
                    place = self.shapes.place(condition.key)
                    found = self.truth(met(self.value(place), condition))
                case NotEmpty(slot):
                    found = self.truth(f"(noted(o, {slot}) != 0)")
                case NotBelowZero(slot):
                    found = self.truth(f"(noted(o, {slot}) >= 0)")
            self._conditions[condition] = found
        return found


def closed(sections: Iterable[str]) -> frozenset[str]:
    """Return these sections and those that are present whenever they are."""
    out: frozenset[str] = frozenset()
    for section in sections:
        out |= implied(section)
    return out


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
