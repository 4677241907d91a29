"""Cache the meanings of outcomes from one range to the next."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from conformance.captures.verdict_counts import Meaning
from conformance.judge.columns.findings import Outcomes
from conformance.judge.columns.kernel import CAPACITY
from conformance.judge.columns.outcomes import OutcomeCode


@lru_cache(maxsize=16)
def meanings(
    code: OutcomeCode, profile: str, readings: tuple[tuple[str, tuple[str, ...]], ...], level: str
) -> Callable[[tuple[int, ...]], Meaning]:
    """Return a function that gives the meaning of the words of an outcome."""
    outcomes = Outcomes(code, profile, dict(readings), level)

    @lru_cache(maxsize=CAPACITY)
    def meaning(words: tuple[int, ...]) -> Meaning:
        said = outcomes.said(words)
        return Meaning(
            tuple(one.rule for one in said), tuple((one.requirement, one.outcome, one.readings) for one in said)
        )

    return meaning
