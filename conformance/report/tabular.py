"""Verdicts as a table with one row each: CSV for spreadsheets."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.files import aside
from conformance.report.gate import Decision, Excused
from conformance.report.text import visible
from conformance.runlog import RecordedVerdict, Run
from conformance.spec.catalogue import Requirement, catalogue

if TYPE_CHECKING:
    pass

COLUMNS = {
    "run_id": str,
    "started": str,
    "implementation": str,
    "implementation_version": str,
    "connector": str,
    "profile": str,
    "reading_set": str,
    "requirement": str,
    "document": str,
    "section": str,
    "level": str,
    "role": str,
    "outcome": str,
    "subject": str,
    "expected": str,
    "actual": str,
    "readings": str,
    "reason": str,
    "suite": str,
    "test": str,
    "verdict": str,
    "count": int,
    "evidence_kind": str,
    "evidence_ref": str,
    "repro": str,
    "label": str,
    "state": str,
}
"""Column name to type. level: the requirement's. expected, actual, readings: JSON. verdict: its id in the record.
label: the user's name for the run. state: `known` or `new` for a deviation if there is a gate."""

MAX_CELL = 32_000
"""Characters of one cell of a CSV file: the limit of spreadsheets."""

# A spreadsheet takes a cell that begins with one of these for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def rows(run: Run, decision: Decision | None = None) -> Iterator[dict[str, str | int | None]]:
    """Yield the verdicts in the order of the record, each as a mapping with all of `COLUMNS`."""
    header = run.header
    hello = run.hello or {}
    known = catalogue().requirements
    whole: dict[str, str | int | None] = {
        "run_id": header.run_id,
        "started": header.started,
        "implementation": _maybe(hello.get("name")),
        "implementation_version": _maybe(hello.get("version")),
        "connector": header.connector,
        "profile": header.profile,
        "reading_set": header.reading_set,
        "label": header.label,
    }
    excused = Excused(run, decision)
    states = excused.states()
    for recorded in run.verdicts:
        story = run.story(recorded.id)
        repro = story.repro if story is not None else None
        verdict = recorded.verdict
        state = excused.state(states, verdict.requirement, verdict.outcome)
        yield {**whole, **_row(recorded, known.get(verdict.requirement)), "repro": repro, "state": state}


def write_csv(run: Run, path: Path, decision: Decision | None = None) -> int:
    """Write the verdicts as CSV (RFC 4180, UTF-8, a line of names first) and return the number of rows. Raises OSError.

    Invisible characters are written as escapes, cells longer than `MAX_CELL` are cut, and a cell that a spreadsheet
    would take for a formula begins with an apostrophe.
    """
    with aside(path) as draft, draft.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\r\n")
        writer.writerow(COLUMNS)
        for row in rows(run, decision):
            writer.writerow([_cell(row[name]) for name in COLUMNS])
    return len(run.verdicts)


def _row(recorded: RecordedVerdict, demand: Requirement | None) -> dict[str, str | int | None]:
    verdict = recorded.verdict
    evidence = verdict.evidence
    return {
        "requirement": verdict.requirement,
        "document": demand.document if demand else None,
        "section": demand.section if demand else None,
        "level": demand.level if demand else None,
        "role": demand.role if demand else None,
        "outcome": verdict.outcome.value,
        "subject": verdict.subject,
        "expected": _json(verdict.expected),
        "actual": _json(verdict.actual),
        "readings": _json(dict(verdict.readings)) if verdict.readings else None,
        "reason": verdict.reason,
        "suite": recorded.suite,
        "test": recorded.test,
        "verdict": recorded.id,
        "count": min(recorded.count, (1 << 63) - 1),
        "evidence_kind": evidence.kind if evidence else None,
        "evidence_ref": evidence.ref if evidence else None,
    }


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _maybe(value: object) -> str | None:
    return None if value is None else str(value)


def _cell(value: str | int | None) -> str | int:
    if value is None or isinstance(value, int):
        return "" if value is None else value
    text = visible(value[:MAX_CELL])
    return f"'{text}" if value.startswith(_FORMULA) else text
