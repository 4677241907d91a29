"""Compare the machine of an implementation with that of the specification: walk through both at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from conformance.histories.learning.letters import Output, Word
from conformance.histories.learning.machine import Machine
from conformance.histories.learning.tokens import UNDESCRIBED, agree


@dataclass(frozen=True, slots=True)
class Pair:
    """A state of each machine that the same word leads to, by answers that agree. word: the shortest such."""

    demanded: int
    learned: int
    word: Word


@dataclass(frozen=True, slots=True)
class Step:
    """A letter in a pair. target: the pair it leads to, None where the answers do not agree."""

    pair: int
    letter: int
    demanded: Output
    came: Output
    target: int | None

    @property
    def agrees(self) -> bool:
        """True if the specification's answer includes the implementation's."""
        return agreeing(self.demanded, self.came)


@dataclass(frozen=True, slots=True)
class Walk:
    """Both machines, side by side. steps: every letter in every pair, the pairs in the order of their words.

    Nothing is compared behind answers that do not agree.
    """

    pairs: tuple[Pair, ...]
    steps: tuple[Step, ...]

    def unreached(self, demanded: Machine) -> int:
        """Return how many of the specification's states no agreeing answers lead to."""
        return len(demanded) - len({pair.demanded for pair in self.pairs})


def agreeing(demanded: Output, came: Output) -> bool:
    """Tell whether every token of an answer is one that the specification's answer includes."""
    right, told = demanded.tokens, came.tokens
    if right[0] == UNDESCRIBED:
        return True
    return len(right) == len(told) and all(map(agree, right, told))


def compare(demanded: Machine, learned: Machine) -> Walk:
    """Walk through both machines, from their first states, as far as their answers agree."""
    pairs = [Pair(0, 0, ())]
    place = {(0, 0): 0}
    steps: list[Step] = []
    queue = deque([0])
    while queue:
        at = queue.popleft()
        pair = pairs[at]
        for letter, (right, came) in enumerate(
            zip(demanded.outputs[pair.demanded], learned.outputs[pair.learned], strict=True)
        ):
            target = None
            if agreeing(right, came) and right.tokens[0] != UNDESCRIBED:
                both = demanded.targets[pair.demanded][letter], learned.targets[pair.learned][letter]
                if both not in place:
                    place[both] = len(pairs)
                    queue.append(len(pairs))
                    pairs.append(Pair(*both, (*pair.word, letter)))
                target = place[both]
            steps.append(Step(at, letter, right, came, target))
    return Walk(tuple(pairs), tuple(steps))


def other_words(walk: Walk, word: Word) -> Iterator[Word]:
    """Yield other words that lead through the same pairs at their end: each goes another way into one of them.

    Readings may allow what one way leads to, and not what another does, though the states are the same.
    """
    step_of = {(step.pair, step.letter): step for step in walk.steps}
    into: dict[int, list[Step]] = {}
    for step in walk.steps:
        if step.target is not None and step.target != step.pair:
            into.setdefault(step.target, []).append(step)
    at = 0
    for place, letter in enumerate(word[:-1], 1):
        step = step_of[(at, letter)]
        if step.target is None:
            return
        for other in into.get(step.target, ()):
            if (other.pair, other.letter) != (at, letter):
                yield (*walk.pairs[other.pair].word, other.letter, *word[place:])
        at = step.target
