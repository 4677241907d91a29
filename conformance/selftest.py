"""Does the harness catch what it claims to? Runs the suites on the embedded implementation with each of its faults.

A fault passes when every failing requirement is one the fault declares, and when, with the checks of the declared
requirements switched off, nothing fails: then it is those checks that caught it, and not luck. What has caught it is
switched off and the run repeated, for the next check that sees it too: each of them is then known to be able to fail.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, TimeoutExpired
from subprocess import run as run_process
from sys import executable

from conformance.runlog import Run, RunRecordError, read_run
from conformance.spec.catalogue import catalogue, did_you_mean
from conformance.spec.versions import LEVELS
from conformance.verdict import ExitCode, Outcome

LIMIT_S = 300.0  # of one run; the longest takes a twentieth of it on an idle machine
CONTROL = "no fault"
_ROUNDS = 8  # runs for one fault; the last has all its checks switched off
_AT_ONCE = frozenset({"concurrency"})  # suites whose calls meet only where somebody else's process serves them
_TO_THE_END = frozenset({"names", "packets", "structures", "properties"})  # tables: many failures at once
# The run alone: the report that the command would write takes longer than some of the runs.
_RUN = """
import json, sys
from pathlib import Path
from conformance.run import run
wanted = json.loads(sys.argv[1])
result = run(**{**wanted, "out": Path(wanted["out"])})
sys.exit(int(result.exit_code))
"""


class UnknownFault(ValueError):
    """A fault was named that the embedded implementation does not have."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of one fault.

    blamed: the first failing requirement. caught: every declared one whose check failed. survives_disabled: nothing
    fails with the checks of the declared ones switched off.
    """

    fault: str
    suite: str
    declared: tuple[str, ...]
    blamed: str | None
    caught: tuple[str, ...]
    survives_disabled: bool
    ok: bool
    text: str


def selftest(
    names: Sequence[str] = (), *, jobs: int = 2, on_progress: Callable[[int, int, Trial], None] | None = None
) -> list[Trial]:
    """Try the faults named (none: all, and a control run without any). Raises UnknownFault."""
    from conformance.embedded.faults import FAULTS

    for name in names:
        if name not in FAULTS:
            raise UnknownFault(f"There is no fault {name!r}{did_you_mean(name, FAULTS) or '.'}")
    chosen = list(names) or [CONTROL, *sorted(FAULTS)]
    trials: list[Trial] = []
    with tempfile.TemporaryDirectory(prefix="mqconform-selftest-") as folder, ThreadPoolExecutor(jobs) as pool:
        work = [
            pool.submit(_control if name == CONTROL else _trial, name, Path(folder) / f"{number}")
            for number, name in enumerate(chosen)
        ]
        try:
            for done in as_completed(work):
                trials.append(done.result())
                if on_progress is not None:
                    on_progress(len(trials), len(chosen), trials[-1])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # when interrupted: begin no further one
    return sorted(trials, key=lambda trial: (trial.fault != CONTROL, trial.fault))


def _control(name: str, folder: Path) -> Trial:
    code, record = _run("embedded", None, folder)
    # Following another accepted reading is no deviation: the embedded implementation does so in two.
    ok = code == ExitCode.CONFORMS and record is not None and not _failures(record)
    text = "everything passes" if ok else f"a run without faults ended with exit code {code}"
    blamed = next(iter(_failures(record)), None)
    return Trial(name, "all", (), None if ok else blamed, (), True, ok, text)


def _trial(name: str, folder: Path) -> Trial:
    from conformance.embedded.faults import FAULTS

    fault = FAULTS[name]
    declared = tuple(fault.breaks)
    level = _level(declared)

    caught: list[str] = []
    blamed: str | None = None
    switched_off: Sequence[str] = ()
    for number in range(_ROUNDS):
        run_folder = folder / f"{number}"
        code, record = _run(
            f"embedded+{name}", fault.suite, run_folder, profile=fault.profile, level=level, disable=switched_off
        )
        failures = _failures(record)
        blamed = blamed or next(iter(failures), None)
        undeclared = [requirement for requirement in failures if requirement not in declared]
        fresh = [requirement for requirement in failures if requirement in declared and requirement not in caught]
        caught += fresh
        if undeclared or not fresh:
            break
        switched_off = caught if number < _ROUNDS - 2 else declared
    survives = code == ExitCode.CONFORMS and bool(switched_off)
    if blamed is None:
        text = "no check caught it"
    elif undeclared:
        text = f"blamed on {undeclared[0]}, which it does not declare"
    elif not survives:
        text = f"caught even with its checks switched off (exit code {code})"
    else:
        text = f"caught by {', '.join(caught)}"
    return Trial(name, fault.suite, declared, blamed, tuple(caught), survives, survives and not undeclared, text)


def _level(declared: Sequence[str]) -> str:
    """The strongest level among what a fault breaks: what is weaker only warns."""
    levels = {catalogue().requirements[name].level for name in declared}
    return next((level for level in LEVELS if level in levels), "must")


def _run(
    connector: str,
    suite: str | None,
    folder: Path,
    *,
    profile: str | None = None,
    level: str = "must",
    disable: Sequence[str] = (),
) -> tuple[int, Run | None]:
    """One run in a process of its own: a fault may leave anything behind in this one."""
    wanted = {"adapter": connector, "suites": suite, "profile": profile, "level": level, "disable": list(disable)}
    own = {"out": str(folder), "in_process": suite not in _AT_ONCE, "fail_fast": suite not in _TO_THE_END}
    arguments = [executable, "-c", _RUN, json.dumps({**wanted, **own})]
    try:
        code = run_process(arguments, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, timeout=LIMIT_S).returncode
    except TimeoutExpired:
        return int(ExitCode.HARNESS_ERROR), None
    try:
        return code, read_run(folder)
    except RunRecordError:
        return code, None


def _failures(record: Run | None) -> list[str]:
    """The requirements of the failing verdicts, in order, each once.

    A crash, time-out or flaky answer is told with its outcome: it is no id a fault can declare, as no check caught it.
    """
    refuting = (Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY)
    found = (entry.verdict for entry in record.verdicts) if record is not None else ()
    return list(
        dict.fromkeys(
            one.requirement if one.outcome is Outcome.FAIL else f"{one.requirement} ({one.outcome.value})"
            for one in found
            if one.outcome in refuting
        )
    )
