"""`mqconform run`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.cli.comparing import decided, excuses, print_decision
from conformance.cli.output import console, emit_json, fail
from conformance.verdict import ExitCode


def command(
    *,
    budget: str | None,
    pytest_args: Sequence[str],
    json: bool,
    gate: tuple[Path | None, Path | None] | None = None,
    **wanted: Any,
) -> None:
    """Run, write the report, print the result and end with its exit code, or with the gate's.

    gate: the run compared with and the baseline, either None; None for no gate.
    """
    from conformance.cli.watching import run_progress, stopping
    from conformance.run import BadInput, run

    if gate is not None:
        excuses(against=gate[0], baseline=gate[1], level=None)  # a mistake there is told before the run

    try:
        with stopping(), run_progress(quiet=json and not sys.stderr.isatty()) as show:
            result = run(budget_s=seconds(budget), pytest_args=list(pytest_args), on_progress=show, **wanted)
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    if result.record is None:
        fail(result.sentence or "The run left no record.", result.exit_code)
    finish(result.record, result.folder, result.exit_code, result.sentence, json=json, gate=gate)


def finish(
    record: Any,
    folder: Path,
    code: ExitCode,
    sentence: str | None,
    *,
    json: bool,
    extra: Any = None,
    gate: tuple[Path | None, Path | None] | None = None,
) -> None:
    """Write `report.html` beside the record, print the summary, and end with `code`, or as the gate says.

    An end of the run that says nothing about the implementation (no driver, an error of the harness) stays its end.
    """
    from conformance.report.html import render_html

    html = folder / "report.html"
    try:
        html.write_text(render_html(record), encoding="utf-8")
    except OSError as error:
        fail(f"The report {html} cannot be written ({error.strerror}); the run record is kept.", ExitCode.BAD_INPUT)
    decision = None
    if gate is not None and code in (ExitCode.CONFORMS, ExitCode.DEVIATES):
        decision = decided(record, against=gate[0], baseline=gate[1], level=None)
        code, extra = decision.exit_code, {**(extra or {}), "gate": decision.to_json()}
    if json:
        from conformance.report.summary import summary

        emit_json(
            {
                **summary(record),
                **(extra or {}),
                "exit_code": int(code),
                "sentence": sentence,
                "run_record": str(folder),
                "html": str(html),
            }
        )
    else:
        from conformance.report.console import print_summary

        print_summary(record, console(), {"report": html, "run record": folder})
        if decision is not None:
            print_decision(decision)
    if sentence:
        fail(sentence, code)
    sys.exit(int(code))


def seconds(text: str | None) -> float | None:
    """See `conformance.asking.seconds`. Ends the command for what is no time."""
    from conformance.asking import BadInput
    from conformance.asking import seconds as understood

    try:
        return understood(text)
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
