"""`Feature`: one thing that the text of an operation, or of the state it reads, makes a difference of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from conformance.model import Call, State


class Distinction(Protocol):
    """What numbers of situations are made of: a name, cases, and a function that tells the case of something done."""

    @property
    def name(self) -> str: ...

    @property
    def values(self) -> tuple[str, ...]: ...

    @property
    def of(self) -> Callable[..., str | None]: ...

    @property
    def steps(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Feature:
    """A distinction of the specification, and the cases that it makes.

    name: in snake case, unique within an operation. values: every case, the plainest first. of: returns the case that
    holds when the call is made in the state; None if the feature means nothing for this call. steps: requirement ids of
    the steps, rows or sentences that make the distinction.
    """

    name: str
    values: tuple[str, ...]
    of: Callable[[State, Call], str | None]
    steps: tuple[str, ...]


def among(values: tuple[str, ...], of: Callable[[State, Call], str | None]) -> Callable[[State, Call], str | None]:
    """Return the function that gives these values only, and None for the others: no section describes such a call."""

    def given(state: State, call: Call) -> str | None:
        found = of(state, call)
        return found if found in values else None

    return given
