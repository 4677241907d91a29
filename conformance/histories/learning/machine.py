"""Mealy machines as values, and the words that reach their states and tell them apart."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from conformance.histories.learning.letters import Output, Word

LEAST_DEPTH = 2
"""Letters between access and identifier for a machine of one state, which has no identifiers."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine without states that nothing reaches. State 0 is the first.

    targets, outputs: for each state, by letter. access: for each state, the shortest word that leads there.
    """

    targets: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[Output, ...], ...]
    access: tuple[Word, ...]

    @classmethod
    def of(cls, targets: list[list[int]], outputs: list[list[Output]], first: int) -> Machine:
        """Return a machine with its states in the order of their access words."""
        order = [first]
        access: dict[int, Word] = {first: ()}
        for state in order:
            for letter, target in enumerate(targets[state]):
                if target not in access:
                    access[target] = (*access[state], letter)
                    order.append(target)
        place = {state: at for at, state in enumerate(order)}
        return cls(
            tuple(tuple(place[target] for target in targets[state]) for state in order),
            tuple(tuple(outputs[state]) for state in order),
            tuple(access[state] for state in order),
        )

    def __len__(self) -> int:
        return len(self.targets)

    def run(self, word: Word, state: int = 0) -> tuple[Output, ...]:
        """Return the outputs of a word."""
        told = []
        for letter in word:
            told.append(self.outputs[state][letter])
            state = self.targets[state][letter]
        return tuple(told)

    def after(self, word: Word, state: int = 0) -> int:
        """Return the state that a word leads to."""
        for letter in word:
            state = self.targets[state][letter]
        return state


def told_apart(machine: Machine, one: int, other: int) -> Word | None:
    """Return a shortest word that two states answer differently; None for states that are equivalent."""
    letters = range(len(machine.targets[0]))
    seen = {(one, other)}
    queue: deque[tuple[int, int, Word]] = deque([(one, other, ())])
    while queue:
        left, right, word = queue.popleft()
        for letter in letters:
            if machine.outputs[left][letter] != machine.outputs[right][letter]:
                return (*word, letter)
            pair = machine.targets[left][letter], machine.targets[right][letter]
            if pair[0] != pair[1] and pair not in seen:
                seen.add(pair)
                queue.append((*pair, (*word, letter)))
    return None


def identifiers(machine: Machine) -> list[set[Word]]:
    """Return for each state words that tell it from every other one; few, as words serve for many pairs."""
    found: list[set[Word]] = [set() for _ in range(len(machine))]
    for one in range(len(machine)):
        for other in range(one + 1, len(machine)):
            if any(machine.run(word, one) != machine.run(word, other) for word in found[one] & found[other]):
                continue
            known = [word for word in found[one] | found[other] if machine.run(word, one) != machine.run(word, other)]
            word = min(known, key=lambda known: (len(known), known)) if known else told_apart(machine, one, other)
            if word is not None:
                found[one].add(word)
                found[other].add(word)
    return found


def suite(machine: Machine, more: int) -> Iterator[list[Word]]:
    """Yield the words of the Wp method for implementations with at most so many more states, depth by depth.

    Each word reaches a state, makes up to `more` + 1 steps, and tells where it is then. Within a depth the words are
    sorted, the shortest first, and none begins another.
    """
    known = identifiers(machine)
    for depth in range((more if len(machine) > 1 else max(more, LEAST_DEPTH - 1)) + 2):
        words: set[Word] = set()
        for state, access in enumerate(machine.access):
            for middle in product(range(len(machine.targets[0])), repeat=depth):
                if not all(output.asked for output in machine.run(middle, state)):
                    continue  # the same as without that letter
                reached = (*access, *middle)
                words.update((*reached, *word) for word in known[machine.after(middle, state)] or {()})
        begun = {word[:end] for word in words for end in range(len(word))}
        yield sorted(words - begun, key=lambda word: (len(word), word))
