"""Checks that a run follows one alternative of each reading throughout.

A verdict names the readings it assumed, with every alternative that explains the observation. The run followed the
alternatives that all its verdicts have in common. If there is none, it followed the reading both ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, eq

from conformance.spec.catalogue import catalogue, requirement
from conformance.spec.versions import LEVELS
from conformance.verdict import Evidence, Json, Outcome, Verdict

SEPARATOR = "|"
MAX_SEEN = 64  # explanations kept per reading; each is a subset of its alternatives

_FOLLOWS = frozenset({Outcome.PASS, Outcome.READING})
_BREAKS = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY})


def either(alternatives: Iterable[str]) -> str:
    """Join alternatives that all explain an observation to the form of a verdict: `a|b`."""
    return SEPARATOR.join(alternatives)


def possible(named: str) -> frozenset[str]:
    """Return the alternatives that a verdict names: the inverse of `either`."""
    return frozenset(named.split(SEPARATOR))


@dataclass(frozen=True, slots=True)
class FirstSeen:
    """The place where an explanation was seen; of several places, the first by name.

    where: the test, or the capture and the sender.
    """

    requirement: str
    subject: str
    where: str

    @property
    def place(self) -> tuple[str, str, str]:
        """The sort key of sights."""
        return self.where, self.requirement, self.subject

    def to_json(self) -> dict[str, Json]:
        """Return the JSON object that evidence stores."""
        return {"requirement": self.requirement, "subject": self.subject, "where": self.where}


@dataclass(slots=True)
class FollowedReadings:
    """The readings that the verdicts of one run, or of one sender in a capture, give evidence of.

    The result does not depend on the order in which verdicts are added, which varies with several workers.
    """

    _seen: dict[str, dict[str, FirstSeen]] = field(default_factory=dict)
    _touched: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    """Reading to the explanations seen of it, to the requirements judged by each."""
    _told: set[str] = field(default_factory=set)
    _broken: set[str] = field(default_factory=set)

    def add(self, verdict: Verdict, where: str) -> None:
        """Add a verdict. Only a verdict that holds is evidence of a reading."""
        if verdict.outcome in _BREAKS:
            self._broken.add(verdict.requirement)
        if verdict.outcome not in _FOLLOWS:
            return
        for reading, named in verdict.readings:
            seen = self._seen.setdefault(reading, {})
            sight = FirstSeen(verdict.requirement, verdict.subject, where)
            if named in seen or len(seen) < MAX_SEEN:
                seen[named] = min(seen.get(named, sight), sight, key=_place)
            if named in seen:
                self._touched.setdefault(reading, {}).setdefault(named, set()).add(verdict.requirement)
            if verdict.outcome is Outcome.READING:
                self._told.add(reading)

    def merge(self, other: FollowedReadings) -> None:
        """Add the evidence of another part of the run."""
        for reading, seen in other._seen.items():
            own = self._seen.setdefault(reading, {})
            for named, sight in seen.items():
                own[named] = min(own.get(named, sight), sight, key=_place)
            for named, names in other._touched[reading].items():
                self._touched.setdefault(reading, {}).setdefault(named, set()).update(names)
        self._told |= other._told
        self._broken |= other._broken

    def sights(self, reading: str) -> dict[str, FirstSeen]:
        """Return the explanations seen of a reading: alternatives as `a|b`, and where they were seen."""
        return dict(self._seen.get(reading, {}))

    def followed(self) -> dict[str, tuple[str, ...]]:
        """Return, for each assumed reading, the alternatives that explain all verdicts; none: followed both ways.

        The readings are in the order of the register.
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
        """Return the verdicts on the run as a whole.

        accepted: reading id to the accepted alternatives, the default first. level: a broken requirement that is weaker
        becomes a warning. A reading that was followed both ways fails one requirement, and leaves the others that were
        judged by it undecided. A reading followed in another alternative than the default gets a verdict, unless one
        names it already. If the implementation breaks a requirement that the reading is about, the reading is not
        concluded: a deviation is no evidence of an interpretation.
        """
        known = catalogue().readings
        verdicts: list[Verdict] = []
        for reading, left in self.followed().items():
            broken = self._broken_by(reading) if not left else []
            if broken:
                reason = f"{reading} is read both ways by an implementation that breaks {broken[0]}: it follows neither"
                verdicts.append(Verdict(broken[0], Outcome.INCONCLUSIVE, subject, reason=reason))
            elif not left:
                default = accepted[reading][0] if reading in accepted else ""
                verdicts += self._inconsistent(reading, level, subject, default)
            elif reading in accepted and accepted[reading][0] not in left and reading not in self._told:
                about = known[reading].requirements if reading in known else ()
                judged = self._judged(reading)
                first = next((name for name in about if name in judged), min(judged))
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
        """Return the broken requirements among those that the reading is about or that were judged by it, sorted."""
        known = catalogue().readings
        about = {*self._judged(reading), *(known[reading].requirements if reading in known else ())}
        return sorted(about & self._broken)

    def _judged(self, reading: str) -> frozenset[str]:
        """Return the requirements that were judged by a reading."""
        return frozenset().union(*self._touched[reading].values())

    def _inconsistent(self, reading: str, level: str, subject: str, default: str) -> list[Verdict]:
        """Return a verdict for each requirement judged: one of those that depart from what the others show fails.

        Of two alternatives, the one that fewer requirements show departs; of as many, the one that is not the default.
        The failing verdict is about what was seen there. The others are undecided: one deviation is one failure,
        whatever else was judged by the reading.
        """
        both = _disjoint(self._seen[reading])
        touched = self._touched[reading]
        odd = min(both, key=lambda named: (len(touched[named]), default in possible(named), named))
        sights = {named: sight.to_json() for named, sight in both.items()}
        places = "; ".join(f"{named} by {sight.subject} in {sight.where}" for named, sight in both.items())
        reason = f"{reading} is read both ways: no single alternative explains what was seen ({places[:400]})"
        evidence = Evidence("history", reading, {"reading": reading, "followed": sights})
        first = both[odd].requirement
        weak = LEVELS.index(requirement(first).level) > LEVELS.index(level)
        outcome = Outcome.WARN if weak else Outcome.FAIL
        expected: dict[str, Json] = {reading: "one alternative throughout"}
        actual: dict[str, Json] = {reading: dict(sights)}
        undecided = f"{reading} is read both ways, which {first} is blamed for"
        about = f"{subject}: {both[odd].subject} in {both[odd].where}"
        return [
            Verdict(first, outcome, about, expected=expected, actual=actual, reason=reason, evidence=evidence),
            *(
                Verdict(name, Outcome.INCONCLUSIVE, subject, reason=undecided)
                for name in sorted(self._judged(reading) - {first})
            ),
        ]


_place = attrgetter("place")


def _disjoint(seen: Mapping[str, FirstSeen]) -> dict[str, FirstSeen]:
    """Return two explanations that exclude each other, or all if only all together do."""
    names = sorted(seen)
    for at, one in enumerate(names):
        for other in names[:at]:
            if not possible(one) & possible(other):
                return {other: seen[other], one: seen[one]}
    return {name: seen[name] for name in names}


def narrowed(
    before: Sequence[Mapping[str, frozenset[str]]],
    after: Sequence[Mapping[str, frozenset[str]]],
    accepted: Mapping[str, tuple[str, ...]],
) -> tuple[tuple[str, str], ...]:
    """Return the (reading, alternatives) pairs that one step of a history gives evidence of, for a verdict.

    before, after: the readings that each possible state assumes before and after the step (absent: no assumption). A
    reading is in the result if the step left fewer alternatives than before, or if only one is accepted at all.
    """
    if len(before) == len(after) and all(map(eq, before, after)):
        return ()  # the usual case: the step shows nothing new
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
