"""A learned machine beside the specification's, as a picture: which boxes and arrows there are, whatever the format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.histories.learning.alphabets import Name, names

if TYPE_CHECKING:
    from conformance.histories.learning.work import Learning

SAME, ALLOWED, DEVIATES, UNSURE = "same", "allowed", "deviates", "unsure"
"""Kinds of steps: as the specification's; otherwise, and allowed; a broken requirement; not confirmed by a word."""


@dataclass(frozen=True, slots=True)
class Box:
    """A state: of the specification, with the implementation's state that the same word leads to.

    parent: the box that its shortest word comes from, and letter: the last of that word. twin: the first box of the
    same state of the specification, where the implementation has several for it.
    """

    number: int
    name: Name
    depth: int
    parent: int | None
    letter: str
    twin: int | None = None


@dataclass(frozen=True, slots=True)
class Arrow:
    """The effect of a letter in a box. target: where both go, None where the answers differ.

    demanded, came: the boxes where the specification and the implementation go then, where they are known.
    difference: the number of the difference, from 1, None if no word has confirmed it.
    """

    source: int
    letter: str
    kind: str
    right: str
    told: str
    target: int | None
    demanded: int | None = None
    came: int | None = None
    difference: int | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that a drawing shows. letters: the alphabet. unreached: names of states behind differences only."""

    title: str
    letters: tuple[str, ...]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    unreached: tuple[str, ...]

    def count(self, kind: str) -> int:
        """Return how many arrows are of a kind."""
        return sum(arrow.kind == kind for arrow in self.arrows)


def picture(learning: Learning) -> Picture | None:
    """Return the picture; None if no machine was learned."""
    alphabet, demanded, walk, learned = learning.alphabet, learning.demanded, learning.walk, learning.learned
    if alphabet is None or demanded is None or walk is None or learned is None:
        return None
    named = names(alphabet, demanded, learning.choice)
    known = {
        (one.word[-1], str(one.demanded), str(one.came)): (at, ALLOWED if one not in learning.deviations else DEVIATES)
        for at, one in enumerate(learning.differences, 1)
    }
    places: dict[tuple[int, ...], int] = {pair.word: at for at, pair in enumerate(walk.pairs)}
    first: dict[int, int] = {}
    of_learned: dict[int, int] = {}
    boxes = []
    for at, pair in enumerate(walk.pairs):
        twin = first.setdefault(pair.demanded, at)
        of_learned.setdefault(pair.learned, at)
        boxes.append(
            Box(
                at,
                named[pair.demanded],
                len(pair.word),
                places[pair.word[:-1]] if pair.word else None,
                alphabet.letters[pair.word[-1]].name if pair.word else "",
                twin if twin != at else None,
            )
        )
    arrows = []
    for step in walk.steps:
        pair = walk.pairs[step.pair]
        numbered = known.get((step.letter, str(step.demanded), str(step.came)))
        arrows.append(
            Arrow(
                step.pair,
                alphabet.letters[step.letter].name,
                SAME if step.agrees else numbered[1] if numbered is not None else UNSURE,
                str(step.demanded),
                str(step.came),
                step.target,
                first.get(demanded.targets[pair.demanded][step.letter]) if not step.agrees else None,
                of_learned.get(learned.machine.targets[pair.learned][step.letter]) if not step.agrees else None,
                numbered[0] if numbered is not None else None,
            )
        )
    seen = {pair.demanded for pair in walk.pairs}
    unreached = tuple(str(named[at]) for at in range(len(demanded)) if at not in seen)
    title = f"The machine of a {learning.what} in {learning.implementation}"
    return Picture(title, tuple(letter.name for letter in alphabet.letters), tuple(boxes), tuple(arrows), unreached)


def grouped(arrows: tuple[Arrow, ...]) -> Mapping[tuple[int, int], list[str]]:
    """Return the letters between each two boxes, in both machines; letters that change nothing are left out."""
    found: dict[tuple[int, int], list[str]] = {}
    for arrow in arrows:
        if arrow.target is not None and arrow.target != arrow.source:
            found.setdefault((arrow.source, arrow.target), []).append(arrow.letter)
    return found
