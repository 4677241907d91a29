"""Letters: the inputs of a learned machine. A letter stands for one or a few calls with the names of its history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from conformance.histories.learning.tokens import Made
from conformance.histories.operations.operation import Kind, Manner, Role
from conformance.histories.operations.table import OPERATIONS, named
from conformance.model import Call

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
