"""Mealy machines as values: letters (calls) as inputs, tokens (answers) as outputs, and words that reach states."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final, TypeAlias

from conformance.histories.operations.operation import Kind, Manner, Role
from conformance.histories.operations.table import OPERATIONS, named
from conformance.model import Answer, Call
from conformance.model.expected import Blocks, Either, Expected, Fails, Result, Succeeds
from conformance.model.journals import plain_name
from conformance.spec.constants.codes import status_text

OK: Final = "ok"
FAILS: Final = "fails"
"""A failure of which nobody can tell or demand the code."""
OPEN: Final = "left open"
"""The specification allows success and failure."""
UNDESCRIBED: Final = "not described"
"""No section describes the call: whatever comes is right, and so is whatever follows."""
_OR: Final = " or "


@dataclass(frozen=True, slots=True)
class Made:
    """The answer to one call. message: the name of the message that came."""

    token: str
    failed: bool = False
    message: str | None = None


def of_answer(answer: Answer) -> Made:
    """Return what an implementation has answered."""
    if answer.failed:
        return Made(FAILS if answer.status is None else f"{FAILS}: {_name(answer.status)}", True)
    name = None if answer.message is None else answer.message.name
    token = OK if name is None else name
    return Made(f"{token} ({_name(answer.status)})" if answer.status else token, False, name)


def of_result(result: Result, chosen: str | None) -> Made:
    """Return what the specification demands. chosen: the alternative of the reading that decides a failure's code."""
    if isinstance(result, Fails):
        if result.reading is not None:
            code = dict(result.by_reading)[chosen if chosen is not None else result.by_reading[0][0]]
            codes: tuple[int, ...] = () if code is None else (code,)
        else:
            codes = result.codes
        return Made(f"{FAILS}: {_OR.join(map(_name, codes))}" if codes else FAILS, True)
    if isinstance(result, Succeeds):
        name = None if result.message is None else plain_name(result.message)
        return Made(OK if name is None else name, False, name)
    return Made(OPEN if isinstance(result, Either) else "waits")


def agree(demanded: str, came: str) -> bool:
    """Tell whether an answer is one that the specification's answer includes."""
    if demanded == came or demanded in (OPEN, UNDESCRIBED):
        return True
    if not demanded.startswith(FAILS) or not came.startswith(FAILS):
        return False
    if FAILS in (demanded, came):
        return True
    return came.removeprefix(f"{FAILS}: ") in demanded.removeprefix(f"{FAILS}: ").split(_OR)


def waits(outcome: Expected) -> bool:
    """Tell whether a call waits."""
    return isinstance(outcome.result, Blocks)


def _name(status: int) -> str:
    return status_text(status).partition(" (")[0]


Word: TypeAlias = tuple[int, ...]
"""Letters, by their places in the alphabet."""


@dataclass(frozen=True, slots=True)
class Output:
    """The answer to a letter.

    tokens: of the call that tells, of other calls that failed, and of what a look showed. next: the letters that mean
    something after it, as bits; the harness knows them without asking.
    """

    tokens: tuple[str, ...]
    next: int

    @property
    def asked(self) -> bool:
        """False if the letter means nothing here, as a peek before a cursor is open: no call was made."""
        return self.tokens != NOT_ASKED

    def __str__(self) -> str:
        return ", ".join(self.tokens)


NOT_ASKED: Final = ("-",)


@dataclass(slots=True)
class Memory:
    """Names that later letters of a word refer to, from the calls that succeeded.

    cursor, transaction, begun: the newest of each. open: the transaction has not ended. closed: the cursor is closed.
    options: of the alphabet. reading: the begun receive has not ended. sent: messages sent. seen: handles by which some
    message was seen. number: counts names.
    """

    options: frozenset[str] = frozenset()
    sender: str = "s"
    reader: str = "r"
    cursor: str | None = None
    closed: bool = True
    transaction: str | None = None
    open: bool = False
    begun: str | None = None
    reading: bool = False
    sent: frozenset[str] = frozenset()
    seen: frozenset[str] = frozenset()
    number: int = 0

    def fresh(self, prefix: str) -> str:
        """Return a name that no other thing of this history has."""
        self.number += 1
        return f"{prefix}{self.number}"

    def note(self, call: Call, made: Made) -> None:
        """Keep what a call has made."""
        operation = OPERATIONS[call.method]
        gives = {member.kind: name for _, member, name in named(call, Role.GIVES)}
        if Kind.MESSAGE in gives:
            self.sent |= {gives[Kind.MESSAGE]}
        if made.message is not None:
            self.seen |= {call.handle or ""}
        if operation.ends is Kind.READ:
            self.reading = False  # also when it fails
        if made.failed:
            return
        if Kind.CURSOR in gives:
            self.cursor, self.closed = gives[Kind.CURSOR], False
        elif operation.ends is Kind.CURSOR:
            self.closed = True
        elif Kind.TRANSACTION in gives:
            self.transaction, self.open = gives[Kind.TRANSACTION], True
        elif operation.ends is Kind.TRANSACTION:
            self.open = False
        elif Kind.READ in gives:
            self.begun, self.reading = gives[Kind.READ], True
        elif operation.manner is Manner.RESTART:
            self.transaction, self.open = None, False


@dataclass(frozen=True, slots=True)
class Letter:
    """One input. calls: those that it stands for in a history, none where it means nothing.

    tells: the place of the call whose answer is told; of the others only a failure is. needs: calls of the kinds that
    it makes, which a driver must offer. slow: it takes as long as many others.
    """

    name: str
    calls: Callable[[Memory], tuple[Call, ...]]
    needs: tuple[Call, ...]
    tells: int = 0
    slow: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """A peek that tells after each letter where the message is. place: in words. handle: by which it is peeked at."""

    place: str
    handle: str


@dataclass(frozen=True, slots=True)
class Part:
    """Letters that stand or fall together with what a driver offers.

    options: `transactional` and `journaling` are of the queue, `limited` of the message, which has a time to be
    received. begins: the calls after the queue is open, by the options of all parts.
    """

    name: str
    letters: tuple[Letter, ...]
    options: tuple[str, ...] = ()
    begins: Callable[[frozenset[str]], tuple[Call, ...]] = lambda options: ()
    looks: tuple[Look, ...] = ()


@dataclass(frozen=True, slots=True)
class Alphabet:
    """The questions put to an implementation. what: `cursor`, `transaction` or `message`.

    begins: the calls that begin each history. missing: names of the letters that the driver does not offer.
    """

    what: str
    letters: tuple[Letter, ...]
    begins: tuple[Call, ...]
    looks: tuple[Look, ...] = ()
    options: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()

    def spelled(self, word: Word) -> tuple[str, ...]:
        """Return the names of a word's letters."""
        return tuple(self.letters[at].name for at in word)


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
