"""Ask words, remember every answer, and notice answers that are no function of the history."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from conformance.histories.learning.letters import Output, Word
from conformance.histories.learning.sides import Mark, Playing

Tell: TypeAlias = Callable[[float, float, str], None]
"""Told of progress: done, total, and a text."""


class Spent(Exception):
    """The time or the steps given are used up."""


class Inconsistent(Exception):
    """The same word was answered in two ways. word: up to the letter whose answers differ. answers: both."""

    def __init__(self, word: Word, answers: tuple[Output, Output]) -> None:
        self.word = word
        self.answers = answers
        super().__init__(f"{word}: {answers[0]} and {answers[1]}")


@dataclass(slots=True)
class Limits:
    """When to stop. until: `time.monotonic()`. steps: letters played."""

    until: float = float("inf")
    steps: int | None = None


@dataclass(slots=True)
class _Node:
    output: Output
    below: dict[int, _Node] = field(default_factory=dict)
    mark: Mark | None = None  # to go on from here, where the side can


class Asking:
    """The tree of all words asked so far. A word whose answer is known is not asked again.

    A letter that means nothing where it stands makes no call, so what follows is known as of the word without it.

    histories: begun. steps: letters played, those played again to reach an unknown one included.
    """

    def __init__(
        self, playing: Playing, limits: Limits | None = None, tell: Tell = lambda done, total, text: None
    ) -> None:
        self.playing = playing
        self.limits = limits or Limits()
        self.histories = 0
        self.steps = 0
        self.word: Word = ()  # the one asked at present
        self.tell = tell
        self._root = _Node(Output((), 0))

    def known(self, word: Word) -> tuple[Output, ...] | None:
        """Return the outputs of a word, if all of them are known."""
        told, node = [], self._root
        for letter in word:
            below = node.below.get(letter)
            if below is None:
                return None
            told.append(below.output)
            node = below if below.output.asked else node
        return tuple(told)

    def ask(self, word: Word) -> tuple[Output, ...]:
        """Return the outputs of a word. Raises Spent, Inconsistent, CannotBegin, DriverGone."""
        told = self.known(word)
        if told is not None:
            return told
        return self.play(word) if self.playing.side.state is None else self._go_on(word)

    def play(self, word: Word) -> tuple[Output, ...]:
        """Play a word, whether its answer is known or not. Raises as `ask`."""
        if time.monotonic() > self.limits.until:
            raise Spent
        if self.limits.steps is not None and self.steps + len(word) > self.limits.steps:
            raise Spent
        self.histories += 1
        told: list[Output] = []
        node = self._root
        self.word = ()
        self.playing.begin()
        try:
            for at, letter in enumerate(word):
                self.steps += 1
                self.word = word[: at + 1]
                output = self.playing.letter(letter)
                told.append(output)
                below = node.below.get(letter)
                if below is None:
                    below = node.below[letter] = _Node(output)
                elif below.output != output:
                    raise Inconsistent(word[: at + 1], (below.output, output))
                node = below if output.asked else node
        finally:
            self.playing.end()
        return tuple(told)

    def _go_on(self, word: Word) -> tuple[Output, ...]:
        """Play only the letters of a word that no known word begins with."""
        told: list[Output] = []
        node = self._root
        if node.mark is None:
            self.playing.begin()
            node.mark = self.playing.mark()
        fresh = False
        for letter in word:
            below = node.below.get(letter)
            if below is None:
                if not fresh:
                    assert node.mark is not None
                    self.histories += 1
                    self.playing.go_on(node.mark)
                    fresh = True
                self.steps += 1
                below = node.below[letter] = _Node(self.playing.letter(letter), mark=self.playing.mark())
            told.append(below.output)
            node = below if below.output.asked else node
        return tuple(told)
