"""What an outcome of the compiled rules means under the readings, profile and level of a replay.

Packets have few different outcomes: what each says is worked out once, exactly as `judge.packets` does for one packet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.judge.columns.outcomes import OutcomeCode, Pair
from conformance.judge.packets import RULES
from conformance.spec.assignment import either
from conformance.spec.catalogue import Requirement, requirement
from conformance.spec.versions import LEVELS
from conformance.verdict import Outcome, Verdict

_HOLDS, _BROKEN, _UNDECIDED = 1, 2, 3

Key = tuple[str, Outcome, tuple[tuple[str, str], ...]]
"""What verdicts that are counted together share: requirement, outcome and the readings they assumed."""


@dataclass(frozen=True, slots=True)
class Said:
    """What one outcome says. keys: of each rule that applies, in the order of the rules."""

    keys: tuple[Key, ...]

    @property
    def good(self) -> bool:
        """Whether nothing but passes."""
        return all(outcome is Outcome.PASS for _, outcome, _ in self.keys)

    @property
    def read(self) -> bool:
        """Whether a reading was assumed."""
        return any(readings for _, _, readings in self.keys)

    def verdicts(self, subject: str) -> list[Verdict]:
        """The verdicts without what only the packet itself tells."""
        return [Verdict(name, outcome, subject, readings=readings) for name, outcome, readings in self.keys]


@dataclass(frozen=True, slots=True)
class _Bits:
    demand: Requirement
    reading: str | None
    pairs: tuple[Pair, ...]


class Meanings:
    """What outcomes mean. readings: reading id to accepted alternatives, the default first."""

    def __init__(self, code: OutcomeCode, *, profile: str, readings: Mapping[str, tuple[str, ...]], level: str) -> None:
        by: dict[str, list[Pair]] = {}
        for pair in code.pairs:
            by.setdefault(pair.rule.id, []).append(pair)
        self._bits = tuple(
            _Bits(requirement(rule.requirement), rule.reading, tuple(by[rule.id]))
            for rule in RULES
            if rule.id in by and requirement(rule.requirement).binds(profile)
        )
        self._readings = readings
        self._rank = LEVELS.index(level)

    def said(self, words: Any) -> Said:
        """What an outcome of these words says."""
        return Said(tuple(key for bits in self._bits if (key := self._key(bits, words)) is not None))

    def _key(self, bits: _Bits, words: Any) -> Key | None:
        found = {pair.alternative: int(words[pair.word]) >> pair.shift & 3 for pair in bits.pairs}
        name, values = bits.demand.id, found.values()
        if not all(values):
            return None
        if _UNDECIDED in values:
            return name, Outcome.INCONCLUSIVE, ()
        if bits.reading is not None and set(values) != {_HOLDS}:
            accepted = self._readings[bits.reading]
            followed = [one for one in accepted if found[one] == _HOLDS]
            if followed:
                outcome = Outcome.PASS if followed[0] == accepted[0] else Outcome.READING
                return name, outcome, ((bits.reading, either(followed)),)
        if _BROKEN in values:
            weak = LEVELS.index(bits.demand.level) > self._rank
            return name, Outcome.WARN if weak else Outcome.FAIL, ()
        return name, Outcome.PASS, ()
