"""The machine formats of `mqconform report`: calls the writer of each and reports its errors."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.aside import make_folder, write_text
from conformance.cli.output import fail
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.report.gate import Decision
    from conformance.runlog import Run


def write(run: Run, name: str, path: Path, decision: Decision | None = None) -> str:
    """Write one format with the gate's decision. Returns the path. Ends the command if it cannot be written."""
    from conformance.report.tabular import ColumnsMissing

    try:
        make_folder(path.parent, above=False)
        _write(run, name, path, decision)
    except ColumnsMissing as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except OSError as error:
        fail(f"{path} cannot be written ({error.strerror or error}); name another one.", ExitCode.BAD_INPUT)
    return str(path)


def checked(annotations: str | None, *, json: bool) -> None:
    """End the command for an unknown server, or for annotations and JSON on the same stdout."""
    if annotations is None:
        return
    from conformance.cli.requirements import known
    from conformance.report.annotations import FORMS

    known("server", annotations, tuple(FORMS))
    if json:
        fail("--annotations and --json both print to stdout: ask for one of them.", ExitCode.BAD_INPUT)


def annotated(run: Run, server: str, decision: Decision | None = None) -> str:
    """Return the deviations in the log format of this server."""
    from conformance.report.annotations import FORMS

    return FORMS[server](run, decision)


def _write(run: Run, name: str, path: Path, decision: Decision | None) -> None:
    if name == "allure":
        from conformance.report.allure import write_allure

        write_allure(run, path, decision)
    elif name == "csv":
        from conformance.report.tabular import write_csv

        write_csv(run, path, decision)
    elif name == "parquet":
        from conformance.report.tabular import write_parquet

        write_parquet(run, path, decision)
    else:
        write_text(path, _text(run, name, path, decision))


def _text(run: Run, name: str, path: Path, decision: Decision | None) -> str:
    if name == "sarif":
        from conformance.report.sarif import render_sarif

        return render_sarif(run, decision)
    if name == "markdown":
        from conformance.report.markdown import render_markdown

        return render_markdown(run, decision)
    from conformance.report.badge import render_badge, shields

    if path.suffix.lower() == ".json":
        return json_text.dumps(shields(run, decision), indent=1) + "\n"
    return render_badge(run, decision)
