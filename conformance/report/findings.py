"""What a reader has to look at: the verdicts that are worse than pass, by requirement, each with its story."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from conformance.report.table import PROBLEMS, Row, Table
from conformance.report.text import label, value_text
from conformance.runlog import RecordedVerdict, Run, Story
from conformance.spec.assignment import Assignment, either, possible
from conformance.spec.catalogue import catalogue
from conformance.verdict import Evidence, Json, Outcome

MAX_SHOWN = 5
"""Verdicts shown of one requirement: the sixth of the same kind teaches nothing, the record has them all."""
MAX_STEPS = 400
"""Steps shown of one story."""
BOTH_WAYS = ("both ways", "no single alternative explains the run")
NOTABLE = frozenset({Outcome.READING, Outcome.WARN})
"""Outcomes that are no failure and still are told."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One verdict with what is known of how it came about. evidence: in full where the record has it."""

    recorded: RecordedVerdict
    story: Story | None
    evidence: Evidence | None
    repro_command: str | None

    @property
    def expected(self) -> str | None:
        """What the requirement demands, as text."""
        return _shown(self.recorded.verdict.expected)

    @property
    def actual(self) -> str | None:
        """What was observed, as text."""
        return _shown(self.recorded.verdict.actual)

    @property
    def readings(self) -> list[tuple[str, str, str]]:
        """(reading, alternative, its meaning) for each reading assumed."""
        return [told(name, chosen) for name, chosen in self.recorded.verdict.readings]


def told(reading: str, named: str) -> tuple[str, str, str]:
    """(reading, alternative, its meaning); several alternatives that a verdict names stand one behind the other."""
    known = catalogue().readings.get(reading)
    names = [name for name in (known.alternatives if known else ()) if name in possible(named)]
    meanings = [known.alternatives[name] for name in names] if known else []
    return reading, " or ".join(names) or named, "; or ".join(meanings)


def followed(run: Run) -> list[tuple[str, str, str]]:
    """(reading, alternative, its meaning) for each reading that verdicts of this run assumed.

    Where no alternative explains everything: `both ways`, or, for captures, whose senders need not agree, `either way`.
    """
    neither = ("either way", "not all senders follow the same") if run.header.captures else BOTH_WAYS
    whole = Assignment()
    for recorded in run.verdicts:
        if not recorded.provisional:
            whole.add(recorded.verdict, recorded.test)
    return [told(reading, either(left)) if left else (reading, *neither) for reading, left in whole.followed().items()]


@dataclass(frozen=True, slots=True)
class Group:
    """The findings of one requirement with one outcome; `more` of the same are not shown. seen: repeats included."""

    row: Row
    outcome: Outcome
    shown: tuple[Finding, ...]
    more: int
    seen: int


def groups(run: Run, table: Table) -> tuple[list[Group], list[Group]]:
    """(failures and errors, warnings and readings), each worst first and then in the order of the documents.

    A reading counts as a failure where the run took the strict readings.
    """
    rows = {row.id: row for row in table.rows}
    order = {row.id: at for at, row in enumerate(table.rows)}
    stories = {story.verdict: story for story in run.stories}
    problems = PROBLEMS | ({Outcome.READING} if run.header.reading_set == "strict" else frozenset())
    found: dict[tuple[Outcome, str], list[RecordedVerdict]] = {}
    for recorded in run.verdicts:
        if recorded.verdict.outcome in PROBLEMS | NOTABLE:
            found.setdefault((recorded.verdict.outcome, recorded.verdict.requirement), []).append(recorded)
    result: tuple[list[Group], list[Group]] = ([], [])
    for outcome, name in sorted(found, key=lambda key: (key[0].rank, order[key[1]])):
        # Those with a story first, and of these the shortest: it is the one that explains.
        members = sorted(found[outcome, name], key=lambda recorded: _length(stories.get(recorded.id)))
        result[outcome not in problems].append(
            Group(
                row=rows[name],
                outcome=outcome,
                shown=tuple(_finding(run, recorded, stories) for recorded in members[:MAX_SHOWN]),
                more=max(0, len(members) - MAX_SHOWN),
                seen=sum(recorded.count for recorded in members),
            )
        )
    return result


def story_lines(finding: Finding) -> Iterator[str]:
    """The finding as plain lines: numbered steps, expected, actual, readings, repro. No line ends in a line feed."""
    verdict = finding.recorded.verdict
    yield f"subject: {label(verdict.subject)}"
    if finding.story is not None:
        for number, step in enumerate(finding.story.steps[:MAX_STEPS], 1):
            yield f"{number:>4}. {label(step.text)}"
        if len(finding.story.steps) > MAX_STEPS:
            yield f"      ({len(finding.story.steps) - MAX_STEPS} more steps)"
    for name, value in (("expected", finding.expected), ("actual", finding.actual)):
        if value is not None:
            first, *rest = value.splitlines() or [""]
            yield f"{name + ':':<9} {first}"
            yield from (" " * 10 + line for line in rest)
    if verdict.reason:
        yield f"reason: {label(verdict.reason)}"
    for reading, chosen, meaning in finding.readings:
        yield label(f"reading: {reading} = {chosen}{' (' + meaning + ')' if meaning else ''}")
    if finding.repro_command:
        yield f"repro: {finding.repro_command}"


def heading(row: Row) -> str:
    """`MS-MQDMPR 3.2.7.3, must: what it says`, as far as the catalogue knows."""
    where = f"{row.document} {row.section}".strip()
    return f"{where}, {row.demand.level}: {row.demand.says}" if row.demand else f"{label(where)}: not in this catalogue"


def _finding(run: Run, recorded: RecordedVerdict, stories: Mapping[str, Story]) -> Finding:
    story = stories.get(recorded.id)
    evidence = recorded.verdict.evidence
    if evidence is not None and not evidence.data:
        evidence = run.evidence.get(evidence.ref, evidence)
    return Finding(recorded, story, evidence, _command(run, story))


def _command(run: Run, story: Story | None) -> str | None:
    return None if story is None or story.repro is None else repro_command(story.repro, run.header.connector)


def repro_command(repro: str, connector: str | None) -> str:
    """The command that runs a repro file again, against the implementation it came from."""
    adapter = f" --adapter {shlex.quote(label(connector))}" if connector else ""
    return f"mqconform repro {shlex.quote(label(repro))}{adapter}"


def _length(story: Story | None) -> int:
    return len(story.steps) if story is not None else 1 << 30


def _shown(value: Json) -> str | None:
    return None if value is None else value_text(value)
