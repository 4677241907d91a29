"""Several runs side by side: implementations as columns, sections of the documents as rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.report.diff import cell
from conformance.report.standing import named
from conformance.report.table import Section, roll_up
from conformance.runlog import Run
from conformance.verdict import Json, Outcome


@dataclass(frozen=True, slots=True)
class Cell:
    """One section in one run. outcome: its roll-up, None where it was not judged. passed, judged: requirements."""

    outcome: Outcome | None
    passed: int
    judged: int

    @property
    def text(self) -> str:
        """`pass 12/12`, or `-`."""
        return "-" if self.outcome is None else f"{self.outcome.value} {self.passed}/{self.judged}"


@dataclass(frozen=True, slots=True)
class Line:
    """One section in all runs."""

    document: str
    section: str
    title: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """columns: the runs' names, each once: a second one of the same name gets a number."""

    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    totals: tuple[Cell, ...]

    def to_json(self) -> dict[str, Json]:
        """What `--json` prints."""
        return {
            "columns": list(self.columns),
            "totals": [_json(total) for total in self.totals],
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


def matrix(runs: Sequence[Run]) -> Matrix:
    """The runs side by side, in the order given; sections that none of them judged are left out."""
    tables = [roll_up(run) for run in runs]
    sections: dict[tuple[str, str], Section] = {}
    found: list[dict[tuple[str, str], Cell]] = []
    for table in tables:
        cells: dict[tuple[str, str], Cell] = {}
        for section in table.sections:
            key = (section.document, section.number)
            sections.setdefault(key, section)
            if section.outcome is not None:
                cells[key] = _of(section)
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
    totals = tuple(
        Cell(run.worst, sum(one.passed for one in cells.values()), sum(one.judged for one in cells.values()))
        for run, cells in zip(runs, found, strict=True)
    )
    return Matrix(_names(runs), lines, totals)


def markdown(found: Matrix) -> str:
    """The matrix as one Markdown table."""
    head = ["section", *found.columns]
    rows = [
        [f"{line.document} {line.section} {line.title}".rstrip(), *(one.text for one in line.cells)]
        for line in found.lines
    ]
    rows.append(["all", *(total.text for total in found.totals)])
    lines = [f"| {' | '.join(cell(text) for text in row)} |" for row in [head, *rows]]
    lines.insert(1, f"|{'---|' * len(head)}")
    return "\n".join(lines) + "\n"


def _of(section: Section) -> Cell:
    return Cell(section.outcome, section.counts.get(Outcome.PASS, 0), section.judged)


def _names(runs: Sequence[Run]) -> tuple[str, ...]:
    names: list[str] = []
    for run in runs:
        name, number = named(run), 1
        while name in names:
            number += 1
            name = f"{named(run)} ({number})"
        names.append(name)
    return tuple(names)


def _place(key: tuple[str, str]) -> tuple[str, tuple[int, ...]]:
    document, number = key
    return document, tuple(int(part) if part.isdigit() else 0 for part in number.split("."))


def _json(one: Cell) -> dict[str, Json]:
    return {"outcome": one.outcome.value if one.outcome else None, "passed": one.passed, "judged": one.judged}
