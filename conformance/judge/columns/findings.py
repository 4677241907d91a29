"""What an outcome of the emitted code means under some readings, profile and level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from conformance.judge.columns.outcomes import OutcomeCode, Pair
from conformance.judge.packets import Finding, Readings, Result, decide, outcome_of, rules_of
from conformance.judge.rules import Rule
from conformance.spec.catalogue import assignment, requirement
from conformance.spec.versions import LEVELS
from conformance.verdict import Outcome

_RESULTS = (Result.NOT_APPLICABLE, Result.HOLDS, Result.BROKEN, Result.UNDECIDED)


@dataclass(frozen=True, slots=True)
class Said:
    """What a rule that applies says of a packet: a `Verdict` without its subject and evidence."""

    requirement: str
    outcome: Outcome
    readings: tuple[tuple[str, str], ...] = ()
    rule: str = ""


@dataclass(slots=True)
class Outcomes:
    """Reads outcomes. The same words give the same answer, remembered.

    readings: reading id to accepted alternatives, the default first, or the name of a reading set. transport: `tcp`,
    `buffer` or `remote`; the first two say the same of a packet that was decoded whole.
    """

    code: OutcomeCode
    profile: str
    readings: Readings | str = "windows"
    level: str = "must"
    transport: str = "buffer"
    _pairs: Mapping[str, tuple[Pair, ...]] = field(init=False)
    _known: dict[tuple[int, ...], tuple[Said, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        by: dict[str, list[Pair]] = {}
        for pair in self.code.pairs:
            by.setdefault(pair.rule.id, []).append(pair)
        self._pairs = {name: tuple(pairs) for name, pairs in by.items()}
        if isinstance(self.readings, str):
            self.readings = assignment(self.readings)

    def said(self, words: Sequence[int]) -> tuple[Said, ...]:
        """What all rules that apply say, in the order `judge_packet` says it. words: of an outcome."""
        key = tuple(map(int, words))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = tuple(self._each(key))
        return found

    def finding(self, rule: Rule, words: Sequence[int]) -> Finding:
        """The result of one rule, as `judge.packets.find` gives it."""
        results = {
            pair.alternative: _RESULTS[int(words[pair.word]) >> pair.shift & 3] for pair in self._pairs.get(rule.id, ())
        }
        if not results or Result.NOT_APPLICABLE in results.values():
            return Finding(Result.NOT_APPLICABLE)
        assert not isinstance(self.readings, str)
        return decide(rule, results, self.readings)

    def _each(self, words: tuple[int, ...]) -> list[Said]:
        rank = LEVELS.index(self.level)
        out: list[Said] = []
        for rule in rules_of(self.transport):
            demand = requirement(rule.requirement)
            if not demand.binds(self.profile):
                continue
            finding = self.finding(rule, words)
            if finding.result is Result.NOT_APPLICABLE:
                continue
            followed = ((rule.reading, finding.alternative),) if rule.reading and finding.alternative else ()
            outcome = outcome_of(finding, weak=LEVELS.index(demand.level) > rank)
            out.append(Said(rule.requirement, outcome, followed, rule.id))
        return out
