"""`mqconform adapter new` and `adapter check`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

from conformance.cli.output import console, emit_json, fail, json_wanted
from conformance.files import scratch
from conformance.verdict import ExitCode

DOUBTS = "A doubt is what a driver that repairs would answer too: see docs/drivers-do-not-repair.md."


def new_command(folder: Path, *, language: str) -> None:
    """Write a driver template; print its files and the command to try next."""
    from conformance.adapter.templates import TemplateError, write_template

    try:
        written = write_template(language, folder)
    except TemplateError as error:
        fail(error.sentence, ExitCode.BAD_INPUT)
    if json_wanted():
        emit_json({"files": list(map(str, written.files)), "next": written.next, "missing": written.missing})
        return
    out = console()
    for file in written.files:
        out.print(str(file), markup=False, soft_wrap=True)
    out.print(f"Next: {written.next}", markup=False, soft_wrap=True)
    if written.missing is not None:
        print(f"mqconform: {written.missing}", file=sys.stderr)


def check_command(connector: str) -> None:
    """Test a driver against the protocol. Exit codes: 0: no step is wrong; 1: one is wrong; 3: no driver."""
    from conformance.adapter.check import check_adapter
    from conformance.adapter.errors import ConnectorError, DriverUnusable

    with scratch("mqconform-check-") as state:
        try:
            steps = check_adapter(connector, state_dir=state)
        except ConnectorError as error:
            fail(error.sentence, ExitCode.BAD_INPUT)
        except DriverUnusable as error:
            fail(error.sentence, ExitCode.UNUSABLE)
    bad = [step for step in steps if step.state == "wrong"]
    doubts = [step for step in steps if step.state == "doubt"]
    if json_wanted():
        emit_json({"connector": connector, "ok": not bad, "steps": [asdict(step) for step in steps]})
    else:
        out = console()
        marks = {"ok": "ok     ", "missing": "missing", "doubt": "doubt  ", "wrong": "WRONG  "}
        for step in steps:
            out.print(f"{marks[step.state]}  {step.what}: {step.text}", markup=False, soft_wrap=True)
        verdict = f"{len(bad)} steps went wrong." if bad else "The driver speaks the protocol."
        out.print(verdict, markup=False)
        if doubts:
            out.print(DOUBTS, markup=False, soft_wrap=True)
    sys.exit(int(ExitCode.DEVIATES if bad else ExitCode.CONFORMS))
