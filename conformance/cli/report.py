"""`mqconform report`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance.cli.output import console, emit_json, fail
from conformance.verdict import ExitCode


def command(
    record: Path,
    *,
    html: Path | None,
    junit: Path | None,
    others: Mapping[str, Path | None],
    annotations: str | None,
    selftest: Path | None,
    json: bool,
) -> None:
    """Write the reports asked for, print the annotations, or print the summary.

    others: by name of the format. selftest: counts as discriminated what it caught.
    """
    from conformance.cli.formats import annotated, checked, write

    checked(annotations, json=json)
    from conformance.runlog import RunRecordError, read_run

    try:
        run = read_run(record)
    except RunRecordError as error:
        fail(str(error), ExitCode.BAD_INPUT)
    if not run.verdicts:
        fail(f"The run record {record} holds no verdict: nothing to report.", ExitCode.NOTHING_JUDGED)
    written: dict[str, str] = {}
    if html is not None:
        from conformance.report.html import render_html

        written["html"] = _write(html, render_html(run, _caught(selftest)))
    if junit is not None:
        from conformance.report.junit import render_junit

        written["junit"] = _write(junit, render_junit(run))
    for name, wanted in others.items():
        if wanted is not None:
            written[name] = write(run, name, wanted)
    if annotations is not None:
        print(annotated(run, annotations), end="")
    elif json:
        from conformance.report.summary import summary

        emit_json({**summary(run), "written": written})
    elif written:
        for path in written.values():
            print(path)
    else:
        from conformance.report.console import print_summary

        print_summary(run, console())
    if not run.complete:
        console(stderr=True).print(f"mqconform: the run record is incomplete: {' '.join(run.problems)}", markup=False)


def compare(records: Sequence[Path], *, html: Path | None, others: object, json: bool) -> None:
    """Write one HTML page on several runs. others: what of the other formats was asked for, which have none."""
    from conformance.cli.comparing import read
    from conformance.report.comparison import TooManyRuns, render_comparison

    if html is None or others is not None:
        fail("Several runs are compared with --html FILE alone; name one run for the others.", ExitCode.BAD_INPUT)
    try:
        page = render_comparison([read(record) for record in records])
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
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"{path} cannot be written ({error.strerror}); name another file.", ExitCode.BAD_INPUT)
    return str(path)
