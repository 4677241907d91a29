"""A run in one JSON object: what `--json` prints and what the HTML report embeds for machines."""

from __future__ import annotations

from conformance.calling import calls
from conformance.report.findings import followed
from conformance.report.table import conclusion, roll_up
from conformance.report.transitions import transitions
from conformance.runlog import Run
from conformance.verdict import Json, Outcome


def summary(run: Run) -> dict[str, Json]:
    """The run as a JSON object, all keys always present.

    verdicts: verdicts by outcome, repeats included. requirements: requirements by outcome. coverage: requirements this
    run says something about, out of those that bind the profile and that a run can check. judgements: by rule, and by
    suite and phase; null where the record does not count them. sections: one object a
    section that has a verdict. failures: requirement ids of the outcomes that exit 1 or 4. exit_code: what the verdicts
    ask for; the command that made the run may know of a worse end.
    """
    table = roll_up(run)
    header, footer = run.header, run.footer
    hello = run.hello or {}
    code = conclusion(run)
    failing = {Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY, Outcome.ERROR}
    if header.reading_set == "strict":
        failing.add(Outcome.READING)
    return {
        "run_id": header.run_id,
        "complete": run.complete,
        "problems": list(run.problems),
        "started": header.started,
        "ended": footer.ended if footer else None,
        "stop_reason": footer.stop_reason if footer else None,
        "exit_code": int(code),
        "conclusion": code.name.lower().replace("_", "-"),
        "implementation": {name: hello.get(name) for name in ("name", "version", "profile")},
        "connector": header.connector,
        "captures": list(header.captures),
        "profile": table.profile,
        "level": header.level,
        "reading_set": header.reading_set,
        "readings_followed": {reading: chosen for reading, chosen, _ in followed(run)},
        "seed": header.seed,
        "verdicts": {outcome.value: number for outcome, number in run.counts.items()},
        "requirements": {outcome.value: number for outcome, number in table.counts.items()},
        "coverage": {"judged": table.judged, "demanded": table.demanded},
        "stateful_steps": footer.stateful_steps if footer else None,
        "steps_per_second": footer.steps_per_second if footer else None,
        "examples": footer.examples if footer else None,
        "transitions": {
            table.table: {"followed": table.followed, "of": len(table.counts), "never": list(table.missing)}
            for table in transitions(run)
        },
        "judgements": None if run.tally is None else run.tally.to_json(),
        "packets": len(run.packets),
        "failures": [row.id for row in table.rows if row.outcome in failing],
        "sections": [
            {
                "document": section.document,
                "section": section.number,
                "title": section.title,
                "outcome": section.outcome.value,
                "requirements": {outcome.value: number for outcome, number in sorted_counts(section.counts).items()},
                "demanded": len(section.rows),
            }
            for section in table.sections
            if section.outcome is not None
        ],
    }


def sorted_counts(counts: dict[Outcome, int]) -> dict[Outcome, int]:
    """The same counts, worst outcome first."""
    return {outcome: counts[outcome] for outcome in Outcome if counts.get(outcome)}


calls(__name__, "summary")
