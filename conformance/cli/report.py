"""`mqconform report`."""

from __future__ import annotations

from collections.abc import Mapping
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
    json: bool,
) -> None:
    """Write the reports asked for, print the annotations, or print the summary. others: by name of the format."""
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

        written["html"] = _write(html, render_html(run))
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


def _write(path: Path, text: str) -> str:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"{path} cannot be written ({error.strerror}); name another file.", ExitCode.BAD_INPUT)
    return str(path)
