"""Possible combinations of alternatives, as a union of boxes; each box has sets of alternatives for some readings.

One answer may show "this alternative of A, or that one of B". The boxes keep such links, so that a later answer about A
decides B too. Their number is bounded. Boxes beyond the bound are joined, which loses links but never rules out
anything possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Box: TypeAlias = Mapping[str, frozenset[str]]
"""Reading to its possible alternatives; for a reading not in the box, every alternative is possible."""

MAX_BOXES = 128  # a history of the suites leaves a handful; their products stay far below


@dataclass(frozen=True, slots=True)
class Worlds:
    """Combinations of alternatives not yet ruled out. Without any box, none explains the observations."""

    boxes: tuple[Box, ...] = ({},)

    @classmethod
    def of(cls, boxes: Iterable[Box]) -> Worlds:
        """Return the union of these boxes, without boxes inside another one."""
        return cls(tuple(_capped(_largest(boxes))))

    @property
    def empty(self) -> bool:
        """True if no combination is possible any more."""
        return not self.boxes

    def meet(self, other: Worlds) -> Worlds:
        """Return the intersection of both."""
        return Worlds.of(met for one in self.boxes for two in other.boxes if (met := _meet(one, two)) is not None)

    def possible(self, reading: str, every: Sequence[str]) -> tuple[str, ...]:
        """Return the alternatives of a reading that are possible in some box, in the order of `every`."""
        if any(reading not in box for box in self.boxes):
            return tuple(every)
        left = frozenset().union(*(box[reading] for box in self.boxes))
        return tuple(name for name in every if name in left)

    def without(self, reading: str, alternative: str, every: Sequence[str]) -> Worlds:
        """Return these combinations with one alternative ruled out."""
        return self.meet(Worlds(({reading: frozenset(every) - {alternative}},)))

    def named(self) -> tuple[str, ...]:
        """Return the readings that any box constrains."""
        return tuple(sorted({reading for box in self.boxes for reading in box}))


def _meet(one: Box, two: Box) -> Box | None:
    met = dict(one)
    for reading, possible in two.items():
        left = possible & met.get(reading, possible)
        if not left:
            return None
        met[reading] = left
    return met


def _inside(one: Box, two: Box) -> bool:
    return all(reading in one and one[reading] <= possible for reading, possible in two.items())


def _largest(boxes: Iterable[Box]) -> list[Box]:
    kept: list[Box] = []
    for box in boxes:
        if any(_inside(box, other) for other in kept):
            continue
        kept = [other for other in kept if not _inside(other, box)]
        kept.append(box)
    return kept


def _capped(boxes: list[Box]) -> list[Box]:
    """Return at most MAX_BOXES boxes; those beyond are joined into one that contains them all."""
    if len(boxes) <= MAX_BOXES:
        return boxes
    kept, over = boxes[: MAX_BOXES - 1], boxes[MAX_BOXES - 1 :]
    joined = dict(over[0])
    for box in over[1:]:
        joined = {reading: joined[reading] | box[reading] for reading in joined if reading in box}
    return _largest([*kept, joined])
