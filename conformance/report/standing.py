"""What a run says, cut to what runs are compared by: what deviates, what was judged, and by what.

A requirement deviates when a verdict on it says fail, crash, timeout or flaky, when a weaker demand failed (a warning)
and the level asked for includes it, and under the strict readings when it follows another reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.runlog import Run
from conformance.spec.catalogue import catalogue
from conformance.spec.versions import LEVELS
from conformance.suites.concluding import CONCLUSION
from conformance.verdict import Outcome, worst

DEVIATING = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY})
UNJUDGED = frozenset({Outcome.INCONCLUSIVE, Outcome.SKIP, Outcome.ERROR})
BROKEN_OFF = frozenset({"error", "driver-unusable", "interrupted", "max-failures"})
"""Stop reasons of a run that says less than a whole one. A spent budget is none of them: a gate may run within one."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A run in short.

    outcomes: requirement to its worst outcome. deviating: requirement to the subjects that deviate, each with its worst
    outcome. judged, suites, tests (or captures, by file name): what said anything about the implementation; so do
    rules, by id, and phases, as (suite, phase), which are None where the record does not count them. undone: why the
    run is not whole, None when it is. errors: requirements that an error of the harness kept from being judged.
    """

    name: str
    profile: str | None
    level: str
    outcomes: Mapping[str, Outcome]
    deviating: Mapping[str, Mapping[str, Outcome]]
    judged: frozenset[str]
    suites: frozenset[str]
    tests: frozenset[str]
    captures: frozenset[str]
    undone: str | None
    errors: frozenset[str] = frozenset()
    rules: frozenset[str] | None = None
    phases: frozenset[tuple[str, str]] | None = None


def standing(run: Run, level: str | None = None) -> Standing:
    """How a run stands at a level (default: its own). A requirement the catalogue lacks counts as a `must`."""
    at = level or run.header.level or "must"
    strict = run.header.reading_set == "strict"
    outcomes: dict[str, list[Outcome]] = {}
    deviating: dict[str, dict[str, Outcome]] = {}
    judged: set[str] = set()
    suites: set[str] = set()
    tests: set[str] = set()
    captures = frozenset(_base(path) for path in run.header.captures)
    for recorded in run.verdicts:
        verdict = recorded.verdict
        outcomes.setdefault(verdict.requirement, []).append(verdict.outcome)
        if verdict.outcome not in UNJUDGED:
            judged.add(verdict.requirement)
            if recorded.suite != CONCLUSION:
                suites.add(recorded.suite)
                tests.add(_base(recorded.test) if captures else recorded.test)
        if _deviates(verdict.outcome, strict) and _binds(verdict.requirement, at):
            subjects = deviating.setdefault(verdict.requirement, {})
            found = worst([verdict.outcome, subjects.get(verdict.subject, verdict.outcome)])
            subjects[verdict.subject] = found or verdict.outcome
    return Standing(
        name=named(run),
        profile=run.header.profile,
        level=at,
        outcomes={name: worst(found) or Outcome.SKIP for name, found in outcomes.items()},
        deviating=deviating,
        judged=frozenset(judged),
        suites=frozenset(suites),
        tests=frozenset(tests),
        captures=captures,
        undone=_undone(run),
        errors=frozenset(one.verdict.requirement for one in run.verdicts if one.verdict.outcome is Outcome.ERROR),
        rules=None if run.tally is None else frozenset(run.tally.rules),
        phases=None if run.tally is None else frozenset(run.tally.phases),
    )


def named(run: Run) -> str:
    """What a run is called in a comparison: its implementation and version, or its captures, or its connector."""
    hello = run.hello or {}
    if hello.get("name"):
        version = hello.get("version")
        return f"{hello['name']} {version}" if version else str(hello["name"])
    captures = sorted({_base(path) for path in run.header.captures})
    if captures:
        return captures[0] if len(captures) == 1 else f"{captures[0]} and {len(captures) - 1} more"
    return run.header.connector or run.header.run_id


def level_of(requirement: str) -> str:
    """`must`, `should` or `may`; `must` for an id the catalogue does not have."""
    entry = catalogue().requirements.get(requirement)
    return entry.level if entry is not None else LEVELS[0]


def _deviates(outcome: Outcome, strict: bool) -> bool:
    return outcome in DEVIATING or outcome is Outcome.WARN or (strict and outcome is Outcome.READING)


def _binds(requirement: str, level: str) -> bool:
    return LEVELS.index(level_of(requirement)) <= LEVELS.index(level)


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _undone(run: Run) -> str | None:
    if not run.complete:
        return f"the run record is incomplete: {' '.join(run.problems)}".rstrip()
    footer = run.footer
    if footer is not None and footer.stop_reason in BROKEN_OFF:
        return f"the run ended early ({footer.stop_reason})"
    return None
