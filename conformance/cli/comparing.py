"""`mqconform gate`, `baseline`, `diff` and `matrix`: runs held against each other."""

from __future__ import annotations

import sys
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conformance.cli.output import console, emit_json, fail
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.report.baseline import Known
    from conformance.report.gate import Decision
    from conformance.report.standing import Standing
    from conformance.runlog import Run

app = typer.Typer(rich_markup_mode=None)
baseline_app = typer.Typer(help="Deviations a team knows of.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(baseline_app, name="baseline")

Record = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or one part of a run record.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Level = Annotated[str | None, typer.Option(help="must, should or may; the run's own when left out.")]
Against = Annotated[Path | None, typer.Option(metavar="RUN", help="The run before: what deviated there is known.")]
Baseline = Annotated[Path | None, typer.Option(metavar="TOML", help="Known deviations; see mqconform baseline.")]


@app.command(epilog="Example: mqconform gate out --against last --baseline baseline.toml")
def gate(
    record: Record, against: Against = None, baseline: Baseline = None, level: Level = None, json: Json = False
) -> None:
    """Fail for regressions only: deviations that are new, and checks that judge nothing any more."""
    decision = decided(read(record), against=against, baseline=baseline, level=level)
    if json:
        emit_json(decision.to_json())
    else:
        print_decision(decision)
    sys.exit(int(decision.exit_code))


@baseline_app.command("update", epilog="Example: mqconform baseline update out --reason 'no journals yet' --link URL")
def baseline_update(
    record: Record,
    baseline: Annotated[Path, typer.Option(metavar="TOML", help="The file.")] = Path("baseline.toml"),
    reason: Annotated[str, typer.Option(help="Why what is new may stand for now.")] = "",
    link: Annotated[str, typer.Option(help="Where it is being dealt with.")] = "",
    expires: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Last day of new entries (default: in 90 days).")
    ] = None,
    renew: Annotated[
        bool, typer.Option("--renew", help="Entries that are over and still fail: as long again.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
    level: Level = None,
    json: Json = False,
) -> None:
    """Bring a baseline to how a run stands: show what would change, and write it once you agree."""
    from conformance.report.baseline import BaselineError, update
    from conformance.report.standing import standing

    now = standing(read(record), known_level(level))
    if now.undone is not None:
        fail(f"No baseline is made of this run: {now.undone}.", ExitCode.BAD_INPUT)
    last = expires.date() if expires is not None else None
    today = date.today()
    if last is not None and last < today:
        fail(f"{last} is over: name a day to come with --expires.", ExitCode.BAD_INPUT)
    try:
        found = update(baseline, now, today=today, reason=reason, link=link, expires=last, renew=renew)
    except BaselineError as error:
        fail(str(error), ExitCode.BAD_INPUT)
    written = bool(found.diff) and (yes or (not json and _agreed(found.diff, baseline)))
    if written:
        try:
            baseline.write_text(found.text, encoding="utf-8")
        except OSError as error:
            fail(f"{baseline} cannot be written ({error.strerror}).", ExitCode.BAD_INPUT)
    if json:
        parts = {"added": found.added, "removed": found.removed, "renewed": found.renewed}
        entries = {name: [entry.to_json() for entry in each] for name, each in parts.items()}
        emit_json({"written": written, "diff": found.diff, **entries})
    elif not found.diff:
        print(f"{baseline} is as it should be")
    elif yes:
        print(found.diff)
    if found.diff and not written:
        fail(f"{baseline} is not written; --yes writes it.", ExitCode.DEVIATES)


@app.command(epilog="Example: mqconform diff last out --markdown")
def diff(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A run folder.")],
    now: Annotated[Path, typer.Argument(metavar="NOW", help="A run folder.")],
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    level: Level = None,
    json: Json = False,
) -> None:
    """What changed from one run to another: broken, gone, fixed, new. Exits 1 when something is broken or gone."""
    from conformance.report.diff import BROKEN, GONE, sentence, text_lines
    from conformance.report.diff import diff as compared
    from conformance.report.diff import markdown as as_markdown
    from conformance.report.standing import standing

    at = known_level(level)
    found = compared(standing(read(before), at), standing(read(now), at))
    if json:
        emit_json(found.to_json())
    elif markdown:
        print(as_markdown(found), end="")
    else:
        for line in [*text_lines(found), sentence(found)]:
            console().print(line, markup=False, soft_wrap=True, highlight=False)
    worse = found.counts[BROKEN] or found.counts[GONE]
    sys.exit(int(ExitCode.DEVIATES if worse else ExitCode.CONFORMS))


@app.command(epilog="Example: mqconform matrix out/mine out/theirs --markdown")
def matrix(
    records: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write an HTML page to this file.")] = None,
    json: Json = False,
) -> None:
    """Implementations side by side: a column a run, a row a section of the documents."""
    if html is not None:
        from conformance.cli.report import compare

        compare(records, html=html, others="Markdown" if markdown else None, json=json)
        return
    from conformance.report.matrix import markdown as as_markdown
    from conformance.report.matrix import matrix as compared

    found = compared([read(record) for record in records])
    if json:
        emit_json(found.to_json())
    elif markdown:
        print(as_markdown(found), end="")
    else:
        _print_matrix(found)


def read(record: Path) -> Run:
    """The run in this folder. Ends the command for one that is none, or that has no verdict."""
    from conformance.runlog import RunRecordError, read_run

    try:
        run = read_run(record)
    except RunRecordError as error:
        fail(str(error), ExitCode.BAD_INPUT)
    if not run.verdicts:
        fail(f"The run record {record} holds no verdict: nothing was judged.", ExitCode.NOTHING_JUDGED)
    return run


def known_level(level: str | None) -> str | None:
    """The level, checked. Ends the command for an unknown one."""
    from conformance.cli.requirements import known
    from conformance.spec.versions import LEVELS

    if level is not None:
        known("level", level, LEVELS)
    return level


def decided(run: Run, *, against: Path | None, baseline: Path | None, level: str | None) -> Decision:
    """What the gate says of this run. Ends the command for input that cannot be used."""
    from conformance.report.gate import decide
    from conformance.report.standing import standing

    before, entries = excuses(against=against, baseline=baseline, level=level)
    return decide(standing(run, known_level(level)), before=before, baseline=entries)


def excuses(
    *, against: Path | None, baseline: Path | None, level: str | None
) -> tuple[Standing | None, tuple[Known, ...]]:
    """The run before and the known deviations. Ends the command for what cannot be used."""
    from conformance.report.baseline import BaselineError, read_baseline
    from conformance.report.standing import standing

    before = standing(read(against), known_level(level)) if against is not None else None
    try:
        return before, read_baseline(baseline) if baseline is not None else ()
    except BaselineError as error:
        fail(str(error), ExitCode.BAD_INPUT)


def print_decision(decision: Decision) -> None:
    """The objections, a line each, and the closing line."""
    from conformance.report.text import label

    out = console()
    for remark in decision.remarks:
        out.print(f"note: {label(remark)}", markup=False, soft_wrap=True, highlight=False)
    for objection in decision.objections:
        line = f"{objection.kind:<11}{label(objection.what)}: {label(objection.why)}"
        out.print(line, markup=False, soft_wrap=True, highlight=False)
    out.print(label(decision.sentence), markup=False, soft_wrap=True, highlight=False)


def _agreed(diff: str, path: Path) -> bool:
    print(diff)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return typer.confirm(f"Write {path}?")


def _print_matrix(found: Any) -> None:
    from rich.table import Column, Table
    from rich.text import Text

    from conformance.report.text import label

    table = Table("section", *(Column(Text(label(name))) for name in found.columns))
    for line in found.lines:
        name = f"{line.document} {line.section} {line.title}"
        table.add_row(Text(label(name, 60)), *(Text(one.text) for one in line.cells))
    table.add_section()
    table.add_row("all", *(Text(total.text) for total in found.totals))
    console().print(table)
