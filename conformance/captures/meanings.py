"""Translates outcomes of compiled code to the results of all rules, and caches them from one range to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from conformance.captures.packet_rules import PacketRules
from conformance.captures.sender_readings import VerdictKind, read_of
from conformance.judge.columns.judge import CAPACITY, Outcomes
from conformance.judge.columns.rule_trees import OutcomeCode
from conformance.runlog.counts import NO_JUDGEMENT
from conformance.verdict import Outcome

KEYS: dict[VerdictKind, int] = {}
RULES: dict[str, int] = {}
"""All keys and rules that occurred, each with its index. The rules' possible ends bound their number."""


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """The results of all rules for packets with one outcome. rules, keys: of each rule that applies, in order."""

    rules: tuple[str, ...]
    keys: tuple[VerdictKind, ...]
    deviating: tuple[VerdictKind, ...] = field(init=False)
    read: tuple[tuple[int, VerdictKind], ...] = field(init=False)
    """If a reading was assumed: the keys that show how the sender reads the documents, each with its place."""
    places: Any = field(init=False)
    """By key, its index among all keys."""
    judged: Any = field(init=False)
    """By key, the index of its rule among all rules if it is a judgement, else -1."""

    def __post_init__(self) -> None:
        known = [KEYS.setdefault(key, len(KEYS)) for key in self.keys]
        rules = [
            -1 if key[1] in NO_JUDGEMENT else RULES.setdefault(rule, len(RULES))
            for rule, key in zip(self.rules, self.keys, strict=True)
        ]
        object.__setattr__(self, "places", np.array(known, np.int64))
        object.__setattr__(self, "judged", np.array(rules, np.int64))
        object.__setattr__(self, "deviating", tuple(key for key in self.keys if key[1] is not Outcome.PASS))
        object.__setattr__(self, "read", read_of(self.keys))


def meanings(code: OutcomeCode, rules: PacketRules) -> Callable[[tuple[int, ...]], Meaning]:
    """Return a function that gives the meaning of the words of an outcome."""
    return _meanings(code, rules.profile, tuple(sorted(rules.readings.items())), rules.level)


@lru_cache(maxsize=16)
def _meanings(
    code: OutcomeCode, profile: str, readings: tuple[tuple[str, tuple[str, ...]], ...], level: str
) -> Callable[[tuple[int, ...]], Meaning]:
    outcomes = Outcomes(code, profile, dict(readings), level)

    @lru_cache(maxsize=CAPACITY)
    def meaning(words: tuple[int, ...]) -> Meaning:
        said = outcomes.said(words)
        return Meaning(
            tuple(one.rule for one in said), tuple((one.requirement, one.outcome, one.readings) for one in said)
        )

    return meaning
