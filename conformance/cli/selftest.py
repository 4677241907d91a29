"""`mqconform selftest`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from json import dumps
from pathlib import Path

from conformance.cli.output import console, emit_json, fail, progress_bar
from conformance.verdict import ExitCode


def command(faults: list[str], *, jobs: int, out: Path | None, json: bool) -> None:
    """Try the faults and print a table; 0 when every one is caught by the check it declares."""
    from conformance import __version__
    from conformance.report.coverage import selftest_json
    from conformance.selftest import UnknownFault, selftest

    try:
        with progress_bar("selftest", quiet=json and not sys.stderr.isatty()) as show:
            trials = selftest(faults, jobs=jobs, on_progress=lambda done, total, name: show(done, total, name))
    except UnknownFault as error:
        fail(str(error), ExitCode.BAD_INPUT)
    if out is not None:
        content = selftest_json([asdict(trial) for trial in trials], __version__)
        try:
            out.write_text(dumps(content, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            fail(f"{out} cannot be written ({error.strerror}); name another file.", ExitCode.BAD_INPUT)
    bad = [trial for trial in trials if not trial.ok]
    if json:
        emit_json({"ok": not bad, "trials": [asdict(trial) for trial in trials]})
    else:
        target = console()
        for trial in trials:  # lines and no table: ids stay whole, to be copied and searched for
            mark = "ok    " if trial.ok else "MISSED"
            target.print(f"{mark}  {trial.suite:<12}  {trial.fault}: {trial.text}", markup=False, soft_wrap=True)
        target.print(f"{len(trials) - len(bad)} of {len(trials)} as they should be", markup=False)
    sys.exit(int(ExitCode.DEVIATES if bad else ExitCode.CONFORMS))
