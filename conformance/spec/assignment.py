"""One assignment of readings for a whole run: a sentence may be read either way, but always the same way.

A verdict carries the readings it assumed. Where several alternatives explain what was seen it carries all of them, so
what a run followed is what is left when every verdict has had its say; nothing left means that it followed both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import eq

from conformance.spec.catalogue import catalogue, requirement
from conformance.spec.versions import LEVELS
from conformance.verdict import Evidence, Json, Outcome, Verdict

SEPARATOR = "|"
MAX_SEEN = 64  # different explanations kept of one reading; there are no more than subsets of its alternatives

_FOLLOWS = frozenset({Outcome.PASS, Outcome.READING})
_BREAKS = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY})


def either(alternatives: Iterable[str]) -> str:
    """How a verdict names several alternatives that all explain what was seen: `a|b`."""
    return SEPARATOR.join(alternatives)


def possible(named: str) -> frozenset[str]:
    """The alternatives a verdict's text names: the inverse of `either`."""
    return frozenset(named.split(SEPARATOR))


@dataclass(frozen=True, slots=True)
class Sight:
    """Where an explanation was first seen. where: the test, or the capture and sender."""

    requirement: str
    subject: str
    where: str

    def to_json(self) -> dict[str, Json]:
        """The sight as evidence stores it."""
        return {"requirement": self.requirement, "subject": self.subject, "where": self.where}


@dataclass(slots=True)
class Assignment:
    """What the verdicts of one run, or of one sender in a capture, say about how it reads the documents."""

    _seen: dict[str, dict[str, Sight]] = field(default_factory=dict)
    _touched: dict[str, dict[str, None]] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)
    _broken: set[str] = field(default_factory=set)

    def add(self, verdict: Verdict, where: str) -> None:
        """Take a verdict in. Only one that holds says what was followed."""
        if verdict.outcome in _BREAKS:
            self._broken.add(verdict.requirement)
        if verdict.outcome not in _FOLLOWS:
            return
        for reading, named in verdict.readings:
            seen = self._seen.setdefault(reading, {})
            if len(seen) < MAX_SEEN:
                seen.setdefault(named, Sight(verdict.requirement, verdict.subject, where))
            self._touched.setdefault(reading, {})[verdict.requirement] = None
            if verdict.outcome is Outcome.READING:
                self._told.add(reading)

    def merge(self, other: Assignment) -> None:
        """Take in what another part of the run saw."""
        for reading, seen in other._seen.items():
            own = self._seen.setdefault(reading, {})
            for named, sight in seen.items():
                own.setdefault(named, sight)
            self._touched.setdefault(reading, {}).update(other._touched[reading])
        self._told |= other._told
        self._broken |= other._broken

    def sights(self, reading: str) -> dict[str, Sight]:
        """What was seen of a reading: the alternatives that explained it, as `a|b`, and where it was first seen."""
        return dict(self._seen.get(reading, {}))

    def followed(self) -> dict[str, tuple[str, ...]]:
        """For each reading a verdict assumed, the alternatives that explain all of them; none: both ways were followed.

        In the order of the register.
        """
        known = catalogue().readings
        left: dict[str, tuple[str, ...]] = {}
        for reading in sorted(self._seen):
            common = frozenset.intersection(*map(possible, self._seen[reading]))
            order = list(known[reading].alternatives) if reading in known else []
            left[reading] = tuple(sorted(common, key=lambda name: order.index(name) if name in order else len(order)))
        return left

    def conclude(
        self, accepted: Mapping[str, tuple[str, ...]], *, level: str, subject: str = "the run"
    ) -> list[Verdict]:
        """The verdicts on the run as a whole.

        accepted: reading id to the alternatives accepted, the default first. level: a broken demand weaker than this is
        a warning. A reading followed both ways fails each requirement that was judged by it; one of which another
        alternative than the default was followed, and no verdict said so yet, is told. Of an implementation that breaks
        the very demand a reading is about nothing is said: what it does is no way to read it.
        """
        verdicts: list[Verdict] = []
        for reading, left in self.followed().items():
            broken = self._broken_by(reading) if not left else []
            if broken:
                reason = f"{reading} is read both ways, by an implementation that breaks {broken[0]}: it follows none"
                verdicts.append(Verdict(broken[0], Outcome.INCONCLUSIVE, subject, reason=reason))
            elif not left:
                verdicts += self._inconsistent(reading, level, subject)
            elif reading in accepted and accepted[reading][0] not in left and reading not in self._told:
                first = next(iter(self._touched[reading]))
                verdicts.append(
                    Verdict(
                        first,
                        Outcome.READING,
                        subject,
                        expected={reading: list(accepted[reading])},
                        actual={reading: either(left)},
                        readings=((reading, either(left)),),
                    )
                )
        return verdicts

    def _broken_by(self, reading: str) -> list[str]:
        """The broken demands among those that the reading is about, or that were judged by it."""
        known = catalogue().readings
        about = {*self._touched[reading], *(known[reading].requirements if reading in known else ())}
        return sorted(about & self._broken)

    def _inconsistent(self, reading: str, level: str, subject: str) -> list[Verdict]:
        sights = {named: sight.to_json() for named, sight in _disjoint(self._seen[reading]).items()}
        reason = f"{reading} is read both ways: no single alternative explains what was seen"
        evidence = Evidence("history", reading, {"reading": reading, "followed": sights})
        verdicts = []
        for name in self._touched[reading]:
            weak = LEVELS.index(requirement(name).level) > LEVELS.index(level)
            verdicts.append(
                Verdict(
                    name,
                    Outcome.WARN if weak else Outcome.FAIL,
                    subject,
                    expected={reading: "one alternative throughout"},
                    actual={reading: sights},
                    reason=reason,
                    evidence=evidence,
                )
            )
        return verdicts


def _disjoint(seen: Mapping[str, Sight]) -> dict[str, Sight]:
    """Two explanations that exclude each other; all of them where only the whole of them does."""
    names = list(seen)
    for at, one in enumerate(names):
        for other in names[:at]:
            if not possible(one) & possible(other):
                return {other: seen[other], one: seen[one]}
    return dict(seen)


def narrowed(
    before: Sequence[Mapping[str, frozenset[str]]],
    after: Sequence[Mapping[str, frozenset[str]]],
    accepted: Mapping[str, tuple[str, ...]],
) -> tuple[tuple[str, str], ...]:
    """What a step of a history says about readings: pairs for a verdict.

    before, after: what each state that was, or is, possible assumes (a reading it does not name: nothing). A reading is
    named when the step left fewer alternatives possible than there were, or when only one is accepted at all.
    """
    if len(before) == len(after) and all(map(eq, before, after)):
        return ()  # as at most steps: nothing was learnt
    pairs = []
    for reading in sorted({name for state in after for name in state}):
        now = _allowed(after, reading, accepted)
        was = _allowed(before, reading, accepted)
        if now != was or (len(was) == 1 and reading not in set().union(*before)):
            pairs.append((reading, either(name for name in accepted[reading] if name in now)))
    return tuple(pair for pair in pairs if pair[1])


def _allowed(
    states: Sequence[Mapping[str, frozenset[str]]], reading: str, accepted: Mapping[str, tuple[str, ...]]
) -> frozenset[str]:
    every = frozenset(accepted[reading])
    if any(reading not in state for state in states):
        return every
    return frozenset().union(*(state[reading] for state in states)) & every
