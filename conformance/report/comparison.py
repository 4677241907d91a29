"""Several runs compared: differences by requirement, a table with a column for each run, and the page of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.report.findings import followed
from conformance.report.gate import KNOWN, NEW, Decision, Excused
from conformance.report.html import bar
from conformance.report.page import json_block, render_page
from conformance.report.standing import RunSummary, column, deviates, implementation, level_of
from conformance.report.table import (
    Node,
    RequirementRow,
    Section,
    Table,
    address,
    level_rank,
    outcome_rank,
    place,
    roll_up,
    section_title,
    trees,
)
from conformance.report.text import label, value_text
from conformance.runlog import Run
from conformance.runlog.counts import NO_JUDGEMENT
from conformance.spec.versions import LEVELS
from conformance.verdict import Json, Outcome, worst

FIXED, BROKEN, ADDED, GONE, CHANGED = "fixed", "broken", "new", "gone", "changed"
KINDS = (BROKEN, GONE, FIXED, ADDED, CHANGED)
"""The kinds in the order of reports: the most urgent first."""

_SAYS = {
    BROKEN: "deviate now and did not before",
    GONE: "were judged before and are not now",
    FIXED: "deviated before and do not now",
    ADDED: "are judged now and were not before",
    CHANGED: "have another outcome, but deviate or not as before",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One requirement that differs. before, now: its outcomes, None where a run has no verdict on it."""

    kind: str
    requirement: str
    before: Outcome | None
    now: Outcome | None

    def to_json(self) -> dict[str, Json]:
        """Return the change as JSON."""
        return {
            "kind": self.kind,
            "requirement": self.requirement,
            "level": level_of(self.requirement),
            "before": self.before.value if self.before else None,
            "now": self.now.value if self.now else None,
        }


@dataclass(frozen=True, slots=True)
class Diff:
    """The difference of two runs. before, now: their names. changes: by kind, then id. same: how many are unchanged."""

    before: str
    now: str
    changes: tuple[Change, ...]
    same: int

    @property
    def counts(self) -> dict[str, int]:
        """The number of changes by kind, zeros too."""
        return {kind: sum(change.kind == kind for change in self.changes) for kind in KINDS}

    def to_json(self) -> dict[str, Json]:
        """Return the object that `--json` prints."""
        return {
            "before": self.before,
            "now": self.now,
            "counts": {**self.counts, "same": self.same},
            "changes": [change.to_json() for change in self.changes],
        }


def diff(before: RunSummary, now: RunSummary) -> Diff:
    """Compare two runs. A new requirement that deviates counts as broken, one that deviated and is gone as gone."""
    changes = []
    same = 0
    for requirement in sorted(before.outcomes.keys() | now.outcomes.keys()):
        was, came = before.outcomes.get(requirement), now.outcomes.get(requirement)
        kind = _kind(
            requirement in before.deviating, requirement in now.deviating, _judged(was), _judged(came), was is came
        )
        if kind is None:
            same += 1
        else:
            changes.append(Change(kind, requirement, was, came))
    changes.sort(key=lambda change: (KINDS.index(change.kind), change.requirement))
    return Diff(before.name, now.name, tuple(changes), same)


def _judged(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome not in NO_JUDGEMENT


def _kind(deviated: bool, deviates: bool, was: bool, came: bool, alike: bool) -> str | None:
    if deviates and not deviated:
        return BROKEN
    if was and not came:
        return GONE
    if deviated and not deviates:
        return FIXED
    if came and not was:
        return ADDED
    return None if alike else CHANGED


def sentence(found: Diff) -> str:
    """Return the closing line: `2 broken, 1 fixed, 340 the same`."""
    counts = [f"{number} {kind}" for kind, number in found.counts.items() if number]
    return ", ".join([*counts, f"{found.same} the same"])


def differences_markdown(found: Diff) -> str:
    """Return the difference as Markdown: a table for each kind, and the closing line."""
    lines = [f"# {cell(found.before)} to {cell(found.now)}", "", sentence(found) + "."]
    for kind in KINDS:
        changes = [change for change in found.changes if change.kind == kind]
        if changes:
            lines += ["", f"## {kind.capitalize()}", "", f"Requirements that {_SAYS[kind]}.", ""]
            lines += ["| requirement | level | before | now |", "|---|---|---|---|"]
            lines += [_row(change) for change in changes]
    return "\n".join(lines) + "\n"


def text_lines(found: Diff) -> Sequence[str]:
    """Return the difference for a terminal, one line a change."""
    return [
        f"{change.kind:<8}{label(change.requirement)}: {_word(change.before)} -> {_word(change.now)}"
        for change in found.changes
    ]


def _row(change: Change) -> str:
    cells = (change.requirement, level_of(change.requirement), _word(change.before), _word(change.now))
    return f"| {' | '.join(map(cell, cells))} |"


def cell(text: str) -> str:
    """Escape outside text for a cell of a Markdown table: no markup, no new cell."""
    safe = label(text)
    for character in "\\`*_[]<>|#":
        safe = safe.replace(character, f"\\{character}" if character != "<" else "&lt;")
    return safe


def _word(outcome: Outcome | None) -> str:
    return outcome.value if outcome is not None else "-"


@dataclass(frozen=True, slots=True)
class Cell:
    """One section in one run. outcome: its roll-up, None if it was not judged. passed, judged: requirements.

    known: how many deviate and are excused. excused: everything that deviates is excused.
    """

    outcome: Outcome | None
    passed: int
    judged: int
    known: int = 0
    excused: bool = False

    @property
    def text(self) -> str:
        """The cell's text: `pass 12/12`, `known 11/12` if all deviations are excused, or `-` if nothing was judged."""
        return "-" if self.outcome is None else f"{self.tone} {self.passed}/{self.judged}"

    @property
    def tone(self) -> str:
        """The outcome shown: `known` if all deviations are excused, `none` if nothing was judged."""
        if self.outcome is None:
            return "none"
        return KNOWN if self.excused else self.outcome.value


@dataclass(frozen=True, slots=True)
class Line:
    """One section in all runs."""

    document: str
    section: str
    title: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """The runs side by side. columns: the runs' names; the second run of the same name gets a number.

    demanded: for each run, how many requirements are to be judged. decisions: the gate's on each run, None without a
    gate. unjudged: the requirements that no run judged, including those of sections left out for that reason.
    headlines: the result of each run.
    """

    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    totals: tuple[Cell, ...]
    demanded: tuple[int, ...]
    decisions: tuple[Decision | None, ...]
    unjudged: tuple[str, ...]
    headlines: tuple[str, ...]

    @property
    def judged(self) -> tuple[str, ...]:
        """For each run the count of requirements: `1,466 of 6,007`."""
        return tuple(
            f"{total.judged:,} of {demanded:,}" for total, demanded in zip(self.totals, self.demanded, strict=True)
        )

    @property
    def rest(self) -> str:
        """A sentence on the requirements that are in no row; empty if there are none."""
        number = len(self.unjudged)
        if not number:
            return ""
        return f"{number:,} requirements have no verdict in any of these runs; --json and --html list them"

    def to_json(self) -> dict[str, Json]:
        """Return the object that `--json` prints."""
        return {
            "columns": list(self.columns),
            "totals": [
                {**_json(total), "demanded": demanded}
                for total, demanded in zip(self.totals, self.demanded, strict=True)
            ],
            "conclusions": list(self.headlines),
            "gates": [None if one is None else one.to_json() for one in self.decisions],
            "unjudged": list(self.unjudged),
            "sections": [
                {
                    "document": line.document,
                    "section": line.section,
                    "title": line.title,
                    "cells": [_json(one) for one in line.cells],
                }
                for line in self.lines
            ],
        }


def matrix(runs: Sequence[Run], decisions: Sequence[Decision | None] = ()) -> Matrix:
    """Return the matrix of the runs, in the order given, without sections that none of them judged.

    decisions: the gate's, one a run; empty if there is no gate.
    """
    every = [Excused(run, decision) for run, decision in zip(runs, decisions or [None] * len(runs), strict=True)]
    tables = [roll_up(run) for run in runs]
    sections: dict[tuple[str, str], Section] = {}
    found: list[dict[tuple[str, str], Cell]] = []
    for table, excused in zip(tables, every, strict=True):
        states = excused.states()
        cells: dict[tuple[str, str], Cell] = {}
        for section in table.sections:
            key = (section.document, section.number)
            sections.setdefault(key, section)
            if section.outcome is not None:
                cells[key] = cell_of(section.rows, excused, states)
        found.append(cells)
    empty = Cell(None, 0, 0)
    lines = tuple(
        Line(
            document,
            number,
            sections[document, number].title,
            tuple(cells.get((document, number), empty) for cells in found),
        )
        for document, number in sorted(sections, key=_place)
        if any((document, number) in cells for cells in found)
    )
    totals = tuple(cell_of(table.rows, excused, excused.states()) for table, excused in zip(tables, every, strict=True))
    silent = {row.id: row for table in tables for row in table.rows}
    for table in tables:
        for row in table.rows:
            if row.outcome is not None:
                silent.pop(row.id, None)
    return Matrix(
        _names(runs),
        lines,
        totals,
        tuple(table.demanded for table in tables),
        tuple(one.decision for one in every),
        tuple(row.id for row in sorted(silent.values(), key=place)),
        tuple(one.result.headline for one in every),
    )


def matrix_markdown(found: Matrix) -> str:
    """Return the matrix as one Markdown table."""
    head = ["section", *found.columns]
    rows = [
        [f"{line.document} {line.section} {line.title}".rstrip(), *(one.text for one in line.cells)]
        for line in found.lines
    ]
    rows.append(["all", *(total.text for total in found.totals)])
    rows.append(["requirements judged", *found.judged])
    rows.append(["conclusion", *found.headlines])
    lines = [f"| {' | '.join(cell(text) for text in row)} |" for row in [head, *rows]]
    lines.insert(1, f"|{'---|' * len(head)}")
    if found.rest:
        lines += ["", f"{found.rest}."]
    return "\n".join(lines) + "\n"


def cell_of(rows: Iterable[RequirementRow | None], excused: Excused, states: Mapping[str, str]) -> Cell:
    """Return the cell of these requirements of one run. states: those of `excused.states()`."""
    counted = [row for row in rows if row is not None]
    stands = Counter(excused.state(states, row.id, row.outcome) for row in counted if row.outcome is not None)
    found = worst(row.outcome for row in counted if row.outcome is not None)
    wrong = found is not None and deviates(found, excused.strict)
    return Cell(
        found,
        passed=sum(row.demanded and row.outcome is Outcome.PASS for row in counted),
        judged=sum(row.demanded and row.judged for row in counted),
        known=stands[KNOWN],
        excused=bool(wrong and stands[KNOWN] and not stands[NEW]),
    )


def _names(runs: Sequence[Run]) -> tuple[str, ...]:
    names: list[str] = []
    for run in runs:
        name, number = column(run), 1
        while name in names:
            number += 1
            name = f"{column(run)} ({number})"
        names.append(name)
    return tuple(names)


def _place(key: tuple[str, str]) -> tuple[str, tuple[int, ...]]:
    document, number = key
    return document, tuple(int(part) if part.isdigit() else 0 for part in number.split("."))


def _json(one: Cell) -> dict[str, Json]:
    return {
        "outcome": one.outcome.value if one.outcome else None,
        "passed": one.passed,
        "judged": one.judged,
        "known": one.known,
        "excused": one.excused,
    }


MAX_RUNS = 8
"""Columns that fit on a page."""
MAX_DIFFERENCES = 300
"""Differing requirements listed before the tree; the tree has them all."""
MAX_TEXTS = 3_000
"""Outcomes other than pass that get a short text each."""
_WORDS = 240


class TooManyRuns(ValueError):
    """More runs than the page has columns. The message is one sentence."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One requirement in all runs."""

    row: RequirementRow
    each: tuple[RequirementRow | None, ...]

    @property
    def outcomes(self) -> tuple[Outcome | None, ...]:
        """The outcome in each run, None for a run without a verdict on it."""
        return tuple(None if row is None else row.outcome for row in self.each)

    @property
    def differs(self) -> bool:
        """Two runs that have a verdict on it disagree."""
        return len({outcome for outcome in self.outcomes if outcome is not None}) > 1


def render_comparison(runs: Sequence[Run], decisions: Sequence[Decision | None] = ()) -> str:
    """Return the runs side by side as one HTML document, in the order given. Raises TooManyRuns beyond MAX_RUNS.

    Every requirement that binds a profile and that a run can check is listed, also if no run has a verdict on it.
    decisions: the gate's, one a run; empty if there is no gate.
    """
    if len(runs) > MAX_RUNS:
        raise TooManyRuns(f"A page has room for {MAX_RUNS} runs, not for {len(runs)}; name fewer.")
    tables = [roll_up(run) for run in runs]
    side_by_side = matrix(runs, decisions)
    names = [label(name, 120) for name in side_by_side.columns]
    every = [Excused(run, decision) for run, decision in zip(runs, side_by_side.decisions, strict=True)]
    lines = _lines(tables)
    documents, rows = _tree(lines, every)
    texts = _texts(runs)
    differing = sorted((line for line in lines.values() if line.differs), key=_worst_first)
    known = [frozenset(excused.excuses) for excused in every]
    present = {outcome for line in lines.values() for outcome in line.outcomes}
    return render_page(
        "comparison.html.j2",
        ("base.js", "columns.js", "tree.js"),
        summary_json=None,
        data_json=json_block(_data(names, rows, texts, known)),
        names=names,
        runs=[_run(one, table, name) for one, table, name in zip(every, tables, names, strict=True)],
        gated=any(one.decision is not None for one in every),
        silent=len(side_by_side.unjudged),
        incomplete=[name for run, name in zip(runs, names, strict=True) if not run.complete],
        filters=[outcome.value for outcome in Outcome if outcome in present]
        + (["not judged"] if None in present else []),
        differences=[_difference(line, known) for line in differing[:MAX_DIFFERENCES]],
        differences_more=max(0, len(differing) - MAX_DIFFERENCES),
        documents=documents,
        readings=_readings(runs),
    )


def _lines(tables: Sequence[Table]) -> dict[str, _Line]:
    """Return every requirement that a run counts, in the order of the documents."""
    rows: dict[str, RequirementRow] = {}
    found = [{row.id: row for row in table.rows} for table in tables]
    for each in found:
        rows = {**each, **rows}
    lines = (_Line(row, tuple(each.get(row.id) for each in found)) for row in sorted(rows.values(), key=place))
    return {
        line.row.id: replace(line, row=replace(line.row, outcome=worst(one for one in line.outcomes if one)))
        for line in lines
    }


def _worst_first(line: _Line) -> int:
    return line.row.outcome.rank if line.row.outcome else len(Outcome)


def _tree(lines: Mapping[str, _Line], every: Sequence[Excused]) -> tuple[list[dict[str, Any]], list[_Line]]:
    """Return (documents for the template, the lines in the order of the page)."""
    sections: dict[tuple[str, str], list[RequirementRow]] = {}
    for line in lines.values():
        sections.setdefault((line.row.document, line.row.section), []).append(line.row)
    rows: list[_Line] = []
    states = [excused.states() for excused in every]

    def cells(found: Iterable[Node]) -> list[Cell]:
        listed = [lines[row.id] for each in found for row in each.rows]
        return [cell_of((line.each[at] for line in listed), excused, states[at]) for at, excused in enumerate(every)]

    def node(one: Node) -> dict[str, Any]:
        begin = len(rows)
        rows.extend(lines[row.id] for row in one.rows)
        return {
            "number": one.number,
            "title": one.title,
            "outcome": one.outcome.value if one.outcome else "none",
            "cells": cells(one.walk()),
            "begin": begin,
            "own": len(one.rows),
            "more": one.more,
            "children": [node(child) for child in one.children],
        }

    found = trees(
        Section(document, number, section_title(document, number), tuple(members))
        for (document, number), members in sections.items()
    )
    documents = [
        {
            "name": name,
            "address": address(name),
            "cells": cells(each for top in chapters for each in top.walk()),
            "nodes": [node(chapter) for chapter in chapters],
        }
        for name, chapters in found.items()
    ]
    return documents, rows


def _texts(runs: Sequence[Run]) -> list[dict[str, str]]:
    """Return for each run a text on each outcome but pass: the subject, and what was observed or the reason."""
    out: list[dict[str, str]] = []
    left = MAX_TEXTS
    for run in runs:
        worst_of: dict[str, tuple[int, str]] = {}
        for said in run.said:
            known = worst_of.get(said.requirement)
            if said.outcome is Outcome.PASS or (known is not None and known[0] <= said.outcome.rank):
                continue
            if known is None and left <= 0:
                continue
            left -= known is None
            verdict = run.first(said).verdict
            seen = value_text(verdict.actual, _WORDS) if verdict.actual is not None else verdict.reason or ""
            text = label(f"{label(verdict.subject, 80)}: {' '.join(seen.split())}", _WORDS)
            worst_of[verdict.requirement] = verdict.outcome.rank, text
        out.append({name: text for name, (_, text) in worst_of.items()})
    return out


def _data(
    names: Sequence[str], rows: Sequence[_Line], texts: Sequence[Mapping[str, str]], known: Sequence[frozenset[str]]
) -> Json:
    """Return the data from which `columns.js` draws the requirements. known: for each run, the excused requirements."""
    return {
        "outcomes": [outcome.value for outcome in Outcome],
        "levels": list(LEVELS),
        "names": list(names),
        "rows": [
            [
                label(line.row.id),
                line.row.demand.says if line.row.demand else "Not in this version's catalogue",
                outcome_rank(line.row.outcome),
                level_rank(line.row),
                [outcome_rank(outcome) for outcome in line.outcomes],
                [each.get(line.row.id, "") for each in texts],
                line.row.demand.product or "" if line.row.demand else "",
                [int(line.row.id in each) for each in known],
            ]
            for line in rows
        ],
    }


def _difference(line: _Line, known: Sequence[frozenset[str]]) -> dict[str, Any]:
    demand = line.row.demand
    return {
        "id": label(line.row.id),
        "says": demand.says if demand else "Not in this version's catalogue",
        "where": label(f"{line.row.document} {line.row.section}".strip(), 60),
        "level": demand.level if demand else LEVELS[0],
        "worst": line.row.outcome.value if line.row.outcome else "none",
        "outcomes": [
            KNOWN if line.row.id in excused else outcome.value if outcome else "none"
            for outcome, excused in zip(line.outcomes, known, strict=True)
        ],
    }


def _run(excused: Excused, table: Table, name: str) -> dict[str, Any]:
    run, result = excused.run, excused.result
    header = run.header
    return {
        "name": name,
        "implementation": label(implementation(run), 120),
        "headline": result.headline + ("" if run.complete else ", in what was recorded"),
        "tone": result.tone,
        "how": label(f"{table.profile}, level {header.level or 'must'}, {header.reading_set or 'windows'}", 80),
        "started": label(header.started[:16].replace("T", " "), 40),
        "judged": table.judged,
        "demanded": table.demanded,
        "counts": [(outcome.value, number) for outcome, number in table.counts.items()],
        "bar": bar(table.counts, max(1, sum(table.counts.values()))),
    }


def _readings(runs: Sequence[Run]) -> list[tuple[str, list[str]]]:
    """Return the readings that two runs followed differently: (reading, the alternative of each run or empty)."""
    found = [{label(name): label(chosen) for name, chosen, _ in followed(run)} for run in runs]
    names = sorted({name for each in found for name in each})
    lines = [(name, [each.get(name, "") for each in found]) for name in names]
    return [(name, chosen) for name, chosen in lines if len(set(filter(None, chosen))) > 1]
