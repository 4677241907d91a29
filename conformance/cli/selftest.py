"""`mqconform selftest`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.cli.output import console, emit_json, fail, progress_bar
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.selftest import Trial


def command(faults: list[str], *, jobs: int, out: Path | None, json: bool) -> None:
    """Try the faults and print a table; 0 when every one is caught by the check it declares."""
    from conformance.selftest import UnknownFault, selftest

    trials: list[Trial] = []
    try:
        with progress_bar("selftest", quiet=json and not sys.stderr.isatty()) as show:

            def on_progress(done: int, total: int, trial: Trial) -> None:
                trials.append(trial)
                _write(out, trials)  # each as it comes: what was seen stays when the rest is interrupted
                show(done, total, f"{trial.fault}{'' if trial.ok else ': MISSED'}")

            _write(out, trials)  # before the first: a file that cannot be written is told at once
            trials = selftest(faults, jobs=jobs, on_progress=on_progress)
    except UnknownFault as error:
        fail(str(error), ExitCode.BAD_INPUT)
    _write(out, trials)
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


def _write(out: Path | None, trials: Sequence[Trial]) -> None:
    from conformance import __version__
    from conformance.report.coverage import selftest_json

    if out is None:
        return
    try:
        out.write_text(dumps(selftest_json([asdict(trial) for trial in trials], __version__), indent=1) + "\n", "utf-8")
    except OSError as error:
        fail(f"{out} cannot be written ({error.strerror}); name another file.", ExitCode.BAD_INPUT)
