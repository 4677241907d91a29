"""Allowed outcomes: the answers that the documents permit for one call."""

from __future__ import annotations

from typing import TypeAlias

from conformance.model.state import State
from conformance.model.values import value

Assumption: TypeAlias = tuple[str, str]
"""A reading and one of its alternatives."""


@value
class Succeeds:
    """The call succeeds. message: the name of the returned message, None for no message.

    ok: the status must be MQ_OK and no other success. For a read that gives a message, `judge_status` checks this.
    """

    message: str | None = None
    ok: bool = False


@value
class Fails:
    """The call fails. must: the requirement that it fails. code: the requirement that it fails with an allowed code.

    codes: the allowed codes (empty: any). reading: the reading that decides the code instead, if one does.
    by_reading: each alternative of that reading with its code (None: any).
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
    """The call succeeds or fails: the documents leave it open."""


@value
class Transfers:
    """The call succeeds and transfers messages to another computer: groups in order, any order within a group."""

    groups: tuple[tuple[str, ...], ...]

    @property
    def messages(self) -> tuple[str, ...]:
        """All message names, group by group."""
        return tuple(name for group in self.groups for name in group)


Result: TypeAlias = Succeeds | Fails | Blocks | Either | Transfers


@value
class Completion:
    """A waiting read that ends. requirement: broken if the read does not end, or ends with another result."""

    waiter: str
    result: Succeeds | Fails | Either
    requirement: str
    also: tuple[str, ...] = ()


@value
class Expected:
    """One allowed outcome of a call.

    requirement: broken if this outcome is demanded and does not occur. also: further requirements that this outcome
    shows to hold. readings: the assumed readings. transitions: the table rows followed. shows: it is evidence that the
    requirement holds.
    """

    result: Result
    requirement: str
    next: State
    also: tuple[str, ...] = ()
    completions: tuple[Completion, ...] = ()
    readings: tuple[Assumption, ...] = ()
    transitions: tuple[str, ...] = ()
    shows: bool = True


@value
class Allowed:
    """Every allowed outcome of a call; the first is the one the text demands under the default readings."""

    outcomes: tuple[Expected, ...]
