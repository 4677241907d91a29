"""Several runs on one page: implementations as columns, the documents' sections as rows, down to each requirement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.report.covered import SUBJECT
from conformance.report.findings import followed
from conformance.report.html import HEADLINES, bar
from conformance.report.matrix import Cell, matrix
from conformance.report.page import json_block, render_page
from conformance.report.table import Row, Section, Table, conclusion, place, roll_up
from conformance.report.text import label, value_text
from conformance.report.titles import section_title
from conformance.report.tree import Node, address, level_rank, outcome_rank, trees
from conformance.runlog import Run
from conformance.spec.versions import LEVELS
from conformance.verdict import Json, Outcome, worst

MAX_RUNS = 8
"""Columns that a page has room for."""
MAX_DIFFERENCES = 300
"""Requirements on which the runs differ that are listed before the tree, which has them all."""
MAX_TEXTS = 3_000
"""Outcomes other than pass that are told in a few words each."""
_WORDS = 240


class TooManyRuns(ValueError):
    """More runs than a page has columns for. The message is one sentence."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One requirement in all runs."""

    row: Row
    outcomes: tuple[Outcome | None, ...]

    @property
    def differs(self) -> bool:
        """Whether two runs that have a verdict on it disagree."""
        return len({outcome for outcome in self.outcomes if outcome is not None}) > 1


def render_comparison(runs: Sequence[Run]) -> str:
    """The runs side by side as one HTML document, in the order given. Raises TooManyRuns beyond MAX_RUNS.

    Requirements on which no run has a verdict are left out.
    """
    if len(runs) > MAX_RUNS:
        raise TooManyRuns(f"A page has room for {MAX_RUNS} runs, not for {len(runs)}; name fewer.")
    tables = [roll_up(run) for run in runs]
    names = [label(name, 120) for name in matrix(runs).columns]
    lines = _lines(tables)
    documents, rows = _tree(lines, len(runs))
    texts = _texts(runs)
    differing = sorted((line for line in lines.values() if line.differs), key=_worst_first)
    present = {outcome for line in lines.values() for outcome in line.outcomes}
    return render_page(
        "comparison.html.j2",
        ("base.js", "columns.js", "tree.js"),
        summary_json=None,
        data_json=json_block(_data(names, rows, texts)),
        names=names,
        runs=[_run(run, table, name) for run, table, name in zip(runs, tables, names, strict=True)],
        incomplete=[name for run, name in zip(runs, names, strict=True) if not run.complete],
        filters=[outcome.value for outcome in Outcome if outcome in present]
        + (["not judged"] if None in present else []),
        differences=[_difference(line) for line in differing[:MAX_DIFFERENCES]],
        differences_more=max(0, len(differing) - MAX_DIFFERENCES),
        documents=documents,
        readings=_readings(runs),
    )


def _lines(tables: Sequence[Table]) -> dict[str, _Line]:
    """Every requirement that a run has a verdict on, in the order of the documents."""
    rows: dict[str, Row] = {}
    found: list[Mapping[str, Outcome]] = []
    for table in tables:
        judged = {row.id: row for row in table.rows if row.outcome is not None}
        found.append({name: row.outcome for name, row in judged.items() if row.outcome is not None})
        rows = {**judged, **rows}
    return {
        row.id: _Line(
            replace(row, outcome=worst(each[row.id] for each in found if row.id in each)),
            tuple(each.get(row.id) for each in found),
        )
        for row in sorted(rows.values(), key=place)
    }


def _worst_first(line: _Line) -> int:
    return line.row.outcome.rank if line.row.outcome else len(Outcome)


def _tree(lines: Mapping[str, _Line], count: int) -> tuple[list[dict[str, Any]], list[_Line]]:
    """(documents for the template, the lines in the order in which the page names them)."""
    sections: dict[tuple[str, str], list[Row]] = {}
    for line in lines.values():
        sections.setdefault((line.row.document, line.row.section), []).append(line.row)
    rows: list[_Line] = []

    def node(one: Node) -> dict[str, Any]:
        begin = len(rows)
        rows.extend(lines[row.id] for row in one.rows)
        return {
            "number": one.number,
            "title": one.title,
            "outcome": one.outcome.value if one.outcome else "none",
            "cells": _cells((lines[row.id] for each in one.walk() for row in each.rows), count),
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
            "cells": _cells((lines[row.id] for top in chapters for each in top.walk() for row in each.rows), count),
            "nodes": [node(chapter) for chapter in chapters],
        }
        for name, chapters in found.items()
    ]
    return documents, rows


def _cells(lines: Iterable[_Line], count: int) -> list[Cell]:
    """One a run: its worst outcome here, and how many passed of those with a verdict."""
    found: list[Counter[Outcome]] = [Counter() for _ in range(count)]
    for line in lines:
        for each, outcome in zip(found, line.outcomes, strict=True):
            if outcome is not None:
                each[outcome] += 1
    return [Cell(worst(each), each[Outcome.PASS], each.total()) for each in found]


def _texts(runs: Sequence[Run]) -> list[dict[str, str]]:
    """For each run, what it did where it is not pass: subject and what was observed, or the reason."""
    out: list[dict[str, str]] = []
    left = MAX_TEXTS
    for run in runs:
        worst_of: dict[str, tuple[int, str]] = {}
        for recorded in run.verdicts:
            verdict = recorded.verdict
            known = worst_of.get(verdict.requirement)
            if verdict.outcome is Outcome.PASS or (known is not None and known[0] <= verdict.outcome.rank):
                continue
            if known is None and left <= 0:
                continue
            left -= known is None
            seen = value_text(verdict.actual, _WORDS) if verdict.actual is not None else verdict.reason or ""
            text = label(f"{label(verdict.subject, 80)}: {' '.join(seen.split())}", _WORDS)
            worst_of[verdict.requirement] = verdict.outcome.rank, text
        out.append({name: text for name, (_, text) in worst_of.items()})
    return out


def _data(names: Sequence[str], rows: Sequence[_Line], texts: Sequence[Mapping[str, str]]) -> Json:
    """What `columns.js` draws the requirements from."""
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
            ]
            for line in rows
        ],
    }


def _difference(line: _Line) -> dict[str, Any]:
    demand = line.row.demand
    return {
        "id": label(line.row.id),
        "says": demand.says if demand else "Not in this version's catalogue",
        "where": label(f"{line.row.document} {line.row.section}".strip(), 60),
        "level": demand.level if demand else LEVELS[0],
        "worst": line.row.outcome.value if line.row.outcome else "none",
        "outcomes": [outcome.value if outcome else "none" for outcome in line.outcomes],
    }


def _run(run: Run, table: Table, name: str) -> dict[str, Any]:
    headline, tone = HEADLINES[conclusion(run)]
    header = run.header
    four = [row for row in table.rows if row.document in SUBJECT]
    return {
        "name": name,
        "headline": headline + ("" if run.complete else ", in what was recorded"),
        "tone": tone if run.complete or tone == "bad" else "warn",
        "how": label(f"{table.profile}, level {header.level or 'must'}, {header.reading_set or 'windows'}", 80),
        "started": label(header.started[:16].replace("T", " "), 40),
        "judged": sum(row.judged for row in four),
        "demanded": len(four),
        "counts": [(outcome.value, number) for outcome, number in table.counts.items()],
        "bar": bar(table.counts, max(1, sum(table.counts.values()))),
    }


def _readings(runs: Sequence[Run]) -> list[tuple[str, list[str]]]:
    """The readings that two runs followed differently: (reading, what each followed, empty where it did neither)."""
    found = [{label(name): label(chosen) for name, chosen, _ in followed(run)} for run in runs]
    names = sorted({name for each in found for name in each})
    lines = [(name, [each.get(name, "") for each in found]) for name in names]
    return [(name, chosen) for name, chosen in lines if len(set(filter(None, chosen))) > 1]
