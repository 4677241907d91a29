"""The comparison page of several runs: implementations as columns, sections and their requirements as rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.report.comparison_key import implementation
from conformance.report.excused import KNOWN, Excused
from conformance.report.findings import followed
from conformance.report.gate import Decision
from conformance.report.html import bar
from conformance.report.matrix import Cell, cell_of, matrix
from conformance.report.page import json_block, render_page
from conformance.report.table import RequirementRow, Section, Table, place, roll_up
from conformance.report.text import label, value_text
from conformance.report.titles import section_title
from conformance.report.tree import Node, address, level_rank, outcome_rank, trees
from conformance.runlog import Run
from conformance.spec.versions import LEVELS
from conformance.verdict import Json, Outcome, worst

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
