"""The body of an emitted function that reads a decoded packet: its known facts, and the names it has defined.

Truths are branch-free numbers, 0 and 1, folded while they are emitted: a truth that the known sections settle is True
or False, any other is source. Keys that may be absent are read from zeros instead, so that both sides of every choice
may be evaluated.

Names in an emitted function: `p` the packet's address, `o` that of the slots, `have` the mask of its sections, `z` an
address followed by `ZEROS` zero bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from conformance.wire.columns.packets import implied
from conformance.wire.columns.shapes import (
    NotBelowZero,
    NotEmpty,
    Place,
    Presence,
    Shapes,
    UnknownShapeError,
    number,
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
