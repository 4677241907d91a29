"""The part of a run that comparisons use: the requirements that deviate, and what judged which requirements.

A requirement deviates when a verdict on it is fail, crash, timeout or flaky; when a weaker demand failed (a warning)
and the chosen level includes it; and, under the strict readings, when it follows another reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.harness.run_verdicts import CONCLUSION
from conformance.report.situations import situations
from conformance.runlog import Run
from conformance.runlog.left_out import left_out
from conformance.runlog.tally import NO_JUDGEMENT
from conformance.spec.catalogue import catalogue
from conformance.spec.versions import LEVELS
from conformance.verdict import Outcome, of_requirement, worst

DEVIATING = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY})
BROKEN_OFF = frozenset({"error", "driver-unusable", "interrupted", "max-failures"})
"""Stop reasons of a run that proves less than a whole one. A spent budget is not one: `left_out` tells what it cost."""

MAX_SUBJECTS = 32 << 20
"""Characters of all deviating subjects; subjects beyond that are merged into one, `FURTHER`."""
FURTHER = "(further subjects)"
_AN_ENTRY = 200  # memory of an entry beside its characters


@dataclass(frozen=True, slots=True)
class Standing:
    """The part of a run that is compared.

    outcomes: requirement to its worst outcome. deviating: requirement to its deviating subjects, each with its worst
    outcome. judged, suites, tests (for captures: file names): those with a verdict other than error, skip and
    inconclusive. rules (ids) and phases (suite, phase): those that judged something, None if the record does not count
    them. undone: why the run is not whole, None if it is. left_out: a sentence on tests that did not run. errors:
    requirements that could not be judged because of a harness error. lacking: what captures announce but do not
    contain, in words; empty if nothing. situations: numbers of those met, None if no planned history was played;
    situations_excused: those not met after a failure; situations_digest: of the tables that number them.
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
    lacking: str = ""
    left_out: str | None = None
    situations: frozenset[int] | None = None
    situations_excused: frozenset[int] = frozenset()
    situations_digest: str = ""


def standing(run: Run, level: str | None = None) -> Standing:
    """Return the standing of a run at a level (default: its own). A requirement not in the catalogue is a `must`."""
    at = level or run.header.level or "must"
    strict = run.header.reading_set == "strict"
    left, planned = left_out(run), situations(run)
    outcomes: dict[str, list[Outcome]] = {}
    deviating: dict[str, dict[str, Outcome]] = {}
    judged: set[str] = set()
    suites: set[str] = set()
    tests: set[str] = set()
    captures = frozenset(_base(path) for path in run.header.captures)
    for said in run.said:
        outcomes.setdefault(said.requirement, []).append(said.outcome)
        if said.outcome not in NO_JUDGEMENT:
            judged.add(said.requirement)
            if said.suite != CONCLUSION:
                suites.add(said.suite)
    room = MAX_SUBJECTS
    for number, said in run.numbered():
        recorded = run.verdicts.at(number)
        if said.outcome not in NO_JUDGEMENT and said.suite != CONCLUSION:
            tests.add(_base(recorded.test) if captures else recorded.test)
        if deviates(said.outcome, strict) and _binds(said.requirement, at):
            subjects = deviating.setdefault(said.requirement, {})
            subject = recorded.verdict.subject
            if subject not in subjects:
                room -= len(subject) + _AN_ENTRY
                subject = subject if room >= 0 else FURTHER
            subjects[subject] = worst([said.outcome, subjects.get(subject, said.outcome)]) or said.outcome
    return Standing(
        name=named(run),
        profile=run.header.profile,
        level=at,
        outcomes={name: of_requirement(found) or Outcome.SKIP for name, found in outcomes.items()},
        deviating=deviating,
        judged=frozenset(judged),
        suites=frozenset(suites),
        tests=frozenset(tests),
        captures=captures,
        undone=undone(run),
        errors=frozenset(said.requirement for said in run.said if said.outcome is Outcome.ERROR),
        rules=None if run.tally is None else frozenset(run.tally.rules),
        phases=None if run.tally is None else frozenset(run.tally.phases),
        lacking=run.incomplete.words,
        left_out=None if left is None else left.sentence,
        situations=None if planned is None else planned.met,
        situations_excused=frozenset() if planned is None else planned.failed,
        situations_digest="" if planned is None else planned.digest,
    )


def named(run: Run) -> str:
    """Return a run's name in a comparison: its label, or else implementation and version, captures, connector or id."""
    if run.header.label:
        return run.header.label
    return implementation(run) or captured(run) or run.header.connector or run.header.run_id


def implementation(run: Run) -> str:
    """Return the name and version that the implementation reported; empty if it reported none."""
    hello = run.hello or {}
    name, version = hello.get("name"), hello.get("version")
    return f"{name} {version}" if name and version else str(name or "")


def column(run: Run) -> str:
    """Return a run's name as a column heading: its label, its connector, or its captures."""
    header = run.header
    return header.label or header.connector or captured(run) or named(run)


def captured(run: Run) -> str:
    """Return the file names of the run's captures, shortened; empty if it has none."""
    captures = sorted({_base(path) for path in run.header.captures})
    if len(captures) < 2:
        return "".join(captures)
    return f"{captures[0]} and {len(captures) - 1} more"


def level_of(requirement: str) -> str:
    """Return `must`, `should` or `may`; `must` for an id that the catalogue does not have."""
    entry = catalogue().requirements.get(requirement)
    return entry.level if entry is not None else LEVELS[0]


def deviates(outcome: Outcome, strict: bool) -> bool:
    """Tell whether this outcome is a deviation if the requirement binds. strict: the strict readings are chosen."""
    return outcome in DEVIATING or outcome is Outcome.WARN or (strict and outcome is Outcome.READING)


def _binds(requirement: str, level: str) -> bool:
    return LEVELS.index(level_of(requirement)) <= LEVELS.index(level)


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def undone(run: Run) -> str | None:
    """Return why a run proves less than a whole one, None if it is whole."""
    if not run.complete:
        return f"the run record is incomplete: {' '.join(run.problems)}".rstrip()
    footer = run.footer
    if footer is not None and footer.stop_reason in BROKEN_OFF:
        return f"the run ended early ({footer.stop_reason})"
    return None
