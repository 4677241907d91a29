"""The verdicts worse than pass, by requirement, each with its story; and as JSON objects."""

from __future__ import annotations

import shlex
from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, overload

from conformance.harness.repro_files import without_secrets
from conformance.report.table import PROBLEMS, RequirementRow, Table, roll_up
from conformance.report.text import label, value_text
from conformance.runlog import RecordedVerdict, Run, Story
from conformance.runlog.events import StoryStep
from conformance.spec.catalogue import catalogue
from conformance.spec.constants.codes import named
from conformance.spec.followed_readings import FollowedReadings, either, possible
from conformance.verdict import Evidence, Json, Outcome

MAX_SHOWN = 5
"""Verdicts shown of one requirement: a sixth of the same kind adds nothing, and the record has them all."""
MAX_STEPS = 400
"""Steps shown of one story."""
MAX_CUTS = 5
"""Truncated members of a finding that are listed."""
_NO_STORY = 1 << 62
BOTH_WAYS = ("both ways", "no single alternative explains the run")
NOTABLE = frozenset({Outcome.READING, Outcome.WARN})
"""Outcomes that are reported although they are no failure."""


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """One verdict with its story, evidence and repro command. evidence: in full if the record has it."""

    recorded: RecordedVerdict
    story: Story | None
    evidence: Evidence | None
    repro_command: str | None

    @property
    def place(self) -> str:
        """The record of the capture in which the packet ends, as Wireshark numbers it; empty without one."""
        record = None if self.evidence is None else self.evidence.data.get("record")
        return f" (record {record} of {label(self.recorded.test)})" if isinstance(record, int) else ""

    @property
    def expected(self) -> str | None:
        """The value that the requirement demands, as text."""
        return _shown(self.recorded.verdict.expected)

    @property
    def actual(self) -> str | None:
        """The value that was observed, as text."""
        return _shown(self.recorded.verdict.actual)

    @property
    def cuts(self) -> tuple[str, ...]:
        """The first few members that were too long to record: `actual (2,000,000 bytes in all, sha256 ...)`."""
        story = self.story.cut if self.story is not None else ()
        return tuple(str(cut).removeprefix("/") for cut in (*self.recorded.cut, *story)[:MAX_CUTS])

    @property
    def readings(self) -> list[tuple[str, str, str]]:
        """The assumed readings, each as (reading, alternative, its meaning)."""
        return [reading_texts(name, chosen) for name, chosen in self.recorded.verdict.readings]


def reading_texts(reading: str, named: str) -> tuple[str, str, str]:
    """Return (reading, alternative, its meaning); several alternatives that a verdict names are joined by "or"."""
    known = catalogue().readings.get(reading)
    names = [name for name in (known.alternatives if known else ()) if name in possible(named)]
    meanings = [known.alternatives[name] for name in names] if known else []
    return reading, " or ".join(names) or named, "; or ".join(meanings)


def followed(run: Run) -> list[tuple[str, str, str]]:
    """Return (reading, alternative, its meaning) for each reading that verdicts of this run assumed.

    If no alternative explains everything, the alternative is `both ways`; for captures, whose senders may differ, it is
    `either way`.
    """
    neither = ("either way", "not all senders follow the same") if run.header.captures else BOTH_WAYS
    whole = FollowedReadings()
    for said in run.said:
        if not said.provisional:
            first = run.first(said)
            whole.add(first.verdict, first.test)
    return [
        reading_texts(reading, either(left)) if left else (reading, *neither)
        for reading, left in whole.followed().items()
    ]


class Shown(Sequence[ReportedFinding]):
    """Findings of a run, each read on access: a record may hold more than fits into memory."""

    def __init__(self, run: Run, numbers: Sequence[int]) -> None:
        """numbers: the numbers of their verdicts."""
        self._run = run
        self._numbers = tuple(numbers)

    @overload
    def __getitem__(self, index: int) -> ReportedFinding: ...
    @overload
    def __getitem__(self, index: slice) -> Shown: ...
    def __getitem__(self, index: int | slice) -> ReportedFinding | Shown:
        if isinstance(index, slice):
            return Shown(self._run, self._numbers[index])
        return _finding(self._run, self._numbers[index])

    def __len__(self) -> int:
        return len(self._numbers)


@dataclass(frozen=True, slots=True)
class Group:
    """The findings of one requirement with one outcome. more: how many are not shown. seen: verdicts, repeats too."""

    row: RequirementRow
    outcome: Outcome
    shown: Shown
    more: int
    seen: int


@dataclass(slots=True)
class _Members:
    """The verdicts of one group. best: (steps of the story, number) of those that are shown, in order."""

    lines: int = 0
    seen: int = 0
    best: list[tuple[int, int]] = field(default_factory=list)

    def add(self, steps: int | None, number: int, seen: int) -> None:
        self.lines += 1
        self.seen += seen
        one = (_NO_STORY if steps is None else steps, number)
        if len(self.best) < MAX_SHOWN or one < self.best[-1]:
            insort(self.best, one)
            del self.best[MAX_SHOWN:]


def groups(run: Run, table: Table) -> tuple[list[Group], list[Group]]:
    """Return (failures and errors, warnings and readings), each worst first and then in the order of the documents.

    A reading counts as a failure if the run uses the strict readings.
    """
    rows = {row.id: row for row in table.rows}
    order = {row.id: at for at, row in enumerate(table.rows)}
    problems = PROBLEMS | ({Outcome.READING} if run.header.reading_set == "strict" else frozenset())
    found: dict[tuple[Outcome, str], _Members] = {}
    for number, said in run.numbered():
        if said.outcome in PROBLEMS or said.outcome in NOTABLE:
            # Findings with a story first, and of these the shortest, because it explains best.
            members = found.setdefault((said.outcome, said.requirement), _Members())
            members.add(run.stories.length(number), number, run.verdicts.count(number))
    result: tuple[list[Group], list[Group]] = ([], [])
    for outcome, name in sorted(found, key=lambda key: (key[0].rank, order[key[1]])):
        members = found[outcome, name]
        result[outcome not in problems].append(
            Group(
                row=rows[name],
                outcome=outcome,
                shown=Shown(run, [number for _, number in members.best]),
                more=members.lines - len(members.best),
                seen=members.seen,
            )
        )
    return result


def story_lines(finding: ReportedFinding) -> Iterator[str]:
    """Yield the finding as plain lines without line feeds: numbered steps, expected, actual, readings, repro."""
    verdict = finding.recorded.verdict
    yield f"subject: {label(verdict.subject)}{finding.place}"
    if finding.story is not None:
        for number, step in enumerate(finding.story.steps[:MAX_STEPS], 1):
            yield f"{number:>4}. {label(named(step.text))}"
        if len(finding.story.steps) > MAX_STEPS:
            yield f"      ({len(finding.story.steps) - MAX_STEPS} more steps)"
    for name, value in (("expected", finding.expected), ("actual", finding.actual)):
        if value is not None:
            first, *rest = value.splitlines() or [""]
            yield f"{name + ':':<9} {first}"
            yield from (" " * 10 + line for line in rest)
    if verdict.reason:
        yield f"reason: {label(named(verdict.reason))}"
    for reading, chosen, meaning in finding.readings:
        yield label(f"reading: {reading} = {chosen}{' (' + meaning + ')' if meaning else ''}")
    for cut in finding.cuts:
        yield label(f"cut when it was recorded: {cut}")
    if finding.repro_command:
        yield f"repro: {finding.repro_command}"


def heading(row: RequirementRow) -> str:
    """Return `MS-MQDMPR 3.2.7.3, must: ` and the requirement's text, as far as the catalogue has it."""
    where = f"{row.document} {row.section}".strip()
    return f"{where}, {row.demand.level}: {row.demand.says}" if row.demand else f"{label(where)}: not in this catalogue"


def _finding(run: Run, number: int) -> ReportedFinding:
    recorded = run.verdicts.at(number)
    told = run.stories.number(number)
    story = None if told is None else run.stories.at(told)
    evidence = recorded.verdict.evidence
    if evidence is not None and not evidence.data:
        evidence = run.evidence.get(evidence.ref, evidence)
    return ReportedFinding(recorded, story, evidence, _command(run, story))


def _command(run: Run, story: Story | None) -> str | None:
    return None if story is None or story.repro is None else repro_command(story.repro, run.header.connector)


def repro_command(repro: str, connector: str | None) -> str:
    """Return the command that runs a repro file again, against the implementation it came from."""
    adapter = f" --adapter {shlex.quote(label(without_secrets(connector)))}" if connector else ""
    return f"mqconform repro {shlex.quote(label(repro))}{adapter}"


def _shown(value: Json) -> str | None:
    return None if value is None else value_text(value)


MOST = 500
"""Failures in the result: each may have a story of some hundred steps."""


def deviations(run: Run) -> dict[str, Json]:
    """Return `deviations`, an object for each failing verdict, worst first, and `deviations_left_out`, how many are
    left out.

    For each requirement the first few are included, those with the shortest story, and MOST in all; the record has all.
    """
    failures, _ = groups(run, roll_up(run))
    found = (finding for group in failures for finding in group.shown)
    told = [_finding_json(run, finding) for finding in islice(found, MOST)]
    every = sum(len(group.shown) + group.more for group in failures)
    return {"deviations": told, "deviations_left_out": every - len(told)}


def _finding_json(run: Run, finding: ReportedFinding) -> dict[str, Any]:
    """Return a failing verdict as an object; all keys are always present.

    story: the calls in order, as text, with call and answer if they are stored. expected, actual: JSON values. repro:
    the path of the repro file. took_ms: duration of the test. repro, repro_command and took_ms are null if unknown.
    """
    recorded, story = finding.recorded, finding.story
    verdict = recorded.verdict
    steps = story.steps if story is not None else ()
    return {
        "requirement": verdict.requirement,
        "outcome": verdict.outcome.value,
        "subject": verdict.subject,
        "suite": recorded.suite,
        "test": recorded.test,
        "seen": recorded.count,
        "reason": verdict.reason,
        "expected": verdict.expected,
        "actual": verdict.actual,
        "readings": dict(verdict.readings),
        "story": [_step(step) for step in steps[:MAX_STEPS]],
        "repro": _repro(run, story.repro if story is not None else None),
        "repro_command": finding.repro_command,
        "took_ms": run.took.get(recorded.test),
    }


def _step(step: StoryStep) -> dict[str, Any]:
    return {name: member for name, member in step.to_json().items() if name != "parts"}


def _repro(run: Run, written: str | None) -> str | None:
    """Return the present path of the repro file, which lies beside its record also after the record was moved."""
    if written is None:
        return None
    for part in run.parts[:1]:
        beside = part.parent / "repros" / Path(written).name
        if beside.exists():
            return str(beside)
    return written
