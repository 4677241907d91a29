"""`mqconform gate` and `baseline`: what is known to deviate."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conformance.cli.output import console, emit_json, fail, json_wanted
from conformance.cli.shared_options import AllowIncomplete, day, number
from conformance.files import write_text
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.report.gate import Decision
    from conformance.report.standing import Known, RunSummary
    from conformance.runlog import Run

app = typer.Typer(rich_markup_mode=None)
baseline_app = typer.Typer(help="Keep a file of known deviations.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(baseline_app, name="baseline")

Record = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or one part of a run record.")]
Against = Annotated[Path | None, typer.Option(metavar="RUN", help="An earlier run: its deviations count as known.")]
Baseline = Annotated[Path | None, typer.Option(metavar="TOML", help="Known deviations; see mqconform baseline.")]
Labels = Annotated[
    list[str] | None, typer.Option("--label", metavar="TEXT", help="Name of a run; once for each run, in order.")
]


@dataclass(frozen=True, slots=True)
class ExcuseOptions:
    """Sources of known deviations: an earlier run, a baseline file. allow_incomplete: captures may lack bytes."""

    against: Path | None = None
    baseline: Path | None = None
    allow_incomplete: bool = False


@app.command(epilog="Example: mqconform gate out --against last --baseline baseline.toml")
def gate(
    record: Record,
    against: Against = None,
    baseline: Baseline = None,
    floor: Annotated[
        int | None,
        number(
            "--floor", 0, 100_000, "Fewest requirements judged (default: 5% below RUN, or the number in the baseline)."
        ),
    ] = None,
    allow_incomplete: AllowIncomplete = False,
) -> None:
    """Fail for regressions only: new deviations, and checks that no longer judge anything."""
    run = read(record)
    decision = decided(run, against=against, baseline=baseline, floor=floor, allow_incomplete=allow_incomplete)
    if json_wanted():
        emit_json(decision.to_json())
    else:
        print_decision(decision)
    sys.exit(int(decision.exit_code))


@baseline_app.command("update", epilog="Example: mqconform baseline update out --reason 'no journals yet' --link URL")
def baseline_update(
    record: Record,
    baseline: Annotated[Path, typer.Option(metavar="TOML", help="The file.")] = Path("baseline.toml"),
    reason: Annotated[str, typer.Option(help="Why the new deviations are accepted for now.")] = "",
    link: Annotated[str, typer.Option(help="Where they are being dealt with.")] = "",
    expires: Annotated[date | None, day("--expires", "Last day of new entries (default: in 90 days).")] = None,
    renew: Annotated[
        bool, typer.Option("--renew", help="Extend expired entries that still fail by the same time.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
) -> None:
    """Update a baseline from a run: show the changes, and write them after you confirm."""
    from conformance.report.standing import BaselineError, standing, update

    run = read(record)
    now = standing(run)
    if now.undone is not None:
        fail(f"No baseline can be made from this run: {now.undone}.", ExitCode.BAD_INPUT)
    today = date.today()
    if expires is not None and expires < today:
        fail(f"{expires} has passed: give a future day with --expires.", ExitCode.BAD_INPUT)
    try:
        found = update(
            baseline, now, today=today, reason=reason, link=link, expires=expires, renew=renew, quirks=_quirks(run)
        )
    except BaselineError as error:
        fail(str(error), ExitCode.BAD_INPUT)
    written = bool(found.diff) and (yes or (not json_wanted() and _agreed(found.diff, baseline)))
    if written:
        try:
            write_text(baseline, found.text)
        except OSError as error:
            fail(f"{baseline} cannot be written ({error.strerror}).", ExitCode.BAD_INPUT)
    if json_wanted():
        parts = {"added": found.added, "removed": found.removed, "renewed": found.renewed}
        entries = {name: [entry.to_json() for entry in each] for name, each in parts.items()}
        emit_json({"written": written, "diff": found.diff, **entries})
    elif not found.diff:
        print(f"{baseline} {'stays unchanged' if _refused(baseline, now, today) else 'is up to date'}")
    elif yes:
        print(found.diff)
    if found.diff and not written:
        fail(f"{baseline} is not written; --yes writes it.", ExitCode.DEVIATES)
    refused = _refused(baseline, now, today)
    if refused:
        fail(refused, ExitCode.DEVIATES)


def read(record: Path) -> Run:
    """Read a run record. Ends the command if it is not one, or has no verdict."""
    from conformance.report.records import read_run
    from conformance.runlog import RunRecordError

    try:
        run = read_run(record)
    except RunRecordError as error:
        fail(str(error), ExitCode.BAD_INPUT)
    if not run.verdicts:
        fail(f"The run record {record} holds no verdict: nothing was judged.", ExitCode.NOTHING_JUDGED)
    return run


def decided(
    run: Run,
    *,
    against: Path | None,
    baseline: Path | None,
    floor: int | None = None,
    allow_incomplete: bool = False,
) -> Decision:
    """Return the gate's decision on a run. Ends the command for unusable input."""
    from conformance.report.gate import decide
    from conformance.report.standing import Floor, read_floor, standing

    before, entries = read_excuses(against=against, baseline=baseline)
    least = Floor(floor, "--floor") if floor is not None else None
    if least is None and baseline is not None:
        least = read_floor(baseline)
    now = standing(run)
    return decide(now, before=before, baseline=entries, floor=least, allow_incomplete=allow_incomplete)


def _quirks(run: Run) -> list[dict[str, Any]] | None:
    """Return the quirks of a run for its baseline, None if it has none and leaves those of the file."""
    from conformance.harness.known_deviations import QUIRK

    found = [one.data for one in run.evidence_of(QUIRK)]
    if not found:
        return None
    from conformance.explaining.quirks import tables

    return tables(found)


def read_excuses(*, against: Path | None, baseline: Path | None) -> tuple[RunSummary | None, tuple[Known, ...]]:
    """Return the earlier run and the known deviations. Ends the command for unusable input."""
    from conformance.report.standing import BaselineError, read_baseline, standing

    before = standing(read(against)) if against is not None else None
    try:
        return before, read_baseline(baseline) if baseline is not None else ()
    except BaselineError as error:
        fail(str(error), ExitCode.BAD_INPUT)


def decisions(runs: Sequence[Run], excusing: ExcuseOptions) -> list[Decision | None]:
    """Return the gate's decision on each run, None without known deviations. Ends the command for unusable input."""
    if excusing.against is None and excusing.baseline is None:
        return [None for _ in runs]
    return [
        decided(
            run,
            against=excusing.against,
            baseline=excusing.baseline,
            allow_incomplete=excusing.allow_incomplete,
        )
        for run in runs
    ]


def labelled(runs: Sequence[Run], labels: Sequence[str]) -> list[Run]:
    """Return the runs with these labels (none: their own). Ends the command unless there is a label for each."""
    from msgspec import structs

    from conformance.command_options import BadInput, check_label
    from conformance.runlog.counts import counted

    if not labels:
        return list(runs)
    if len(labels) != len(runs):
        told = f"{counted(len(labels), 'label')} for {counted(len(runs), 'run')}"
        fail(f"{told}: give --label once for each, in their order.", ExitCode.BAD_INPUT)
    try:
        named = [check_label(text) for text in labels]
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    return [replace(run, header=structs.replace(run.header, label=text)) for run, text in zip(runs, named, strict=True)]


def print_decision(decision: Decision) -> None:
    """Print the remarks and objections, one per line, and the closing line."""
    from conformance.report.text import label

    out = console()
    for remark in decision.remarks:
        out.print(f"note: {label(remark)}", markup=False, soft_wrap=True, highlight=False)
    for objection in decision.objections:
        line = f"{objection.kind:<11}{label(objection.what)}: {label(objection.why)}"
        out.print(line, markup=False, soft_wrap=True, highlight=False)
    out.print(label(decision.sentence), markup=False, soft_wrap=True, highlight=False)


def _refused(baseline: Path, now: RunSummary, today: date) -> str | None:
    """Return why the gate still refuses a run with this baseline, and what to do; None if it does not."""
    from conformance.report.gate import decide
    from conformance.report.standing import read_baseline

    entries = read_baseline(baseline) if baseline.exists() else ()
    found = decide(now, baseline=entries, today=today).objections
    todo = {
        "expired": "have expired: --renew extends them",
        "unseen": "were not judged by this run: update with a run that judges them, or remove them",
    }
    said = []
    for kind, what in todo.items():
        names = [one.what for one in found if one.kind == kind]
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            said.append(f"entries {what} ({names[0]}{more})")
    return f"The gate refuses {baseline}: {'; '.join(said)}." if said else None


def _agreed(diff: str, path: Path) -> bool:
    print(diff)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return typer.confirm(f"Write {path}?")
