"""What the documents allow an implementation to answer."""

from __future__ import annotations

from typing import TypeAlias

from conformance.model.state import State
from conformance.model.values import value

Assumption: TypeAlias = tuple[str, str]
"""A reading and one of its alternatives."""


@value
class Succeeds:
    """The call succeeds. message: the name of the message it gives, None when it gives none.

    ok: with MQ_OK and no other success; of a read that gives a message that is judged beside.
    """

    message: str | None = None
    ok: bool = False


@value
class Fails:
    """The call fails. must: the requirement that it does. code: the requirement that it does so with this code.

    codes: the codes that will do (empty: any). by_reading: where a reading decides, each alternative with its code
    (None: any), in place of `codes`; reading: that reading.
    """

    must: str
    code: str | None = None
    codes: tuple[int, ...] = ()
    reading: str | None = None
    by_reading: tuple[tuple[str, int | None], ...] = ()


@value
class Blocks:
    """The call waits."""


@value
class Either:
    """Success or failure, as the implementation likes: the documents do not say."""


@value
class Transfers:
    """The call succeeds and gives messages on their way to another computer: groups in order, in each in any order."""

    groups: tuple[tuple[str, ...], ...]

    @property
    def messages(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(name for group in self.groups for name in group)


Result: TypeAlias = Succeeds | Fails | Blocks | Either | Transfers


@value
class Completion:
    """A waiting read that ends. requirement: broken if it does not, or not so."""

    waiter: str
    result: Succeeds | Fails | Either
    requirement: str
    also: tuple[str, ...] = ()


@value
class Expected:
    """One allowed outcome of a call.

    requirement: broken if an implementation that had to answer so did not. also: further requirements shown to hold
    by this answer. readings: what it assumes. transitions: the rows of the tables that were followed.
    """

    result: Result
    requirement: str
    next: State
    also: tuple[str, ...] = ()
    completions: tuple[Completion, ...] = ()
    readings: tuple[Assumption, ...] = ()
    transitions: tuple[str, ...] = ()


@value
class Allowed:
    """Every allowed outcome of a call; the first is the one the text demands under the default readings."""

    outcomes: tuple[Expected, ...]
