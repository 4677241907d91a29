"""`mqconform report`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.aside import make_folder, write_text
from conformance.cli.output import console, emit_json, fail
from conformance.cli.waiting import reading
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.cli.comparing import Excusing


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
    others: object,
    excusing: Excusing,
    labels: Sequence[str],
    json: bool,
) -> None:
    """Write one HTML page on several runs. others: any other format, which ends the command as none compares runs."""
    from conformance.cli.comparing import decisions, labelled, read
    from conformance.report.comparison import TooManyRuns, render_comparison

    if html is None or others is not None:
        fail(
            "Several runs can only be compared with --html FILE; name one run for the other formats.",
            ExitCode.BAD_INPUT,
        )
    try:
        with reading(records, "report"):
            runs = labelled([read(record) for record in records], labels)
            page = render_comparison(runs, decisions(runs, excusing))
    except TooManyRuns as error:
        fail(str(error), ExitCode.BAD_INPUT)
    path = _write(html, page)
    if json:
        emit_json({"written": {"html": path}})
    else:
        print(path)


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
