"""`mqconform report`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.aside import make_folder, write_text
from conformance.cli.output import console, emit_json, fail
from conformance.cli.waiting import reading
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.cli.comparing import Excusing
    from conformance.report.diff import Diff
    from conformance.report.matrix import Matrix


def command(
    record: Path,
    *,
    html: Path | None,
    junit: Path | None,
    others: Mapping[str, Path | None],
    annotations: str | None,
    selftest: Path | None,
    excusing: Excusing,
    labels: Sequence[str],
    json: bool,
) -> None:
    """Write the reports asked for, print the annotations, or print the summary.

    others: name of a format to its file. selftest: a result whose caught requirements count as discriminated. excusing:
    the known deviations. labels: at most one, which replaces the recorded label.
    """
    from conformance.cli.formats import annotated, checked, write

    checked(annotations, json=json)
    from conformance.report.records import read_run
    from conformance.runlog import RunRecordError

    try:
        with reading([record], "report"):
            run = read_run(record)
    except RunRecordError as error:
        fail(str(error), ExitCode.BAD_INPUT)
    from conformance.cli.comparing import decisions, labelled

    if not run.verdicts:
        fail(f"The run record {record} holds no verdict: nothing to report.", ExitCode.NOTHING_JUDGED)
    (run,) = labelled([run], labels)
    (decision,) = decisions([run], excusing)
    written: dict[str, str] = {}
    if html is not None:
        from conformance.report.html import render_html

        written["html"] = _write(html, render_html(run, _caught(selftest), decision))
    if junit is not None:
        from conformance.report.junit import render_junit

        written["junit"] = _write(junit, render_junit(run, decision, allow_incomplete=excusing.allow_incomplete))
    for name, wanted in others.items():
        if wanted is not None:
            written[name] = write(run, name, wanted, decision)
    if annotations is not None:
        print(annotated(run, annotations, decision), end="")
    elif json:
        from conformance.report.deviations import deviations
        from conformance.report.summary import summary

        emit_json({**summary(run, _caught(selftest), decision), **deviations(run), "written": written})
    elif written:
        for path in written.values():
            print(path)
    else:
        from conformance.report.console import print_summary

        print_summary(run, console(), decision=decision)
    if not run.complete:
        console(stderr=True).print(f"mqconform: the run record is incomplete: {' '.join(run.problems)}", markup=False)


def compare(
    records: Sequence[Path],
    *,
    html: Path | None,
    markdown: Path | None,
    others: bool,
    excusing: Excusing,
    labels: Sequence[str],
    json: bool,
) -> None:
    """Put runs side by side, and tell what each later one changed since the first.

    Exit code 1: a requirement that held or was judged in the first run deviates or is not judged in a later one.
    others: a format is asked for that compares no runs, which ends the command.
    """
    from conformance.cli.comparing import decisions, labelled, read
    from conformance.report.comparison import TooManyRuns, render_comparison
    from conformance.report.comparison_key import standing
    from conformance.report.diff import BROKEN, GONE, diff
    from conformance.report.diff import markdown as differences
    from conformance.report.matrix import markdown as table
    from conformance.report.matrix import matrix

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
    if json:
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

    from conformance.report.diff import sentence, text_lines
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
