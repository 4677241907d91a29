"""`mqconform selftest`."""

from __future__ import annotations

import sys
from dataclasses import asdict

from conformance.cli.output import console, emit_json, fail, progress_bar
from conformance.verdict import ExitCode


def command(faults: list[str], *, jobs: int, json: bool) -> None:
    """Try the faults and print a table; 0 when every one is caught by the check it declares."""
    from conformance.selftest import UnknownFault, selftest

    try:
        with progress_bar("selftest", quiet=json and not sys.stderr.isatty()) as show:
            trials = selftest(faults, jobs=jobs, on_progress=lambda done, total, name: show(done, total, name))
    except UnknownFault as error:
        fail(str(error), ExitCode.BAD_INPUT)
    bad = [trial for trial in trials if not trial.ok]
    if json:
        emit_json({"ok": not bad, "trials": [asdict(trial) for trial in trials]})
    else:
        out = console()
        for trial in trials:  # lines and no table: ids stay whole, to be copied and searched for
            mark = "ok    " if trial.ok else "MISSED"
            out.print(f"{mark}  {trial.suite:<12}  {trial.fault}: {trial.text}", markup=False, soft_wrap=True)
        out.print(f"{len(trials) - len(bad)} of {len(trials)} as they should be", markup=False)
    sys.exit(int(ExitCode.DEVIATES if bad else ExitCode.CONFORMS))
