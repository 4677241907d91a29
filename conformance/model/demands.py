"""Which demands an answer shows to hold, where it is one that the model allows."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from conformance.model.calls import Call
from conformance.model.expected import Assumption, Either, Expected, Fails
from conformance.model.observation import Answer, Observation
from conformance.verdict import Outcome, Verdict

NO_CODE: Final = "the implementation's API has no status codes"


@lru_cache(4096)
def passes(names: tuple[str, ...], subject: str, readings: tuple[Assumption, ...]) -> tuple[Verdict, ...]:
    """Return a PASS for each of these requirements. Cached: few arguments recur."""
    return tuple(Verdict(name, Outcome.PASS, subject, readings=readings) for name in names)


@lru_cache(4096)
def passes_of(
    requirement: str, also: tuple[str, ...], failure: tuple[str, ...], subject: str, readings: tuple[Assumption, ...]
) -> tuple[Verdict, ...]:
    """Return the verdicts of an answer without completions. failure: the requirements of a demanded failure."""
    names = dict.fromkeys((requirement, *also, *failure))
    names.pop("", None)
    return passes(tuple(names), subject, readings)


def shown_by_all(outcomes: list[Expected], observation: Observation) -> list[str]:
    """Return the requirements that every fitting outcome shows to hold, in the order of the first outcome."""
    first = outcomes[0]
    if all(_shows_the_same(first, other) for other in outcomes):
        return shown_by(first, observation)
    each = [shown_by(expected, observation) for expected in outcomes]
    return [name for name in each[0] if all(name in other for other in each[1:])]


def _shows_the_same(one: Expected, other: Expected) -> bool:
    return one is other or (
        one.requirement == other.requirement
        and one.also == other.also
        and not one.completions
        and not other.completions
        and (one.result is other.result or one.result == other.result)
    )


def shown_by(expected: Expected, observation: Observation) -> list[str]:
    if isinstance(expected.result, Either):
        return []
    names = [expected.requirement, *expected.also] if expected.shows else []
    _add_failure(names, expected.result, observation.answer)
    if expected.completions:
        for item in expected.completions:
            _add_failure(names, item.result, observation.completed.get(item.waiter))
        for item in expected.completions:
            names += [item.requirement, *item.also]
    if observation.answer is not None and observation.answer.status is None:
        names = [name for name in names if not name.endswith("-code")]  # the answer has no code to judge
    each = dict.fromkeys(names)
    each.pop("", None)
    return list(each)


def _add_failure(names: list[str], result: object, answer: Answer | None) -> None:
    if isinstance(result, Fails):
        names.append(result.must)
        if result.code is not None and answer is not None and answer.status is not None:
            names.append(result.code)


def unjudged_codes(expected: Expected, call: Call, observation: Observation) -> list[Verdict]:
    """Return a SKIP for each requirement on a code, if the API has no status codes."""
    if (observation.answer is None or observation.answer.status is not None) and not expected.completions:
        return []
    pairs: list[tuple[object, Answer | None]] = [(expected.result, observation.answer)]
    pairs += [(item.result, observation.completed.get(item.waiter)) for item in expected.completions]
    return [
        Verdict(result.code, Outcome.SKIP, call.method, reason=NO_CODE)
        for result, answer in pairs
        if isinstance(result, Fails) and result.code and answer is not None and answer.failed and answer.status is None
    ]
