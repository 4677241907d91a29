"""`mqconform report`: its options, its formats, and the comparison of several runs."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conformance.cli.gate import Against, Baseline, Labels
from conformance.cli.output import console, emit_json, fail, json_wanted, reading
from conformance.cli.shared_options import AllowIncomplete
from conformance.files import make_folder, write_text
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.cli.gate import ExcuseOptions
    from conformance.report.comparison import Diff, Matrix
    from conformance.report.gate import Decision
    from conformance.runlog import Run


def write(run: Run, name: str, path: Path, decision: Decision | None = None) -> str:
    """Write one format with the gate's decision. Returns the path. Ends the command if it cannot be written."""
    try:
        make_folder(path.parent, above=False)
        _write_format(run, name, path, decision)
    except OSError as error:
        fail(f"{path} cannot be written ({error.strerror or error}); name another one.", ExitCode.BAD_INPUT)
    return str(path)


def checked(annotations: str | None) -> None:
    """End the command for an unknown server, or for annotations and JSON on the same stdout."""
    if annotations is None:
        return
    from conformance.cli.requirements import check_known
    from conformance.report.sarif import FORMS

    check_known("server", annotations, tuple(FORMS))
    if json_wanted():
        fail("--annotations and --json both print to stdout: ask for one of them.", ExitCode.BAD_INPUT)


def annotated(run: Run, server: str, decision: Decision | None = None) -> str:
    """Return the deviations in the log format of this server."""
    from conformance.report.sarif import FORMS

    return FORMS[server](run, decision)


def _write_format(run: Run, name: str, path: Path, decision: Decision | None) -> None:
    if name == "allure":
        from conformance.report.allure import write_allure

        write_allure(run, path, decision)
    elif name == "csv":
        from conformance.report.tabular import write_csv

        write_csv(run, path, decision)
    else:
        write_text(path, _text(run, name, path, decision))


def _text(run: Run, name: str, path: Path, decision: Decision | None) -> str:
    if name == "sarif":
        from conformance.report.sarif import render_sarif

        return render_sarif(run, decision)
    if name == "markdown":
        from conformance.report.markdown import render_markdown

        return render_markdown(run, decision)
    from conformance.report.markdown import render_badge, shields

    if path.suffix.lower() == ".json":
        return json_text.dumps(shields(run, decision), indent=1) + "\n"
    return render_badge(run, decision)


def command(
    record: Path,
    *,
    html: Path | None,
    junit: Path | None,
    others: Mapping[str, Path | None],
    annotations: str | None,
    selftest: Path | None,
    excusing: ExcuseOptions,
    labels: Sequence[str],
) -> None:
    """Write the reports asked for, print the annotations, or print the summary.

    others: name of a format to its file. selftest: a result whose caught requirements count as discriminated. excusing:
    the known deviations. labels: at most one, which replaces the recorded label.
    """

    checked(annotations)
    from conformance.report.records import read_run
    from conformance.runlog import RunRecordError

    try:
        with reading([record], "report"):
            run = read_run(record)
    except RunRecordError as error:
        fail(str(error), ExitCode.BAD_INPUT)
    from conformance.cli.gate import decisions, labelled

    if not run.verdicts:
        fail(f"The run record {record} holds no verdict: nothing to report.", ExitCode.NOTHING_JUDGED)
    (run,) = labelled([run], labels)
    (decision,) = decisions([run], excusing)
    written: dict[str, str] = {}
    if html is not None:
        from conformance.report.html import render_html

        written["html"] = _write(html, render_html(run, _caught(selftest), decision))
    if junit is not None:
        from conformance.report.sarif import render_junit

        written["junit"] = _write(junit, render_junit(run, decision, allow_incomplete=excusing.allow_incomplete))
    for name, wanted in others.items():
        if wanted is not None:
            written[name] = write(run, name, wanted, decision)
    if annotations is not None:
        print(annotated(run, annotations, decision), end="")
    elif json_wanted():
        from conformance.report.findings import deviations
        from conformance.report.summary import summary

        emit_json({**summary(run, _caught(selftest), decision), **deviations(run), "written": written})
    elif written:
        for path in written.values():
            print(path)
    else:
        from conformance.report.console import print_summary

        print_summary(run, console(), decision=decision, verbose=True)
    if not run.complete:
        console(stderr=True).print(f"mqconform: the run record is incomplete: {' '.join(run.problems)}", markup=False)


def compare(
    records: Sequence[Path],
    *,
    html: Path | None,
    markdown: Path | None,
    others: bool,
    excusing: ExcuseOptions,
    labels: Sequence[str],
) -> None:
    """Put runs side by side, and tell what each later one changed since the first.

    Exit code 1: a requirement that held or was judged in the first run deviates or is not judged in a later one.
    others: a format is asked for that compares no runs, which ends the command.
    """
    from conformance.cli.gate import decisions, labelled, read
    from conformance.report.comparison import BROKEN, GONE, TooManyRuns, diff, matrix, render_comparison
    from conformance.report.comparison import differences_markdown as differences
    from conformance.report.comparison import matrix_markdown as table
    from conformance.report.standing import standing

    if others:
        sentence = "Several runs are compared as text, --json, --html or --markdown; name one run for other formats."
        fail(sentence, ExitCode.BAD_INPUT)
    written: dict[str, str] = {}
    try:
        with reading(records, "report"):
            runs = labelled([read(record) for record in records], labels)
            decided = decisions(runs, excusing)
            page = render_comparison(runs, decided) if html is not None else ""
            found = matrix(runs, decided)
            first, *later = [standing(run) for run in runs]
    except TooManyRuns as error:
        fail(str(error), ExitCode.BAD_INPUT)
    changes = [diff(first, one) for one in later]
    if html is not None:
        written["html"] = _write(html, page)
    if markdown is not None:
        written["markdown"] = _write(markdown, "\n".join([table(found), *map(differences, changes)]))
    worse = any(one.counts[BROKEN] or one.counts[GONE] for one in changes)
    code = ExitCode.DEVIATES if worse else ExitCode.CONFORMS
    if json_wanted():
        told = {**found.to_json(), "differences": [one.to_json() for one in changes]}
        emit_json({"exit_code": int(code), **told, "written": written})
    elif written:
        print("\n".join(written.values()))
    else:
        _print_matrix(found, changes)
    sys.exit(int(code))


def _caught(selftest: Path | None) -> frozenset[str] | None:
    from conformance.report.coverage import SelftestError, discriminated_by

    try:
        return None if selftest is None else discriminated_by(selftest)
    except SelftestError as error:
        fail(str(error), ExitCode.BAD_INPUT)


def _write(path: Path, text: str) -> str:
    try:
        make_folder(path.parent, above=False)
        write_text(path, text)
    except OSError as error:
        fail(f"{path} cannot be written ({error.strerror}); name another file.", ExitCode.BAD_INPUT)
    return str(path)


def _print_matrix(found: Matrix, changes: Sequence[Diff]) -> None:
    from rich.table import Column, Table
    from rich.text import Text

    from conformance.report.comparison import sentence, text_lines
    from conformance.report.text import label

    table = Table("section", *(Column(Text(label(name))) for name in found.columns))
    for line in found.lines:
        name = f"{line.document} {line.section} {line.title}"
        table.add_row(Text(label(name, 60)), *(Text(one.text) for one in line.cells))
    table.add_section()
    table.add_row("all", *(Text(total.text) for total in found.totals))
    table.add_row("requirements judged", *map(Text, found.judged))
    table.add_row("conclusion", *(Text(label(words)) for words in found.headlines))
    console().print(table)
    if found.rest:
        print(f"{found.rest}.")
    for change in changes:
        more = [f"{label(change.before)} to {label(change.now)}:"] if len(changes) > 1 else []
        for text in [*more, *text_lines(change), sentence(change)]:
            console().print(text, markup=False, soft_wrap=True, highlight=False)


app = typer.Typer(rich_markup_mode=None)


@app.command(epilog="Example: mqconform report out --html report.html --junit junit.xml --sarif mqconform.sarif")
def report(
    records: Annotated[list[Path], typer.Argument(metavar="RUN...", help="A run folder; several are compared.")],
    html: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    selftest: Annotated[
        Path | None,
        typer.Option(
            help="A file of mqconform selftest --out: --html counts the requirements it caught as discriminated."
        ),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML to this file.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Write the deviations as SARIF 2.1.0 to this file.")] = None,
    allure: Annotated[Path | None, typer.Option(metavar="DIR", help="Write Allure results into this folder.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a job summary in Markdown to this file.")] = None,
    badge: Annotated[
        Path | None,
        typer.Option(help="Write a badge: an SVG image, or a shields.io endpoint if the name ends in .json."),
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write one row per verdict as CSV to this file.")] = None,
    annotations: Annotated[
        str | None,
        typer.Option(metavar="SERVER", help="Print the deviations as log annotations of azure, github or gitlab."),
    ] = None,
    against: Against = None,
    baseline: Baseline = None,
    label: Labels = None,
    allow_incomplete: AllowIncomplete = False,
) -> None:
    """Make reports from a run record; without a format option, print the summary.

    Several runs are put side by side; 1 is the exit code if a later one broke what held in the first.

    With --baseline or --against, reports distinguish known deviations from new ones, as mqconform gate does.
    """
    from conformance.cli.gate import ExcuseOptions

    others = {
        "sarif": sarif,
        "allure": allure,
        "markdown": markdown,
        "badge": badge,
        "csv": csv,
    }
    excusing = ExcuseOptions(against, baseline, allow_incomplete)
    if len(records) > 1:
        del others["markdown"]
        alone = any([junit, annotations, selftest, *others.values()])
        compare(
            records,
            html=html,
            markdown=markdown,
            others=alone,
            excusing=excusing,
            labels=label or (),
        )
    else:
        command(
            records[0],
            html=html,
            junit=junit,
            others=others,
            annotations=annotations,
            selftest=selftest,
            excusing=excusing,
            labels=label or (),
        )
