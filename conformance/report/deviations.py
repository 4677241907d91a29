"""The deviations of a run as JSON objects, so that a program need not read the record."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from conformance.report.findings import MAX_STEPS, ReportedFinding, groups
from conformance.report.table import roll_up
from conformance.runlog import Run
from conformance.runlog.events import StoryStep
from conformance.verdict import Json

MOST = 500
"""Failures in the result: each may have a story of some hundred steps."""


def deviations(run: Run) -> dict[str, Json]:
    """Return `deviations`, an object for each failing verdict, worst first, and `deviations_left_out`, how many are
    left out.

    For each requirement the first few are included, those with the shortest story, and MOST in all; the record has all.
    """
    failures, _ = groups(run, roll_up(run))
    found = (finding for group in failures for finding in group.shown)
    told = [_told(run, finding) for finding in islice(found, MOST)]
    every = sum(len(group.shown) + group.more for group in failures)
    return {"deviations": told, "deviations_left_out": every - len(told)}


def _told(run: Run, finding: ReportedFinding) -> dict[str, Any]:
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
