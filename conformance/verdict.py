"""Verdicts, their outcomes and evidence, and the total order by which outcomes are rolled up.

This module does not know how an outcome is found: every other room imports it, and it imports none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import Any

Json = Any  # JSON value: None, bool, int, float, str, list, dict. Typed loosely because evidence has any shape.


class Outcome(Enum):
    """The result of judging one requirement. Members are ordered worst first; a roll-up is the worst of several."""

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

    __hash__ = object.__hash__  # Members are singletons; Enum's own hash hashes the name, in Python, for every verdict.

    @property
    def rank(self) -> int:
        """0 for the worst outcome, counting up to the best."""
        return _RANK[self]


_RANK = {outcome: rank for rank, outcome in enumerate(Outcome)}
_REFUTES = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY})
_UNJUDGED = frozenset({Outcome.INCONCLUSIVE, Outcome.SKIP})
NEEDS_REASON = frozenset({Outcome.FLAKY, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.SKIP})


class ExitCode(int, Enum):
    """The exit codes of every command; see the table in README.md."""

    CONFORMS = 0
    DEVIATES = 1
    BAD_INPUT = 2
    UNUSABLE = 3
    HARNESS_ERROR = 4
    NOTHING_JUDGED = 5
    INTERRUPTED = 130


CODES_WORST_FIRST = (
    ExitCode.INTERRUPTED,
    ExitCode.DEVIATES,
    ExitCode.HARNESS_ERROR,
    ExitCode.UNUSABLE,
    ExitCode.BAD_INPUT,
    ExitCode.NOTHING_JUDGED,
    ExitCode.CONFORMS,
)
"""The order in which the exit codes of one command are rolled up: the first that occurred wins. A proven deviation
stays proven, and an error of the harness outweighs input that it could not read."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The observation that a verdict is based on.

    kind: `call`, `packet`, `session`, `history` or `name`. ref: the id of the evidence event in the run record, or of
    a packet in a capture (`frame 7`). data: a small JSON object that can be judged again; bytes are base64. cut: the
    data was too long for a record and is shortened: it can be read, but not judged again.
    """

    kind: str
    ref: str
    data: Mapping[str, Json] = field(default_factory=dict)
    cut: bool = False


FRAME = "frame"


def of_frame(number: int) -> str:
    """Return the subject of a verdict on a packet of a capture."""
    return f"{FRAME} {number}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of judging one requirement on one subject.

    requirement: an id of the catalogue. subject: what was judged, in a few words (`receive`, `DIRECT=OS:a\\q`).
    expected, actual: JSON values built from data, never prose alone. readings: (reading id, alternative) pairs assumed.
    reason: one line, required for flaky, error, inconclusive and skip.

    rule, phase: the origin, where it has a name: the id of a rule (a requirement and `/word`), and the phase of a suite
    (`control`). They are counted (`runlog.Tally`) and are not part of the verdict itself.

    frame: the number of the packet, by which a replay joins packets and verdicts; the subject is `of_frame` then.
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
    frame: int | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.outcome in NEEDS_REASON and not self.reason:
            raise ValueError(f"a verdict of {self.outcome.value} needs a reason ({self.requirement})")

    def to_json(self) -> dict[str, Json]:
        """Return the JSON object that the run record stores; absent members are left out."""
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


@lru_cache(1 << 13)
def held(requirement: str, subject: str, readings: tuple[tuple[str, str], ...] = ()) -> Verdict:
    """Return a PASS, the same object for the same arguments: few recur, and a recorder counts it without a look."""
    return Verdict(requirement, Outcome.PASS, subject, readings=readings)


def in_phase(phase: str, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
    """Yield the same verdicts with this phase of a suite."""
    for verdict in verdicts:
        yield replace(verdict, phase=phase)


def worst(outcomes: Iterable[Outcome]) -> Outcome | None:
    """Roll up several outcomes: return the worst, None when there are none."""
    return min(outcomes, key=lambda outcome: outcome.rank, default=None)


def of_requirement(outcomes: Iterable[Outcome]) -> Outcome | None:
    """Roll up what tests say of one requirement: the worst, but a skip of one hides no pass of another."""
    seen = set(outcomes)
    return worst(seen - {Outcome.SKIP} if Outcome.PASS in seen else seen)


def worst_code(codes: Iterable[ExitCode]) -> ExitCode:
    """Roll up several exit codes. Raises ValueError when there are none."""
    return min(codes, key=CODES_WORST_FIRST.index)


def exit_code(outcomes: Iterable[Outcome], *, strict: bool = False) -> ExitCode:
    """Return the exit code for a set of outcomes.

    A deviation outweighs an error of the harness, as it stays proven. `reading` counts as a deviation only under the
    strict readings. No outcome at all, or only inconclusive and skip, means "nothing was judged".
    """
    seen = set(outcomes)
    if seen & _REFUTES or (strict and Outcome.READING in seen):
        return ExitCode.DEVIATES
    if Outcome.ERROR in seen:
        return ExitCode.HARNESS_ERROR
    if not seen - _UNJUDGED:
        return ExitCode.NOTHING_JUDGED
    return ExitCode.CONFORMS
