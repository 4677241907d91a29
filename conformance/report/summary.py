"""The facts at the top of a report, its durations, and the summary of a run as one JSON object."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import TypeAlias

from conformance.calling import calls
from conformance.report.coverage import numbers
from conformance.report.findings import diagnosis_of, followed, quirks
from conformance.report.gate import Decision, Excused
from conformance.report.situations import situations
from conformance.report.table import Table, roll_up
from conformance.report.text import label
from conformance.report.transition_pictures import transitions
from conformance.runlog import Run
from conformance.runlog.run import as_recorded, largest, left_out
from conformance.runlog.run import left_out as tests_left_out
from conformance.verdict import ExitCode, Json, Outcome

Times: TypeAlias = dict[tuple[str, str], float]
"""Seconds by suite and requirement."""


def times(run: Run) -> Times:
    """Return the time spent on each requirement: a test's time is shared evenly among the requirements it judged.

    The sum is the time of all tests. Empty for a record without times.
    """
    judged: dict[str, set[tuple[str, str]]] = {}
    for number, said in run.numbered() if run.took else ():
        test = run.verdicts.at(number).test
        if test in run.took:
            judged.setdefault(test, set()).add((said.suite, said.requirement))
    spent: Times = {}
    for test, keys in judged.items():
        for key in keys:
            spent[key] = spent.get(key, 0.0) + run.took[test] / 1000 / len(keys)
    return spent


def seconds(run: Run) -> float | None:
    """Return the seconds from the start to the end of the run; None if no end is recorded, or a time is invalid."""
    if run.footer is None:
        return None
    try:
        began, ended = (datetime.fromisoformat(at) for at in (run.header.started, run.footer.ended))
        return max(0.0, round((ended - began).total_seconds(), 3))
    except (ValueError, TypeError):
        return None


def in_words(duration: float) -> str:
    """Format a duration in seconds: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 4 min`."""
    if duration < 10:
        return f"{duration:.1f} s"
    whole = round(duration)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60:,} h {minutes % 60} min"


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
        ("Left out", "; ".join(parts_left_out(run)) or "nothing, as far as the record shows"),
    ]
    return [(name, value) for name, value in found if value]


def parts_left_out(run: Run) -> list[str]:
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


_WORDS = {ExitCode.BAD_INPUT: "incomplete"}


def summary(run: Run, caught: Collection[str] | None = None, decision: Decision | None = None) -> dict[str, Json]:
    """Return the run as a JSON object; all keys are always present.

    verdicts: verdicts by outcome, repeats included. requirements: requirements by outcome. coverage: how many
    requirements are `demanded` (`conformance.spec.catalogue`), how many of them this run judged, how many a check
    claims, and how many are discriminated by mutations or by the selftest whose catches `caught` is; `beside`: judged,
    but not demanded; `left`: not judged, by what is missing (`coverage.LEFT`). not_judged: ids without a verdict, by
    the reason why. conditions: how many requirements had their condition brought about; and those for which it did not
    come at some place, with how often it came and did not. situations: see
    `conformance.report.situations.Covered`; null without planned histories. limits: the longest values that
    the run sent, see `conformance.runlog.run.Largest`. judgements: by rule, and by suite and
    phase; null if the record does not count them. sections: one object for each section that has a verdict. failures:
    ids of requirements with an outcome that makes the command exit with 1 or 4. exit_code: the code that the verdicts
    demand; the command that made the run may have ended with a worse one. incomplete: what captures lack, null if
    nothing. left_out: see `conformance.runlog.run.LeftOut`; null if all tests ran to their end. as_recorded:
    requirements that `judge` could not judge again. diagnosis: see `conformance.report.findings.Diagnosis`; null
    unless `diagnose` has looked at the record. quirks: those that the run went on behind. gate: its decision, with
    known and new deviations, null without a gate; with one, exit_code and conclusion are the gate's. seconds: from
    the start to the end, null if no end is recorded.
    """
    table = roll_up(run)
    header, footer = run.header, run.footer
    hello = run.hello or {}
    code = Excused(run, decision).result.code
    left, planned = left_out(run), situations(run)
    diagnosis = diagnosis_of(run)
    failing = {Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY, Outcome.ERROR}
    if header.reading_set == "strict":
        failing.add(Outcome.READING)
    return {
        "run_id": header.run_id,
        "complete": run.complete,
        "problems": list(run.problems),
        "sealed": run.sealed,
        "started": header.started,
        "ended": footer.ended if footer else None,
        "seconds": seconds(run),
        "stop_reason": footer.stop_reason if footer else None,
        "left_out": None if left is None else left.to_json(),
        "as_recorded": as_recorded(run),
        "exit_code": int(code),
        "conclusion": _WORDS.get(code) or code.name.lower().replace("_", "-"),
        "implementation": {name: hello.get(name) for name in ("name", "version", "profile")},
        "connector": header.connector,
        "label": header.label,
        "captures": list(header.captures),
        "incomplete": run.incomplete.to_json() if run.incomplete else None,
        "profile": table.profile,
        "level": header.level,
        "reading_set": header.reading_set,
        "readings_followed": {reading: chosen for reading, chosen, _ in followed(run)},
        "seed": header.seed,
        "verdicts": {outcome.value: number for outcome, number in run.counts.items()},
        "requirements": {outcome.value: number for outcome, number in table.counts.items()},
        "coverage": _coverage(run, table, caught),
        "not_judged": _without_verdict(table),
        "conditions": {
            "met": sum(row.met > 0 for row in table.rows),
            "not_met": {row.id: {"met": row.met, "not_met": row.unmet} for row in table.rows if row.unmet},
        },
        "stateful_steps": footer.stateful_steps if footer else None,
        "steps_per_second": footer.steps_per_second if footer else None,
        "examples": footer.examples if footer else None,
        "transitions": {
            table.table: {"followed": table.followed, "of": len(table.counts), "never": list(table.missing)}
            for table in transitions(run)
        },
        "situations": None if planned is None else planned.to_json(),
        "limits": {
            kind: {"within": one.within, "above": one.above, "most": one.most} for kind, one in largest(run).items()
        },
        "judgements": None if run.tally is None else run.tally.to_json(),
        "packets": len(run.packets),
        "failures": [row.id for row in table.rows if row.outcome in failing],
        "diagnosis": None if diagnosis is None else diagnosis.to_json(),
        "quirks": [quirk.to_json() for quirk in quirks(run)],
        "gate": None if decision is None else decision.to_json(),
        "sections": _sections(table),
    }


def _coverage(run: Run, table: Table, caught: Collection[str] | None) -> dict[str, Json]:
    covered = numbers(run, table.profile, caught)
    return {
        "judged": table.judged,
        "demanded": table.demanded,
        "offered": table.offered,
        "claimed": covered.total.claimed,
        "discriminated": covered.total.discriminated,
        "beside": table.beside,
        "left": dict(covered.left),
    }


def _sections(table: Table) -> list[Json]:
    return [
        {
            "document": section.document,
            "section": section.number,
            "title": section.title,
            "outcome": section.outcome.value,
            "requirements": {outcome.value: number for outcome, number in sorted_counts(section.counts).items()},
            "demanded": section.demanded,
        }
        for section in table.sections
        if section.outcome is not None
    ]


def sorted_counts(counts: dict[Outcome, int]) -> dict[Outcome, int]:
    """Return the same counts, worst outcome first."""
    return {outcome: counts[outcome] for outcome in Outcome if counts.get(outcome)}


calls(__name__, "summary")


def _without_verdict(table: Table) -> dict[str, Json]:
    """Return the demanded requirements that the run has no verdict on, by the reason."""
    found: dict[str, list[str]] = {}
    for row in table.rows:
        if row.outcome is None and row.demanded:
            found.setdefault(row.reason or "unknown", []).append(row.id)
    return {reason: found[reason] for reason in sorted(found)}
