"""Allowed outcomes: the answers that the documents permit for one call, and how an observation matches one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from functools import lru_cache
from typing import TypeAlias

from conformance.model.calls import Answer, Observation, SeenMessage
from conformance.model.state import State
from conformance.model.values import value
from conformance.verdict import Json

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
class Tells:
    """The call succeeds, and its answer says this, if it says anything. member: of the answer's values.

    shown: the requirements that the value shows to hold; another value breaks the first, or that of the call.
    """

    member: str
    value: Json
    shown: tuple[str, ...]


@value
class Transfers:
    """The call succeeds and transfers messages to another computer: groups in order, any order within a group."""

    groups: tuple[tuple[str, ...], ...]

    @property
    def messages(self) -> tuple[str, ...]:
        """All message names, group by group."""
        return tuple(name for group in self.groups for name in group)


Result: TypeAlias = Succeeds | Fails | Blocks | Either | Transfers | Tells


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


class Fit(Enum):
    """Degree of a match; `CODE`: everything fits but the status code of a failure."""

    FITS = 2
    CODE = 1
    NOT = 0


@value
class Match:
    """Result of a match. narrowed: for each reading that a status code decides, the alternatives still possible.

    wrong_code: the demanded failure and the answer that failed with a code that is not allowed.
    """

    fit: Fit
    narrowed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    wrong_code: tuple[Fails, Answer] | None = None


_FITS, _NOT = Match(Fit.FITS), Match(Fit.NOT)


def message_name(seen: SeenMessage) -> str:
    """Return the name of a message."""
    return seen.name


def match(expected: Expected, observation: Observation) -> Match:
    """Match the observation against one allowed outcome."""
    result, answer = expected.result, observation.answer
    if answer is not None and isinstance(result, Succeeds):  # the most frequent case first, for speed
        found = _FITS if _gives(result, answer) else _NOT
    elif answer is not None and isinstance(result, Fails):
        found = _match_code(result, answer) if answer.failed else _NOT
    else:
        found = _match_result(result, answer)
    if not expected.completions and not observation.completed:
        return found
    if set(observation.completed) != {completion.waiter for completion in expected.completions if _must(completion)}:
        named = {completion.waiter: completion for completion in expected.completions}
        missing = {name for name, completion in named.items() if _must(completion)} - set(observation.completed)
        if missing or set(observation.completed) - set(named):
            return _NOT
    for completion in expected.completions:
        answer = observation.completed.get(completion.waiter)
        if answer is not None:
            found = _worse(found, _match_result(completion.result, answer))
    return found


def _must(completion: Completion) -> bool:
    return not isinstance(completion.result, Either)


def _worse(one: Match, other: Match) -> Match:
    fit = min(one.fit, other.fit, key=lambda fit: fit.value)
    return Match(fit, {**one.narrowed, **other.narrowed}, one.wrong_code or other.wrong_code)


def _match_result(result: Result, answer: Answer | None) -> Match:
    if isinstance(result, Blocks) or answer is None:
        return _FITS if isinstance(result, Blocks) and answer is None else _NOT
    if isinstance(result, Fails):
        return _match_code(result, answer) if answer.failed else _NOT
    if isinstance(result, Succeeds):
        return _FITS if _gives(result, answer) else _NOT
    if isinstance(result, Transfers):
        return _FITS if _transfers(result, answer) else _NOT
    if isinstance(result, Tells):
        return _FITS if not answer.failed and answer.values.get(result.member, result.value) == result.value else _NOT
    return _FITS


def _transfers(result: Transfers, answer: Answer) -> bool:
    if answer.failed or answer.messages is None or len(answer.messages) != len(result.messages):
        return False
    names = iter([seen.name for seen in answer.messages])
    return all(sorted(next(names) for _ in group) == sorted(group) for group in result.groups)


def _gives(result: Succeeds, answer: Answer) -> bool:
    if answer.failed:
        return False
    if result.message is None:
        return not result.ok or not answer.status
    if answer.message is None or answer.message.name == result.message:
        return answer.message is not None
    return _shares(answer.message.name, result.message)


@lru_cache(1024)
def _shares(one: str, other: str) -> bool:
    """Tell whether these are copies or reports of one message that was sent to several queues: they look alike."""
    mine, theirs = one.split("@"), other.split("@")
    return len(mine) == len(theirs) == 3 and mine[0] == theirs[0] and mine[2] == theirs[2]


def _match_code(fails: Fails, answer: Answer) -> Match:
    if answer.status is None:
        return _FITS
    if fails.reading is None:
        if not fails.codes or answer.status in fails.codes:
            return _FITS
        return Match(Fit.CODE, wrong_code=(fails, answer))
    return _by_reading(fails.reading, fails.by_reading, answer.status) or Match(Fit.CODE, wrong_code=(fails, answer))


@lru_cache(1024)
def _by_reading(reading: str, by_reading: tuple[tuple[str, int | None], ...], status: int) -> Match | None:
    """Return the match with the alternatives that have this code; None when none has. Cached: few arguments recur."""
    exact = frozenset(name for name, code in by_reading if code == status)
    possible = exact or frozenset(name for name, code in by_reading if code is None)
    return Match(Fit.FITS, {reading: possible}) if possible else None
