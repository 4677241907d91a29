"""The summary of a run as one JSON object: `--json` prints it, and the HTML report embeds it for programs."""

from __future__ import annotations

from collections.abc import Collection

from conformance.calling import calls
from conformance.report.covered import numbers
from conformance.report.diagnosis import diagnosis_of
from conformance.report.excused import Excused
from conformance.report.findings import followed
from conformance.report.gate import Decision
from conformance.report.quirks import quirks
from conformance.report.situations import situations
from conformance.report.table import Table, roll_up
from conformance.report.timing import seconds
from conformance.report.transitions import transitions
from conformance.runlog import Run
from conformance.runlog.as_recorded import as_recorded
from conformance.runlog.left_out import left_out
from conformance.verdict import ExitCode, Json, Outcome

_WORDS = {ExitCode.BAD_INPUT: "incomplete"}


def summary(run: Run, caught: Collection[str] | None = None, decision: Decision | None = None) -> dict[str, Json]:
    """Return the run as a JSON object; all keys are always present.

    verdicts: verdicts by outcome, repeats included. requirements: requirements by outcome. coverage: how many
    requirements are `demanded` (`conformance.spec.demanded`), how many of them this run judged, how many a check
    claims, and how many are discriminated by mutations or by the selftest whose catches `caught` is; `beside`: judged,
    but not demanded; `left`: not judged, by what is missing (`coverage.LEFT`). not_judged: ids without a verdict, by
    the reason why. conditions: how many requirements had their condition brought about; and those for which it did not
    come at some place, with how often it came and did not. situations: see
    `conformance.report.situations.Covered`; null without planned histories. judgements: by rule, and by suite and
    phase; null if the record does not count them. sections: one object for each section that has a verdict. failures:
    ids of requirements with an outcome that makes the command exit with 1 or 4. exit_code: the code that the verdicts
    demand; the command that made the run may have ended with a worse one. incomplete: what captures lack, null if
    nothing. left_out: see `conformance.runlog.left_out.LeftOut`; null if all tests ran to their end. as_recorded:
    requirements that `judge` could not judge again. diagnosis: see `conformance.report.diagnosis.Diagnosis`; null
    unless `diagnose` has looked at the record. quirks: those that the run went on behind. gate: its decision, with
    known and new deviations, null without a gate; with one, exit_code and conclusion are the gate's. seconds: from
    the start to the end, null if no end is recorded.
    """
    table = roll_up(run)
    covered = numbers(run, table.profile, caught)
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
        "coverage": {
            "judged": table.judged,
            "demanded": table.demanded,
            "claimed": covered.total.claimed,
            "discriminated": covered.total.discriminated,
            "beside": table.beside,
            "left": dict(covered.left),
        },
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
        "judgements": None if run.tally is None else run.tally.to_json(),
        "packets": len(run.packets),
        "failures": [row.id for row in table.rows if row.outcome in failing],
        "diagnosis": None if diagnosis is None else diagnosis.to_json(),
        "quirks": [quirk.to_json() for quirk in quirks(run)],
        "gate": None if decision is None else decision.to_json(),
        "sections": [
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
        ],
    }


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
