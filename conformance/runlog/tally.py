"""Counts of judgements by rule and by phase of a suite.

A requirement that is still judged may have lost one of its rules, and a suite its controls. Then no requirement lacks
a verdict, although something is no longer checked. `mqconform gate --against` detects this by these counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from conformance.runlog.encoding import json_object, text, whole
from conformance.verdict import Json, Outcome, Verdict

NO_JUDGEMENT = frozenset({Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.SKIP})
"""Outcomes that say nothing about the implementation."""


@dataclass(slots=True)
class Tally:
    """Numbers of judgements. rules: by rule id. phases: by (suite, phase). Every number is at least 1."""

    rules: Counter[str] = field(default_factory=Counter)
    phases: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __bool__(self) -> bool:
        return bool(self.rules or self.phases)

    def count(self, verdicts: Iterable[Verdict], suite: str, phase: str, times: int = 1) -> None:
        """Count verdicts, without those whose outcome is in NO_JUDGEMENT. phase: used if a verdict has none."""
        for verdict in verdicts:
            if verdict.outcome not in NO_JUDGEMENT:
                self.phases[suite, verdict.phase or phase] += times
                if verdict.rule is not None:
                    self.rules[verdict.rule] += times

    def add(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.rules.update(other.rules)
        self.phases.update(other.phases)

    def to_json(self) -> dict[str, Json]:
        """Return the members of the tally event, sorted by name."""
        phases: dict[str, dict[str, int]] = {}
        for (suite, phase), number in sorted(self.phases.items()):
            phases.setdefault(suite, {})[phase] = number
        return {"rules": dict(sorted(self.rules.items())), "phases": phases}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Tally:
        """The inverse of `to_json`. Raises KeyError, TypeError or ValueError for a value that it does not write."""
        tally = cls()
        for rule, number in json_object(value["rules"]).items():
            tally.rules[text(rule)] += _counted(number)
        for suite, phases in json_object(value["phases"]).items():
            for phase, number in json_object(phases).items():
                tally.phases[suite, phase] += _counted(number)
        return tally


def _counted(value: Json) -> int:
    if whole(value) < 1:
        raise ValueError("a judgement made less than once")
    return whole(value)
