"""Translates an outcome of the emitted code into requirements and outcomes under given readings, profile and level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from conformance.judge.columns.outcomes import OutcomeCode, Pair
from conformance.judge.packets.judge import PacketFinding, Readings, Result, decide, outcome_of, rules_of
from conformance.judge.rules import Rule
from conformance.spec.catalogue import assignment, requirement
from conformance.spec.versions import LEVELS
from conformance.verdict import Outcome

_RESULTS = (Result.NOT_APPLICABLE, Result.HOLDS, Result.BROKEN, Result.UNDECIDED)


@dataclass(frozen=True, slots=True)
class Said:
    """The result of a rule that applies to a packet: a `Verdict` without its subject and evidence."""

    requirement: str
    outcome: Outcome
    readings: tuple[tuple[str, str], ...] = ()
    rule: str = ""


class _Bound(NamedTuple):
    """A rule that binds the profile. weak: the rule is below the requested level. names, places: its alternatives,
    and the word and shift of the bits of each. known: its results, by those bits."""

    rule: Rule
    weak: bool
    names: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    known: dict[int, Said | None]


@dataclass(slots=True)
class Outcomes:
    """Translates outcomes and remembers the result for each sequence of words.

    readings: reading id to accepted alternatives, the default first, or the name of a reading set. transport: `tcp`,
    `buffer` or `remote`; the first two give the same results for a packet that was decoded whole.
    """

    code: OutcomeCode
    profile: str
    readings: Readings | str = "windows"
    level: str = "must"
    transport: str = "buffer"
    _pairs: Mapping[str, list[Pair]] = field(init=False)
    _bound: tuple[_Bound, ...] = field(init=False)
    _known: dict[tuple[int, ...], tuple[Said, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        by: dict[str, list[Pair]] = {}
        for pair in self.code.pairs:
            by.setdefault(pair.rule.id, []).append(pair)
        self._pairs = by
        if isinstance(self.readings, str):
            self.readings = assignment(self.readings)
        rank = LEVELS.index(self.level)
        bound = []
        for rule in rules_of(self.transport):
            demand = requirement(rule.requirement)
            pairs = by.get(rule.id)
            if pairs and rule.binds(self.profile):
                places = tuple((pair.word, pair.shift) for pair in pairs)
                names = tuple(pair.alternative for pair in pairs)
                bound.append(_Bound(rule, LEVELS.index(demand.level) > rank, names, places, {}))
        self._bound = tuple(bound)

    def said(self, words: Sequence[int]) -> tuple[Said, ...]:
        """Return the results of all rules that apply, in the order of `judge_packet`. words: of an outcome."""
        key = tuple(map(int, words))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = tuple(self._each(key))
        return found

    def finding(self, rule: Rule, words: Sequence[int]) -> PacketFinding:
        """Return the result of one rule, whatever the profile, in the form of `judge.packets.find`."""
        results = {
            pair.alternative: _RESULTS[int(words[pair.word]) >> pair.shift & 3] for pair in self._pairs.get(rule.id, ())
        }
        return self._decided(rule, results)

    def _decided(self, rule: Rule, results: Mapping[str, Result]) -> PacketFinding:
        if not results or Result.NOT_APPLICABLE in results.values():
            return PacketFinding(Result.NOT_APPLICABLE)
        assert not isinstance(self.readings, str)
        return decide(rule, results, self.readings)

    def _each(self, words: tuple[int, ...]) -> Iterator[Said]:
        """Look up the result of each rule by its own bits: a rule has few results, an outcome has many bits."""
        for rule, weak, names, places, known in self._bound:
            bits = 0
            for word, shift in places:
                bits = bits << 2 | words[word] >> shift & 3
            try:
                result = known[bits]
            except KeyError:
                results = [_RESULTS[words[word] >> shift & 3] for word, shift in places]
                result = known[bits] = self._said(rule, weak, dict(zip(names, results, strict=True)))
            if result is not None:
                yield result

    def _said(self, rule: Rule, weak: bool, results: Mapping[str, Result]) -> Said | None:
        """Return the result of one rule; None when the rule does not apply. results: by alternative."""
        finding = self._decided(rule, results)
        if finding.result is Result.NOT_APPLICABLE:
            return None
        followed = ((rule.reading, finding.alternative),) if rule.reading and finding.alternative else ()
        return Said(rule.requirement, outcome_of(finding, weak=weak), followed, rule.id)
