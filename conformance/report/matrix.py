"""The matrix of several runs: implementations as columns, sections of the documents as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from conformance.report.comparison_key import column, deviates
from conformance.report.diff import cell
from conformance.report.excused import KNOWN, NEW, Excused
from conformance.report.gate import Decision
from conformance.report.table import RequirementRow, Section, place, roll_up
from conformance.runlog import Run
from conformance.verdict import Json, Outcome, worst


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


def markdown(found: Matrix) -> str:
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
