"""Learn a machine with AALpy (extra `learn`). Nothing imports this module before a machine is to be learned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

from aalpy.base import SUL, Oracle
from aalpy.learning_algs import run_KV

from conformance.histories.learning.machine import Machine, Output, Word, suite
from conformance.histories.learning.sides import Asking, Spent

STAGES = ("words of the specification's machine", "words of its own")


@dataclass(frozen=True, slots=True)
class Learned:
    """A machine that answers as was seen. finished: all words of the suite were asked.

    tried, suite: words of the last depth that were asked, and how many there are. depth: the last depth begun: 0 for
    the given words, then one more than the letters between access and identifier.
    """

    machine: Machine
    finished: bool
    tried: int
    suite: int
    depth: int


class _Answers(SUL):  # type: ignore[misc]
    """The system that AALpy asks. Its own cache is off: `Asking` has one, and names both answers where they differ."""

    def __init__(self, asking: Asking) -> None:
        super().__init__()
        self.asking = asking

    def query(self, word: tuple[int, ...]) -> list[Output]:
        self.num_queries += 1
        return list(self.asking.ask(tuple(word)))

    def pre(self) -> None:
        raise NotImplementedError("words are asked as a whole")

    post = pre

    def step(self, letter: Any) -> Any:
        raise NotImplementedError("words are asked as a whole")


class _Suite(Oracle):  # type: ignore[misc]
    """Looks for a word that a hypothesis answers otherwise: the given words, then those of the Wp method."""

    def __init__(
        self, letters: list[int], answers: _Answers, first: Sequence[Word], slow: frozenset[int], more: int
    ) -> None:
        super().__init__(letters, answers)
        self.asking = answers.asking
        self.first = sorted(first, key=lambda word: not slow.isdisjoint(word))
        self.slow = slow
        self.more = more
        self.found = Learned(Machine((), (), ()), False, 0, 0, 0)

    def find_cex(self, hypothesis: Any) -> Word | None:
        machine = _as_value(hypothesis, len(self.alphabet))
        for depth, words in enumerate(chain([self.first], self._depths(machine))):
            for tried, word in enumerate(words):
                self.found = Learned(machine, False, tried, len(words), depth)
                self.asking.tell(tried, len(words), STAGES[min(depth, 1)])
                told = self.asking.ask(word)
                if told != (supposed := machine.run(word)):
                    return word[: next(at for at, one in enumerate(told, 1) if one != supposed[at - 1])]
            self.found = Learned(machine, False, len(words), len(words), depth)
        self.found = Learned(machine, True, self.found.tried, self.found.suite, self.found.depth)
        return None

    def _depths(self, machine: Machine) -> Iterator[Sequence[Word]]:
        for words in suite(machine, self.more):
            yield sorted(words, key=lambda word: not self.slow.isdisjoint(word))


def learn(asking: Asking, first: Sequence[Word], more: int) -> Learned:
    """Learn the machine behind the answers. first: words to ask before all others. more: see `suite`.

    Words with letters that take long are the last of their depth.

    Raises Inconsistent, CannotBegin, DriverGone. Where the limits end it, the last hypothesis is returned.
    """
    alphabet = asking.playing.alphabet
    letters = list(range(len(alphabet.letters)))
    slow = frozenset(at for at in letters if alphabet.letters[at].slow)
    answers = _Answers(asking)
    oracle = _Suite(letters, answers, first, slow, more)
    with suppress(Spent):
        run_KV(letters, answers, oracle, "mealy", cache_and_non_det_check=False, print_level=0)
    return oracle.found


def _as_value(hypothesis: Any, letters: int) -> Machine:
    place = {id(state): at for at, state in enumerate(hypothesis.states)}
    targets = [[place[id(state.transitions[letter])] for letter in range(letters)] for state in hypothesis.states]
    outputs = [[state.output_fun[letter] for letter in range(letters)] for state in hypothesis.states]
    return Machine.of(targets, outputs, place[id(hypothesis.initial_state)])
