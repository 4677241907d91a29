"""The facts at the top of a report: date, label, connector, captures, seed, duration, and what was left out."""

from __future__ import annotations

from datetime import UTC, datetime

from conformance.report.text import label
from conformance.report.timing import in_words, seconds
from conformance.runlog import Run
from conformance.runlog.left_out import left_out as tests_left_out

_STOPPED = {
    "max-failures": "The run stopped at its limit of deviations (--max-failures).",
    "budget": "The time budget was too short for all tests.",
    "interrupted": "The run was interrupted.",
    "driver-unusable": "The run ended because the driver could not be used.",
    "error": "The run ended with an error of the harness.",
}


def facts(run: Run) -> list[tuple[str, str]]:
    """Return (name, value) of each fact, bounded and printable; an unknown duration reads `not recorded`."""
    header = run.header
    took = seconds(run)
    captures = ", ".join(label(path, 120) for path in header.captures[:3])
    more = len(header.captures) - 3
    found = [
        ("Date", date(header.started)),
        ("Label", label(header.label, 120) if header.label else None),
        ("Connector", label(header.connector, 200) if header.connector else None),
        ("Captures", f"{captures} and {more:,} more" if more > 0 else captures),
        ("Seed", None if header.seed is None else label(header.seed, 40)),
        ("Duration", "not recorded" if took is None else in_words(took)),
        ("Left out", "; ".join(left_out(run)) or "nothing, as far as the record shows"),
    ]
    return [(name, value) for name, value in found if value]


def left_out(run: Run) -> list[str]:
    """Describe what this run lacks, a few words each: tests not run, bytes missing in captures, parts of the record."""
    tests, reason = tests_left_out(run), stopped(run)
    told = label(tests.sentence, 1_000) if tests is not None else reason
    return [
        *([told.rstrip(".")] if told else []),
        *([f"the captures lack: {run.incomplete.words}"] if run.incomplete else []),
        *(["a part of the record, see below"] if not run.complete else []),
    ]


def stopped(run: Run) -> str | None:
    """Return why the run ended early, None if it did not."""
    return _STOPPED.get(run.footer.stop_reason) if run.footer else None


def date(started: str) -> str:
    """Format a date as `2026-11-22 14:05:06 UTC`; an invalid one is shown as it was recorded."""
    try:
        return datetime.fromisoformat(started).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return label(started, 40)
