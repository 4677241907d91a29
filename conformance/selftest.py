"""Does the harness catch what it claims to? Runs the suites on the embedded implementation with each of its faults.

A fault passes when the first failing requirement is one the fault declares, and when, with the checks of the declared
requirements switched off, nothing fails: then it is those checks that caught it, and not luck.
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
_AT_ONCE = frozenset({"concurrency"})  # suites whose calls meet only where somebody else's process serves them
# The run alone: the report that the command would write takes longer than some of the runs.
_RUN = """
import json, sys
from pathlib import Path
from conformance.run import run
wanted = json.loads(sys.argv[1])
result = run(**{**wanted, "out": Path(wanted["out"])}, fail_fast=True)
sys.exit(int(result.exit_code))
"""


class UnknownFault(ValueError):
    """A fault was named that the embedded implementation does not have."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of one fault. blamed: the first failing requirement. seconds: to the end of the run that found it."""

    fault: str
    suite: str
    declared: tuple[str, ...]
    blamed: str | None
    survives_disabled: bool
    ok: bool
    text: str


def selftest(
    names: Sequence[str] = (), *, jobs: int = 2, on_progress: Callable[[int, int, str], None] | None = None
) -> list[Trial]:
    """Try the faults named (none: all, and a control run without any). Raises UnknownFault."""
    from conformance.embedded.faults import FAULTS

    for name in names:
        if name not in FAULTS:
            raise UnknownFault(f"There is no fault {name!r}{did_you_mean(name, FAULTS) or '.'}")
    chosen = list(names) or [CONTROL, *sorted(FAULTS)]
    trials: list[Trial] = []
    with tempfile.TemporaryDirectory(prefix="mqconform-selftest-") as folder, ThreadPoolExecutor(jobs) as pool:
        work = {
            pool.submit(_control if name == CONTROL else _trial, name, Path(folder) / f"{number}"): name
            for number, name in enumerate(chosen)
        }
        try:
            for done in as_completed(work):
                trials.append(done.result())
                if on_progress is not None:
                    on_progress(len(trials), len(chosen), work[done])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # when interrupted: begin no further one
    return sorted(trials, key=lambda trial: (trial.fault != CONTROL, trial.fault))


def _control(name: str, folder: Path) -> Trial:
    code, record = _run("embedded", None, folder)
    ok = code == ExitCode.CONFORMS and record is not None and record.worst in (Outcome.PASS, Outcome.WARN, Outcome.SKIP)
    text = "everything passes" if ok else f"a run without faults ended with exit code {code}"
    return Trial(name, "all", (), None if ok or record is None else _first_failure(record), True, ok, text)


def _trial(name: str, folder: Path) -> Trial:
    from conformance.embedded.faults import FAULTS

    fault = FAULTS[name]
    declared = tuple(fault.breaks)
    level = _level(declared)
    _, record = _run(f"embedded+{name}", fault.suite, folder / "on", profile=fault.profile, level=level)
    blamed = _first_failure(record) if record is not None else None
    off = folder / "off"
    code, without = _run(f"embedded+{name}", fault.suite, off, profile=fault.profile, level=level, disable=declared)
    survives = without is not None and code == ExitCode.CONFORMS
    if blamed is None:
        text = "no check caught it"
    elif blamed not in declared:
        text = f"blamed on {blamed}, which it does not declare"
    elif not survives:
        also = _first_failure(without) if without is not None else None
        text = f"caught even with its checks switched off ({also or f'exit code {code}'})"
    else:
        text = f"caught by {blamed}"
    return Trial(name, fault.suite, declared, blamed, survives, blamed in declared and survives, text)


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
    own = {"out": str(folder), "in_process": suite not in _AT_ONCE}
    arguments = [executable, "-c", _RUN, json.dumps({**wanted, **own})]
    try:
        code = run_process(arguments, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, timeout=LIMIT_S).returncode
    except TimeoutExpired:
        return int(ExitCode.HARNESS_ERROR), None
    try:
        return code, read_run(folder)
    except RunRecordError:
        return code, None


def _first_failure(record: Run) -> str | None:
    """The requirement of the first failing verdict.

    A crash, time-out or flaky answer is told with its outcome: it is no id a fault can declare, as no check caught it.
    """
    refuting = (Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY)
    first = next((entry.verdict for entry in record.verdicts if entry.verdict.outcome in refuting), None)
    if first is None:
        return None
    return first.requirement if first.outcome is Outcome.FAIL else f"{first.requirement} ({first.outcome.value})"
