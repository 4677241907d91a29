"""Who answers words: an implementation, by its driver, or the specification, by the model, with all answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from conformance.adapter.errors import NotAccepted
from conformance.histories.driver_side import Driving
from conformance.histories.examples import REAL_EXPIRY_MS
from conformance.histories.learning.machine import (
    NOT_ASKED,
    UNDESCRIBED,
    Alphabet,
    Made,
    Memory,
    Output,
    Word,
    of_answer,
    of_result,
    waits,
)
from conformance.histories.operations.operation import Manner
from conformance.histories.operations.table import OPERATIONS
from conformance.histories.situations.specified_calls import followed
from conformance.model import Answer, BadCall, Call, Model, State
from conformance.model.expected import Expected
from conformance.model.values import replace

if TYPE_CHECKING:
    from conformance.harness.port import Port

NO_HANDLE = "no handle"
"""The implementation has answered an earlier call with success and without the handle that this one needs."""
NO_END = "waits without end"

Mark: TypeAlias = "tuple[Memory, State | None]"


class Side(Protocol):
    """Answers the calls of one history after another. state: all that its next answers depend on, None if unknown."""

    state: State | None

    def begin(self) -> None:
        """Begin a history: nothing of the earlier ones is left."""

    def perform(self, call: Call) -> Made:
        """Make a call and return its answer. A read with a time-out is waited for until it ends."""

    def end(self) -> None:
        """End the history."""


class CannotBegin(Exception):
    """A call that begins each history failed. call, answer: which, and how."""

    def __init__(self, call: Call, answer: str) -> None:
        self.call, self.answer = call, answer
        super().__init__(f"{call.method}: {answer}")


class Playing:
    """Plays words of an alphabet, letter by letter. made: the calls of the present history."""

    def __init__(self, alphabet: Alphabet, side: Side) -> None:
        self.alphabet = alphabet
        self.side = side
        self.made: list[Call] = []
        self._memory = Memory()

    def begin(self) -> None:
        """Begin a history. Raises CannotBegin."""
        self.side.begin()
        self.made.clear()
        self._memory = Memory(self.alphabet.options)
        for call in self.alphabet.begins:
            made = self._make(call)
            if made.failed:
                raise CannotBegin(call, made.token)
        self._memory.transaction = None  # one of the opening is no letter's

    def mark(self) -> Mark:
        """Return what `go_on` needs to go on from here."""
        return copy(self._memory), self.side.state

    def go_on(self, mark: Mark) -> None:
        """Go on from a mark, in place of a new history."""
        memory, self.side.state = mark
        self._memory = copy(memory)

    def letter(self, at: int) -> Output:
        """Make the calls of a letter and return what they showed."""
        letter = self.alphabet.letters[at]
        calls = letter.calls(self._memory)
        if not calls:
            return Output(NOT_ASKED, self._next())
        told = ""
        failed: list[str] = []
        for place, call in enumerate(calls):
            made = self._make(call)
            if place == letter.tells:
                told = made.token
            elif made.failed:
                failed.append(f"{OPERATIONS[call.method].verb or call.method} {made.token}")
        seen: tuple[str, ...] = ()
        if self.alphabet.looks:
            seen = (self._looked(),)
        return Output((told, *failed, *seen), self._next())

    def end(self) -> None:
        """End the history."""
        self.side.end()

    def word(self, word: Word) -> tuple[Output, ...]:
        """Play a whole word, from a begin to an end. Raises CannotBegin."""
        self.begin()
        try:
            return tuple(self.letter(at) for at in word)
        finally:
            self.end()

    def _looked(self) -> str:
        there = []
        for look in self.alphabet.looks:
            made = self._make(Call("messages.peek", handle=look.handle))
            if made.message is not None:
                there.append(look.place)
        return f"now {' and '.join(there)}" if there else "now hidden"

    def _next(self) -> int:
        return sum(1 << at for at, letter in enumerate(self.alphabet.letters) if letter.calls(copy(self._memory)))

    def _make(self, call: Call) -> Made:
        self.made.append(call)
        made = self.side.perform(call)
        self._memory.note(call, made)
        return made


class Implementation:
    """An implementation, through the client that everything uses. Raises DriverGone."""

    def __init__(self, client: Port) -> None:
        self.state: State | None = None
        self._client = client
        self._resets = client.offers("reset")
        self._driving: Driving | None = None
        self._lookups: dict[str, int] = {}

    def begin(self) -> None:
        """See `Side.begin`. A driver without `reset` gets queues of other names."""
        if self._resets:
            self._client.call("reset")
        self._driving = Driving(self._client)
        self._lookups = {}

    def perform(self, call: Call) -> Made:
        """See `Side.perform`."""
        driving = self._driving
        assert driving is not None
        try:
            if call.timeout_ms and OPERATIONS[call.method].manner is Manner.READ:
                return self._waited(driving, call)
            answer = driving.perform(call, State(lookups=self._lookups)).answer
        except BadCall:
            return Made(NO_HANDLE, True)
        except NotAccepted:
            return Made("fails: not offered", True)
        return self._taken(answer) if answer is not None else Made(NO_END, True)

    def _waited(self, driving: Driving, call: Call) -> Made:
        if not driving.virtual:
            blocked, ended, _ = driving.expire(replace(call, timeout_ms=REAL_EXPIRY_MS))
            return self._taken(blocked.answer or ended.completed[call.name or ""])
        answer = driving.perform(call, State(lookups=self._lookups)).answer
        if answer is not None:
            return self._taken(answer)
        passed = driving.perform(Call("clock.advance", by_ms=call.timeout_ms), State(), (frozenset([call.name or ""]),))
        late = passed.completed.get(call.name or "")
        return self._taken(late) if late is not None else Made(NO_END, True)

    def _taken(self, answer: Answer) -> Made:
        made = of_answer(answer)
        seen = answer.message
        if seen is not None and seen.lookup_identifier is not None:
            self._lookups[seen.name] = seen.lookup_identifier
        return made

    def end(self) -> None:
        """See `Side.end`."""
        if self._driving is not None:
            self._driving.leave()


class Specification:
    """The pure model under one alternative of each reading.

    choice: reading to the alternative.
    """

    def __init__(self, choice: Mapping[str, str]) -> None:
        self.choice = dict(choice)
        self.model = Model({name: (alternative,) for name, alternative in choice.items()})
        self.state: State | None = State()

    def begin(self) -> None:
        """See `Side.begin`."""
        self.state = State()

    def perform(self, call: Call) -> Made:
        """See `Side.perform`."""
        outcome = self._outcome(call)
        if outcome is None:
            return Made(UNDESCRIBED)
        self.state = followed(outcome)
        if not waits(outcome):
            return self._made(outcome)
        outcome = self._outcome(Call("clock.advance", by_ms=call.timeout_ms))
        assert outcome is not None and outcome.completions
        self.state = followed(outcome)
        return of_result(outcome.completions[0].result, None)

    def end(self) -> None:
        """See `Side.end`."""

    def _outcome(self, call: Call) -> Expected | None:
        assert self.state is not None
        try:
            ways = self.model.allowed(self.state, call).outcomes
        except (BadCall, KeyError):  # a KeyError: no row of a table has this event in this state
            return None
        fitting = (way for way in ways if all(self.choice.get(name, one) == one for name, one in way.readings))
        return next(fitting, None)

    def _made(self, outcome: Expected) -> Made:
        reading = getattr(outcome.result, "reading", None)
        return of_result(outcome.result, self.choice.get(reading) if reading is not None else None)


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
