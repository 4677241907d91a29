"""The outcome of judging one requirement, and the one total order outcomes are rolled up in.

Nothing here knows how an outcome was found: every room above imports this one, and this one imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

Json = Any  # JSON value: None, bool, int, float, str, list, dict. Typed loosely because evidence has any shape.


class Outcome(Enum):
    """What judging said. Members stand worst first: the roll-up of several is the first of them in this order."""

    FAIL = "fail"
    CRASH = "crash"
    TIMEOUT = "timeout"
    FLAKY = "flaky"
    ERROR = "error"
    INCONCLUSIVE = "inconclusive"
    READING = "reading"
    WARN = "warn"
    SKIP = "skip"
    PASS = "pass"

    __hash__ = object.__hash__  # each is one object; Enum's own would hash its name, in Python, for every verdict

    @property
    def rank(self) -> int:
        """0 for the worst outcome, counting up to the best."""
        return _RANK[self]


_RANK = {outcome: rank for rank, outcome in enumerate(Outcome)}
_REFUTES = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY})
_UNJUDGED = frozenset({Outcome.INCONCLUSIVE, Outcome.SKIP})
NEEDS_REASON = frozenset({Outcome.FLAKY, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.SKIP})


class ExitCode(int, Enum):
    """What every command ends with; see the table in README.md."""

    CONFORMS = 0
    DEVIATES = 1
    BAD_INPUT = 2
    UNUSABLE = 3
    HARNESS_ERROR = 4
    NOTHING_JUDGED = 5
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where to see what a verdict was based on.

    kind: `call`, `packet`, `session`, `history` or `name`. ref: the id of the evidence event in the run record, or of
    a packet in a capture (`frame 7`). data: a small JSON object that can be judged again; large bytes are base64.
    """

    kind: str
    ref: str
    data: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One requirement judged on one subject.

    requirement: an id of the catalogue. subject: what was judged, in a few words (`receive`, `DIRECT=OS:a\\q`).
    expected, actual: JSON values built from data, never prose alone. readings: (reading id, alternative) pairs assumed.
    reason: one line, required for flaky, error, inconclusive and skip.

    rule, phase: what made it, where that has a name: the id of a rule (a requirement, with `/word` behind it) and the
    part of a suite's work (`control`). They are counted (`runlog.Tally`) and are no part of what the verdict says.
    """

    requirement: str
    outcome: Outcome
    subject: str
    expected: Json = None
    actual: Json = None
    readings: tuple[tuple[str, str], ...] = ()
    reason: str | None = None
    evidence: Evidence | None = None
    rule: str | None = field(default=None, compare=False, repr=False)
    phase: str | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.outcome in NEEDS_REASON and not self.reason:
            raise ValueError(f"a verdict of {self.outcome.value} needs a reason ({self.requirement})")

    def to_json(self) -> dict[str, Json]:
        """The verdict as the run record stores it; absent members are left out."""
        out: dict[str, Json] = {
            "requirement": self.requirement,
            "outcome": self.outcome.value,
            "subject": self.subject,
        }
        if self.expected is not None:
            out["expected"] = self.expected
        if self.actual is not None:
            out["actual"] = self.actual
        if self.readings:
            out["readings"] = dict(self.readings)
        if self.reason:
            out["reason"] = self.reason
        if self.evidence is not None:
            out["evidence"] = {
                "kind": self.evidence.kind,
                "ref": self.evidence.ref,
                "data": dict(self.evidence.data),
            }
        return out

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Verdict:
        """The inverse of `to_json`. Raises ValueError or KeyError for a value it could not have written."""
        evidence = value.get("evidence")
        return cls(
            requirement=value["requirement"],
            outcome=Outcome(value["outcome"]),
            subject=value["subject"],
            expected=value.get("expected"),
            actual=value.get("actual"),
            readings=tuple(sorted(value.get("readings", {}).items())),
            reason=value.get("reason"),
            evidence=Evidence(evidence["kind"], evidence["ref"], evidence.get("data", {})) if evidence else None,
        )


def in_phase(phase: str, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
    """The same verdicts, made in this part of a suite's work."""
    for verdict in verdicts:
        yield replace(verdict, phase=phase)


def worst(outcomes: Iterable[Outcome]) -> Outcome | None:
    """The roll-up of several outcomes: the worst, or None when there are none."""
    return min(outcomes, key=lambda outcome: outcome.rank, default=None)


def exit_code(outcomes: Iterable[Outcome], *, strict: bool = False) -> ExitCode:
    """The exit code a set of outcomes asks for.

    A deviation outweighs an error of the harness: what was proven stays proven. `reading` deviates under the strict
    readings only. No outcome at all, or nothing better than inconclusive and skip, is "nothing was judged".
    """
    seen = set(outcomes)
    if seen & _REFUTES or (strict and Outcome.READING in seen):
        return ExitCode.DEVIATES
    if Outcome.ERROR in seen:
        return ExitCode.HARNESS_ERROR
    if not seen - _UNJUDGED:
        return ExitCode.NOTHING_JUDGED
    return ExitCode.CONFORMS
