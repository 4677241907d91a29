"""`mqconform adapter`."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from conformance.cli.output import console, emit_json, fail
from conformance.verdict import ExitCode


def check_command(connector: str, *, in_process: bool, json: bool) -> None:
    """Walk a driver through the protocol; 0 when every step went well, 1 when one did not, 3 when none could."""
    from conformance.adapter.check import check_adapter
    from conformance.adapter.errors import ConnectorError, DriverUnusable

    with tempfile.TemporaryDirectory(prefix="mqconform-check-") as state:
        try:
            steps = check_adapter(connector, state_dir=Path(state), in_process=in_process)
        except ConnectorError as error:
            fail(error.sentence, ExitCode.BAD_INPUT)
        except DriverUnusable as error:
            fail(error.sentence, ExitCode.UNUSABLE)
    bad = [step for step in steps if step.state == "wrong"]
    if json:
        emit_json({"connector": connector, "ok": not bad, "steps": [asdict(step) for step in steps]})
    else:
        out = console()
        marks = {"ok": "ok     ", "missing": "missing", "wrong": "WRONG  "}
        for step in steps:
            out.print(f"{marks[step.state]}  {step.what}: {step.text}", markup=False, soft_wrap=True)
        verdict = f"{len(bad)} steps went wrong." if bad else "The driver speaks the protocol."
        out.print(verdict, markup=False)
    sys.exit(int(ExitCode.DEVIATES if bad else ExitCode.CONFORMS))
