"""`mqconform run`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.aside import write_text
from conformance.cli.comparing import decided, excuses, print_decision
from conformance.cli.output import console, emit_json, fail, one_line, tell
from conformance.verdict import ExitCode


def command(
    *,
    budget: str | None,
    pytest_args: Sequence[str],
    json: bool,
    gate: tuple[Path | None, Path | None] | None = None,
    **wanted: Any,
) -> None:
    """Run the suites, write the report, print the result, and end with its exit code or the gate's.

    gate: (earlier run, baseline), each may be None; None: no gate.
    """
    from conformance.cli.run_progress import run_progress, stopping
    from conformance.cli.suggestions import stray
    from conformance.run import BadInput, run

    meant = stray(pytest_args)
    if meant is not None:
        fail(meant, ExitCode.BAD_INPUT)
    if gate is not None:
        excuses(against=gate[0], baseline=gate[1], level=None)  # Report a mistake there before the run.
        if gate[1] is not None:
            wanted["known"] = _known(gate[1])

    try:
        with stopping(), run_progress(quiet=json and not sys.stderr.isatty()) as show:
            result = run(budget_s=seconds(budget), pytest_args=list(pytest_args), on_progress=show, **wanted)
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    if result.record is None:
        fail(result.sentence or "The run left no record.", result.exit_code)
    allowed = bool(wanted.get("allow_incomplete"))
    code, said = result.exit_code, result.sentence
    finish(result.record, result.folder, code, said, json=json, gate=gate, allow_incomplete=allowed)


def _known(baseline: Path) -> Path | None:
    """Return the baseline if it has quirks that can be used; tell about those that cannot."""
    from conformance.report.baseline import read_quirks

    tables = read_quirks(baseline)
    if not tables:
        return None
    from conformance.explaining.known_quirks import usable

    quirks, told = usable(tables)
    for sentence in told:
        tell(sentence)
    return baseline.absolute() if quirks else None


def finish(
    record: Any,
    folder: Path,
    code: ExitCode,
    sentence: str | None,
    *,
    json: bool,
    extra: Any = None,
    gate: tuple[Path | None, Path | None] | None = None,
    allow_incomplete: bool = False,
) -> None:
    """Write `report.html` beside the record, print the summary, and end with `code` or the gate's exit code.

    The gate does not replace an exit code that says nothing about the implementation (unusable driver, harness error).
    """
    from conformance.report.html import render_html

    html = folder / "report.html"
    decision = (
        None
        if gate is None
        else decided(record, against=gate[0], baseline=gate[1], level=None, allow_incomplete=allow_incomplete)
    )
    try:
        write_text(html, render_html(record, decision=decision))
    except OSError as error:
        fail(f"The report {html} cannot be written ({error.strerror}); the run record is kept.", ExitCode.BAD_INPUT)
    if decision is not None and code in (ExitCode.CONFORMS, ExitCode.DEVIATES):
        code = decision.exit_code
    if json:
        from conformance.report.deviations import deviations
        from conformance.report.summary import summary

        emit_json(
            {
                **summary(record, decision=decision),
                **deviations(record),
                **(extra or {}),
                "exit_code": int(code),
                "sentence": sentence,
                "run_record": str(folder),
                "html": str(html),
            }
        )
    else:
        from conformance.report.console import print_summary

        print_summary(record, console(), {"report": html, "run record": folder}, decision)
        if decision is not None:
            print_decision(decision)
    for left in dict.fromkeys(event.text for event in record.driver if event.what == "outlived"):
        print(f"mqconform: {one_line(left)}", file=sys.stderr)
    if sentence:
        fail(sentence, code)
    sys.exit(int(code))


def seconds(text: str | None) -> float | None:
    """Call `conformance.command_options.seconds`. Ends the command for an invalid duration."""
    from conformance.command_options import BadInput
    from conformance.command_options import seconds as understood

    try:
        return understood(text)
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
