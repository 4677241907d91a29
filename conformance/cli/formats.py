"""The machine formats of `mqconform report`: which writer, and what to say when it cannot."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.cli.output import fail
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.runlog import Run


def write(run: Run, name: str, path: Path) -> str:
    """Write one format; the path. Ends the command where it cannot be written."""
    from conformance.report.tabular import ColumnsMissing

    try:
        if name != "allure":
            path.parent.mkdir(parents=True, exist_ok=True)
        _write(run, name, path)
    except ColumnsMissing as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except OSError as error:
        fail(f"{path} cannot be written ({error.strerror or error}); name another one.", ExitCode.BAD_INPUT)
    return str(path)


def checked(annotations: str | None, *, json: bool) -> None:
    """Refuse an unknown server, and two documents on one stdout."""
    if annotations is None:
        return
    from conformance.cli.requirements import known
    from conformance.report.annotations import FORMS

    known("server", annotations, tuple(FORMS))
    if json:
        fail("--annotations and --json both print to stdout: ask for one of them.", ExitCode.BAD_INPUT)


def annotated(run: Run, server: str) -> str:
    """The deviations as this server takes them from a log."""
    from conformance.report.annotations import FORMS

    return FORMS[server](run)


def _write(run: Run, name: str, path: Path) -> None:
    if name == "allure":
        from conformance.report.allure import write_allure

        write_allure(run, path)
    elif name == "csv":
        from conformance.report.tabular import write_csv

        write_csv(run, path)
    elif name == "parquet":
        from conformance.report.tabular import write_parquet

        write_parquet(run, path)
    else:
        path.write_text(_text(run, name, path), encoding="utf-8")


def _text(run: Run, name: str, path: Path) -> str:
    if name == "sarif":
        from conformance.report.sarif import render_sarif

        return render_sarif(run)
    if name == "markdown":
        from conformance.report.markdown import render_markdown

        return render_markdown(run)
    from conformance.report.badge import render_badge, shields

    return json_text.dumps(shields(run), indent=1) + "\n" if path.suffix.lower() == ".json" else render_badge(run)
