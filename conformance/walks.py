"""Walks: acts drawn one after another from those that make sense, steered to rare ones; a failing walk is cut down.

A walk brings its state, its acts, and what a choice of them offers in a state. A seed and its state decide each act.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Generic, TypeAlias, TypeVar

S = TypeVar("S")
A = TypeVar("A")
C = TypeVar("C")
Choice: TypeAlias = Callable[[S], Sequence[A]]
"""Returns the acts of one kind that make sense in a state."""

CANDIDATES = 4  # acts compared for a step; each costs as much as a step of the model
PATIENCE = 400  # steps without anything new, after which steering ends
RARE = 3  # a thing shown fewer times than this counts as new


def examples(seed: int, count: float) -> Iterator[Random]:
    """Yield a source of random numbers for each example of a run; at least one."""
    for number in range(max(1, round(count))):
        yield Random(f"{seed}/{number}")


def steps(
    state: Callable[[], S],
    choices: Sequence[Choice[S, A]],
    random: Random,
    most: int,
    steering: Steering[S, A] | None = None,
) -> Iterator[A]:
    """Yield acts, each for the state to which the caller's act has led; fewer than `most` if the choices offer none."""
    for _ in range(most):
        roll = random.getrandbits(32)
        act = pick(state(), choices, roll)[0] if steering is None else steering.choose(state(), choices, roll)
        if act is None:
            return
        yield act


def pick(state: S, choices: Sequence[Choice[S, A]], roll: int) -> tuple[A | None, int]:
    """Choose an act by this roll, with equal chances for all choices that offer acts; return it and a new roll."""
    left = choices
    while left:
        at = roll % len(left)
        acts = left[at](state)
        roll = mixed(roll)
        if acts:
            return acts[roll % len(acts)], mixed(roll)
        offers_nothing = left[at]
        left = [choice for choice in left if choice is not offers_nothing]
    return None, roll


def mixed(number: int) -> int:
    """Hash a number to 32 bits, so that neighbours end far apart."""
    number = (number + 0x9E3779B9) & 0xFFFFFFFF
    number = ((number ^ (number >> 16)) * 0x21F0AAAD) & 0xFFFFFFFF
    number = ((number ^ (number >> 15)) * 0x735A2D97) & 0xFFFFFFFF
    return number ^ (number >> 15)


@dataclass(slots=True)
class Steering(Generic[S, A]):
    """Chooses, of a few sensible acts, the one that would show the rarest thing.

    Only this walk's own counts matter, so that the same seed and the same answers give the same walk again.

    shows: the things that an act would show; None where that is not known. place: of an act in a state. on: False for
    an unsteered walk. limit: steps after which the walk goes on unsteered: random steps find the remaining rare things
    as well. avoided: places of acts known to fail: doing them again finds nothing new.
    """

    shows: Callable[[S, A], Iterable[object] | None]
    place: Callable[[S, A], str]
    on: bool = True
    limit: int = 20_000
    seen: dict[object, int] = field(default_factory=dict)
    avoided: set[str] = field(default_factory=set)
    idle: int = 0
    steps: int = 0

    def choose(self, state: S, choices: Sequence[Choice[S, A]], roll: int) -> A | None:
        """Return an act that `choices` offer in this state, chosen by `roll` and novelty; None if they offer none."""
        steered = self.learning and roll & 3 != 0  # a quarter of the steps is unsteered
        roll >>= 2
        first: A | None = None
        best, least = None, 1 << 30
        for _ in range(CANDIDATES if steered else 1):
            act, roll = pick(state, choices, roll)
            for _ in range(CANDIDATES if self.avoided else 0):
                if act is None or self.place(state, act) not in self.avoided:
                    break
                act, roll = pick(state, choices, roll)
            if act is None or not steered:
                return act
            first = first or act
            rarity = self._rarity(state, act)
            if rarity < least:
                best, least = act, rarity
            if rarity == 0:
                break
        return best if least < RARE else first

    @property
    def learning(self) -> bool:
        """True while it is worth counting what steps show."""
        return self.on and self.idle < PATIENCE and self.steps < self.limit

    def took(self, shown: Iterable[object]) -> None:
        """Count the things that a step has shown."""
        self.idle += 1
        self.steps += 1
        for thing in shown:
            count = self.seen.get(thing, 0)
            self.seen[thing] = count + 1
            if count < RARE:
                self.idle = 0

    def _rarity(self, state: S, act: A) -> int:
        """Return how often the rarest thing that the act would show has been seen."""
        shown = self.shows(state, act)
        return 1 << 29 if shown is None else min((self.seen.get(thing, 0) for thing in shown), default=RARE)


@dataclass(slots=True)
class Budget:
    """The most to spend on cutting walks down. runs: tries left. until: `time.monotonic()` at which it is over.

    late: it ended because its time was over. over: nothing of it is to be spent any more.
    """

    runs: int
    until: float
    late: bool = False
    over: bool = False

    def spend(self) -> bool:
        """Take one run from the budget; return False if there is none, or no time, left."""
        self.late = self.late or time.monotonic() > self.until
        if self.runs <= 0 or self.late or self.over:
            return False
        self.runs -= 1
        return True

    @contextmanager
    def part(self, runs: int, seconds: float) -> Iterator[Budget]:
        """Give a part of this budget to one walk, and take back what is left of it."""
        part = Budget(min(runs, self.runs), min(self.until, time.monotonic() + seconds), self.late)
        given = part.runs
        yield part
        self.runs, self.late = self.runs - given + part.runs, part.late


def cuts(acts: Sequence[A], *, end: bool = False) -> Iterator[tuple[A, ...]]:
    """Yield the acts without a part: half of them first, then smaller parts, from the front. end: the last one too."""
    size = len(acts) // 2 or int(end and len(acts) == 1)
    while size >= 1:
        for start in range(0, len(acts) - (0 if end else size), size):
            yield (*acts[:start], *acts[start + size :])
        size //= 2


def least(
    best: tuple[A, ...],
    candidates: Callable[[tuple[A, ...]], Iterable[C]],
    fails: Callable[[C, tuple[A, ...]], tuple[A, ...] | None],
    budget: Budget,
) -> tuple[A, ...]:
    """Return the simplest acts that fail as those at first, as far as the budget goes.

    fails: plays a candidate for the best acts so far; returns the acts that it played if they fail and are better.
    """
    found: tuple[A, ...] | None = best
    while found is not None:
        best, found = found, None
        for candidate in candidates(best):
            if not budget.spend():
                return best
            found = fails(candidate, best)
            if found is not None:
                break
    return best
