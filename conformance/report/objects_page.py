"""Objects of MC-MQAC in the HTML report: what was judged of each member, and stories as programs to run on Windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conformance.report.table import REFUTED, Table
from conformance.runlog.events import StoryStep
from conformance.verdict import Outcome

DOCUMENT = "MC-MQAC"
MAX_PROGRAM = 40_000
"""Characters of a program; a longer story has none."""


@dataclass(frozen=True, slots=True)
class MemberLine:
    """A member of a class. form: get, put, putref or method. failed: requirements that are broken, of those judged."""

    name: str
    form: str
    requirements: int
    judged: int
    failed: int


@dataclass(frozen=True, slots=True)
class ClassLine:
    """A class with its members."""

    name: str
    members: tuple[MemberLine, ...]

    @property
    def requirements(self) -> int:
        return sum(line.requirements for line in self.members)

    @property
    def judged(self) -> int:
        return sum(line.judged for line in self.members)

    @property
    def failed(self) -> int:
        return sum(line.failed for line in self.members)


def classes_of(table: Table) -> tuple[ClassLine, ...]:
    """Return the classes whose members a run has judged; none for a run without objects."""
    outcomes = {row.id: row.outcome for row in table.rows if row.document == DOCUMENT and row.judged}
    return tuple(_classes(outcomes)) if outcomes else ()


def _classes(outcomes: dict[str, Outcome | None]) -> Iterator[ClassLine]:
    from conformance.activex.members import all_cells

    lines: dict[str, list[MemberLine]] = {}
    for key, columns in all_cells().items():
        coclass, member, form = key.split(".")
        names = {name for column in columns.values() for name in column}
        judged = [outcomes[name] for name in names if name in outcomes]
        failed = sum(outcome in REFUTED for outcome in judged)
        lines.setdefault(coclass, []).append(MemberLine(member, form, len(names), len(judged), failed))
    for coclass, members in lines.items():
        yield ClassLine(coclass, tuple(members))


def programs_of(steps: Iterable[StoryStep]) -> tuple[tuple[str, str], ...]:
    """Return a story as programs, by language; none for a story of something else than objects."""
    calls = [step.call for step in steps if step.call is not None and "method" in step.call]
    if not any(str(call["method"]).startswith("objects.") for call in calls):
        return ()
    from conformance.activex import words

    acts = words.acts_of(calls)
    programs = (("VBScript", words.vbscript(acts)), ("Python (pywin32)", words.python(acts))) if acts else ()
    return tuple((name, text) for name, text in programs if len(text) <= MAX_PROGRAM)
