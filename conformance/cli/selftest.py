"""`mqconform selftest` and `mqconform faults`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from conformance.cli.output import console, emit_json, fail, json_wanted, progress_bar
from conformance.cli.shared_options import Suites, group, joined
from conformance.files import write_text
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.embedded.faults import Fault
    from conformance.selftest import Trial

_JOBS = 2


def command(
    faults: list[str],
    *,
    suites: str | None,
    jobs: int | None,
    budget_s: float | None,
    out: Path | None,
    wire: bool = False,
) -> None:
    """Try the faults and print a table; 0 when each is first seen as what it breaks, and as nothing unknown.

    wire: those of the queue manager on the network, by the suite `sessions`.

    An interrupt, or the end of the time, ends it with the table of the faults that were tried until then.
    """
    from conformance.harness.suite_registry import UnknownSuite
    from conformance.harness.test_selection import NotCollected
    from conformance.live.proxy import ServerGone
    from conformance.selftest import UnknownFault

    if wire and suites is not None:
        fail("--wire and --suite exclude each other: faults of serve are for the suite sessions.", ExitCode.BAD_INPUT)
    trials: list[Trial] = []
    interrupted = False
    try:
        with progress_bar("selftest", quiet=json_wanted() and not sys.stderr.isatty()) as show:

            def on_progress(done: int, total: int, trial: Trial) -> None:
                trials.append(trial)
                _write(out, trials)  # After each, so that an interrupted selftest keeps its results.
                show(done, total, f"{trial.fault}{'' if trial.ok else ': MISSED'}")

            show(0, 1, "beginning")
            _write(out, trials)  # Before the first, so that an unwritable file is reported at once.
            if wire:
                from conformance.selftest import JOBS, selftest_wire

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
    if json_wanted():
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
        from conformance import selftest

        return selftest.wire_trials(faults)
    from conformance import selftest

    return selftest.selected_trials(faults)


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
    from conformance.live.proxy import ServerGone
    from conformance.selftest import NotRecordable, UnknownFault

    try:
        with progress_bar("selftest --update") as show:
            show(0, 1, "beginning")
            if wire:
                from conformance.selftest import JOBS, record_wire

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


app = group("Show the named deviations of the embedded implementation, to try the checks that find them.")


@app.command("list", epilog="Example: mqconform faults list --suite transactions")
def faults_list(
    suite: Suites = None,
) -> None:
    """List the faults with the suite that finds each, its effect, and the first requirement it breaks."""
    from conformance.embedded.faults import FAULTS
    from conformance.harness.suite_registry import UnknownSuite, select

    try:
        wanted = select(joined(suite))
    except UnknownSuite as error:
        fail(str(error), ExitCode.BAD_INPUT)
    found = [FAULTS[name] for name in sorted(FAULTS, key=lambda name: (FAULTS[name].suite, name))]
    found = [each for each in found if each.suite in wanted]
    if json_wanted():
        emit_json([as_json(each) for each in found])
        return
    from conformance.runlog.counts import counted

    out = console()
    for each in found:
        out.print(f"{each.suite:<12}  {each.name}: {each.says}", markup=False, soft_wrap=True)
        out.print(f"{'':<12}  breaks {_breaks(each)}", markup=False, soft_wrap=True, style="dim")
    out.print(f"{counted(len(found), 'fault')}; try one with --adapter embedded+NAME", markup=False, soft_wrap=True)


@app.command("show", epilog="Example: mqconform faults show ignores-priority")
def faults_show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The fault's name.")],
) -> None:
    """Show one fault, what it breaks, what else it was seen as, and the command that finds it."""
    from conformance.embedded.faults import FAULTS
    from conformance.embedded.faults.recorded import recorded_faults, shows_as
    from conformance.spec.catalogue import catalogue, did_you_mean

    if name not in FAULTS:
        fail(f"There is no fault {name!r}{did_you_mean(name, FAULTS) or '.'}", ExitCode.BAD_INPUT)
    fault = FAULTS[name]
    if json_wanted():
        emit_json(as_json(fault))
        return
    out = console()
    lines = [name, f"  {fault.says}", f"  found by the suite {fault.suite}"]
    if fault.profile:
        lines.append(f"  shows with --profile {fault.profile}")
    lines.append(f"  breaks {len(fault.breaks)} requirement{'' if len(fault.breaks) == 1 else 's'}:")
    known = catalogue().requirements
    lines += [f"    {each}  {known[each].says}" for each in fault.breaks]
    for each in fault.first_seen_as:
        lines += ["  may be blamed first:", f"    {each}  {known[each].says}", f"    because {fault.because}"]
    others = [each for each in shows_as(fault) if each not in fault.first_seen_as]
    if others:
        followed = recorded_faults()[fault.name].followed
        lines.append("  was also seen as:" if followed else "  is expected to show as these too:")
        lines += [f"    {each}  {known[each].says}" for each in others]
    lines.append(f"  try it: {show_faults(fault)}")
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)


def as_json(fault: Fault) -> dict[str, Any]:
    """Return a fault as `--json` prints it. breaks: requirement ids, from the text.

    shows_as: other requirements. followed: a run has seen all of them, see `Seen.followed`.
    """
    from conformance.embedded.faults.recorded import recorded_faults, shows_as

    return {
        "name": fault.name,
        "suite": fault.suite,
        "does": fault.says,
        "breaks": list(fault.breaks),
        "first_seen_as": list(fault.first_seen_as),
        "because": fault.because or None,
        "shows_as": list(shows_as(fault)),
        "followed": fault.name in recorded_faults() and recorded_faults()[fault.name].followed,
        "profile": fault.profile,
        "command": show_faults(fault),
    }


def show_faults(fault: Fault) -> str:
    """Return the command that finds a fault."""
    profile = f" --profile {fault.profile}" if fault.profile else ""
    return f"mqconform run --adapter embedded+{fault.name} --suite {fault.suite}{profile}"


def _breaks(fault: Fault) -> str:
    more = len(fault.breaks) - 1
    return fault.breaks[0] + (f" and {more} more" if more else "")
