"""`Feature`: a distinction that an operation's text makes. `Constraint`: cases that no call meets at once, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from conformance.model import Call, State


class Distinction(Protocol):
    """The parts of a situation's number: a name, cases, and a function that tells the case of something done."""

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


Cases: TypeAlias = Mapping[str, frozenset[str]]
_EVERY: Final[frozenset[str]] = frozenset({"*"})


@dataclass(frozen=True, slots=True)
class Constraint:
    """No call of these methods meets one of the cases of each of these features at once.

    cases: feature to some of its values, `*` for all of them. reason: why, in a sentence.
    """

    methods: tuple[str, ...]
    cases: Cases
    reason: str

    def excludes(self, values: Mapping[str, str]) -> bool:
        """Tell whether these values, by feature, are such a combination or contain one."""
        return all(
            name in values and (wanted == _EVERY or values[name] in wanted) for name, wanted in self.cases.items()
        )


def no(methods: str | tuple[str, ...], reason: str, **cases: str) -> Constraint:
    """Return a constraint. cases: the values of each feature, separated by spaces, or `*` for all of them."""
    sets = {name.rstrip("_"): frozenset(value.split()) for name, value in cases.items()}
    return Constraint((methods,) if isinstance(methods, str) else methods, sets, reason)
