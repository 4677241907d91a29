"""`mqconform selftest`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from conformance.aside import write_text
from conformance.cli.output import console, emit_json, fail, progress_bar
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.selftest import Trial

_JOBS = 2


def command(
    faults: list[str],
    *,
    suites: str | None,
    jobs: int | None,
    budget: str | None,
    out: Path | None,
    json: bool,
    wire: bool = False,
) -> None:
    """Try the faults and print a table; 0 when each is first seen as what it breaks, and as nothing unknown.

    wire: those of the queue manager on the network, by the suite `sessions`.

    An interrupt, or the end of the time, ends it with the table of the faults that were tried until then.
    """
    from conformance.cli.run import seconds
    from conformance.harness.suite_registry import UnknownSuite
    from conformance.harness.test_selection import NotCollected
    from conformance.live.server import ServerGone
    from conformance.selftest import UnknownFault

    if wire and suites is not None:
        fail("--wire and --suite exclude each other: faults of serve are for the suite sessions.", ExitCode.BAD_INPUT)
    budget_s = seconds(budget)
    trials: list[Trial] = []
    interrupted = False
    try:
        with progress_bar("selftest", quiet=json and not sys.stderr.isatty()) as show:

            def on_progress(done: int, total: int, trial: Trial) -> None:
                trials.append(trial)
                _write(out, trials)  # After each, so that an interrupted selftest keeps its results.
                show(done, total, f"{trial.fault}{'' if trial.ok else ': MISSED'}")

            show(0, 1, "beginning")
            _write(out, trials)  # Before the first, so that an unwritable file is reported at once.
            if wire:
                from conformance.selftest_wire import JOBS, selftest_wire

                trials = selftest_wire(faults, jobs=jobs or JOBS, budget_s=budget_s, on_progress=on_progress)
            else:
                from conformance.selftest import selftest

                jobs = jobs or _JOBS
                trials = selftest(faults, suites=suites, jobs=jobs, budget_s=budget_s, on_progress=on_progress)
    except (NotCollected, ServerGone) as error:
        fail(str(error), ExitCode.HARNESS_ERROR)
    except (UnknownFault, UnknownSuite) as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except KeyboardInterrupt:
        if not trials:
            raise
        interrupted = True
        trials.sort(key=lambda trial: trial.fault)
    _write(out, trials)
    from conformance.selftest import CONTROL

    bad = [trial for trial in trials if not trial.ok]
    left = len(_chosen(faults, wire=wire)) - len(trials)
    if json:
        emit_json({"ok": not bad, "trials": [asdict(trial) for trial in trials], "not_run": left})
    else:
        target = console()
        for trial in trials:  # Lines, not a table: ids stay whole, to be copied and searched for.
            mark = "ok    " if trial.ok else "MISSED"
            target.print(f"{mark}  {trial.suite:<12}  {trial.fault}: {trial.text}", markup=False, soft_wrap=True)
        for line in _by_suite(trials) if suites is not None else ():
            target.print(line, markup=False)
        target.print(f"{len(trials) - len(bad)} of {len(trials)} as they should be", markup=False)
    code = ExitCode.DEVIATES if bad else ExitCode.CONFORMS if trials else ExitCode.NOTHING_JUDGED
    if interrupted:
        fail(f"Interrupted: {left} {_faults(left)} not run.", ExitCode.INTERRUPTED)
    if left and wire and bad and bad[0].fault == CONTROL:
        fail(f"A server without a fault fails: {left} {_faults(left)} not run.", code)
    if left:
        fail(f"The time is over: {left} {_faults(left)} not run.", code)
    sys.exit(int(code))


def _chosen(faults: list[str], *, wire: bool) -> list[str]:
    if wire:
        from conformance import selftest_wire

        return selftest_wire.chosen(faults)
    from conformance import selftest

    return selftest.chosen(faults)


def _faults(number: int) -> str:
    return "fault was" if number == 1 else "faults were"


def _by_suite(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield a line for each folder of faults: how many were caught, and how many of these were blamed otherwise."""
    for suite in dict.fromkeys(sorted(trial.suite for trial in trials if trial.declared)):
        own = [trial for trial in trials if trial.suite == suite and trial.declared]
        caught = [trial for trial in own if trial.blamed is not None]
        otherwise = sum(not trial.ok for trial in caught)
        more = f", {otherwise} of them first seen as what they do not break" if otherwise else ""
        yield f"{suite:<12}  {len(caught)} of {len(own)} caught{more}"


def record_command(faults: list[str], *, jobs: int | None, wire: bool = False) -> NoReturn:
    """Try the faults until nothing fails and keep what was seen. Ends the command with 0, or with 1 if one of them
    cannot be recorded; the others are kept."""
    from conformance.harness.test_selection import NotCollected
    from conformance.live.server import ServerGone
    from conformance.selftest import NotRecordable, UnknownFault

    try:
        with progress_bar("selftest --update") as show:
            show(0, 1, "beginning")
            if wire:
                from conformance.selftest_wire import JOBS, record_wire

                number = record_wire(faults, jobs=jobs or JOBS, on_progress=show)
            else:
                from conformance.selftest import record

                number = record(faults, jobs=jobs or _JOBS, on_progress=show)
    except (NotCollected, ServerGone) as error:
        fail(str(error), ExitCode.HARNESS_ERROR)
    except UnknownFault as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except NotRecordable as error:
        fail(str(error), ExitCode.DEVIATES)
    except OSError as error:
        fail(f"The record of faults cannot be written ({error.strerror}).", ExitCode.BAD_INPUT)
    console().print(f"{number} fault{'' if number == 1 else 's'} recorded", markup=False)
    sys.exit(int(ExitCode.CONFORMS))


def _write(out: Path | None, trials: Sequence[Trial]) -> None:
    from conformance import __version__
    from conformance.report.coverage import selftest_json

    if out is None:
        return
    try:
        write_text(out, dumps(selftest_json([asdict(trial) for trial in trials], __version__), indent=1) + "\n")
    except OSError as error:
        fail(f"{out} cannot be written ({error.strerror}); name another file.", ExitCode.BAD_INPUT)
