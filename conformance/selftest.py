"""Does the harness catch what it claims to? Runs the suites with each fault of the embedded implementation."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from shutil import rmtree
from subprocess import DEVNULL, PIPE
from sys import executable
from typing import TYPE_CHECKING, Any, Final

from conformance.children import Children
from conformance.command_options import BadInput
from conformance.files import scratch, write_text
from conformance.harness.suite_registry import select
from conformance.harness.test_selection import Claiming, claiming, collected
from conformance.live.judge_client import child_environment
from conformance.live.proxy import ServerGone, addresses, known_faults, served
from conformance.runlog import Run, RunRecordError, Said, read_run
from conformance.spec.catalogue import catalogue, did_you_mean, requirement_id
from conformance.spec.versions import LEVELS
from conformance.verdict import ExitCode, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.embedded.faults import Fault

LIMIT_S = 300.0  # for one run; the longest takes a twentieth of it on an idle machine
_ALONE_S = 1_200.0  # where other suites than its own play a fault to their end, on a busy machine
_FAULT_S = 60.0  # for one more fault of a batch; most take less than a second of a processor
CONTROL = "no fault"
_ROUNDS = 8  # runs for one fault; the last has all its checks switched off
_RECORDED_ROUNDS = 60  # runs for one fault that is recorded; each switches off what the one before has shown
_TO_THE_END = frozenset({"names", "packets", "structures", "properties", "directory"})  # tables: many failures at once
_APART = frozenset({"directory"})  # suites that end a manager while it waits: one in this process waits to the end
_TAPED = frozenset({"objects"})  # suites whose fixed examples one process plays with many faults
_BATCH = 60  # faults that such a process tries; it plays all examples without a fault first, for a minute
REFUTING = (Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY)
RUN = """
import json, sys
from pathlib import Path
from conformance.run import run
wanted = json.loads(sys.argv[1])
result = run(**{**wanted, "out": Path(wanted["out"])})
sys.exit(int(result.exit_code))
"""
"""A run alone, of the arguments in JSON: the report that the command would write takes longer than some of the runs."""

_TAPES = """
import json, sys
from conformance.fault_tapes import write
write(**json.loads(sys.argv[1]))
"""


class UnknownFault(ValueError):
    """The embedded implementation has no fault of this name."""


class NotRecordable(RuntimeError):
    """Faults were seen by no check, or go on being seen. The message has a sentence for each."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of trying one fault.

    suite: that the fault belongs to. declared: what the fault breaks. blamed: the first failing requirement. caught:
    known requirements whose check failed. survives_disabled: nothing fails when the checks of all known requirements
    are switched off; False where that was not tried. seen: all requirements that failed, in order.
    """

    fault: str
    suite: str
    declared: tuple[str, ...]
    blamed: str | None
    caught: tuple[str, ...]
    survives_disabled: bool
    ok: bool
    text: str
    seen: tuple[str, ...] = ()


def selected_trials(names: Sequence[str] = ()) -> list[str]:
    """Return the trials that `selftest` makes: of these faults, or of all after the control. Raises UnknownFault."""
    known = _every_fault()
    _refuse_unknown(names, known)
    return list(dict.fromkeys(names)) or [CONTROL, *sorted(known)]


def _every_fault() -> Mapping[str, Fault]:
    from conformance.embedded.faults import EVERY_FAULT  # hundreds of classes: only when one is asked for

    return EVERY_FAULT


def selftest(
    names: Sequence[str] = (),
    *,
    suites: str | None = None,
    jobs: int = 2,
    budget_s: float | None = None,
    on_progress: Callable[[int, int, Trial], None] | None = None,
) -> list[Trial]:
    """Try these faults (none: all, and a control run without any).

    suites: comma-separated: each fault is tried once, by these suites in place of its own, to learn what they catch by
    themselves. budget_s: seconds after which no further trial begins. Raises UnknownFault and UnknownSuite.
    """
    select(suites)
    wanted = selected_trials(names)
    until = time.monotonic() + budget_s if budget_s is not None else math.inf
    trials: list[Trial] = []
    with scratch("mqconform-selftest-") as folder, ThreadPoolExecutor(jobs) as pool:
        children = Children(folder)

        def attempt(names: Sequence[str], number: int) -> list[Trial]:
            if time.monotonic() > until:
                return []
            place, (name, *_) = folder / f"{number}", names
            if name == CONTROL:
                return [_control(children, name, place, suites)]
            if suites is not None:
                return [_alone(children, name, place, suites)]
            return [_trial(each, rounds) for each, rounds in _tried(children, names, place).items()]

        batches = _batches(wanted) if suites is None else [[name] for name in wanted]
        work = [pool.submit(attempt, names, number) for number, names in enumerate(batches)]
        try:
            for done in as_completed(work):
                for trial in done.result():
                    trials.append(trial)
                    if on_progress is not None:
                        on_progress(len(trials), len(wanted), trial)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # When interrupted, begin no further run.
            children.end()
    return sorted(trials, key=lambda trial: (trial.fault != CONTROL, trial.fault))


def _refuse_unknown(names: Sequence[str], known: Mapping[str, object]) -> None:
    for name in names:
        if name not in known:
            raise UnknownFault(f"There is no fault {name!r}{did_you_mean(name, known) or '.'}")


def _control(children: Children, name: str, folder: Path, suites: str | None) -> Trial:
    code, record = _run(children, "embedded", suites, folder)
    # Following another accepted reading is no deviation: the embedded implementation does so in two.
    ok = code == ExitCode.CONFORMS and record is not None and not failures(record)
    text = "everything passes" if ok else f"a run without faults ended with exit code {code}"
    blamed = next(iter(failures(record)), None)
    return Trial(name, "all", (), None if ok else blamed, (), True, ok, text)


def _alone(children: Children, name: str, folder: Path, suites: str) -> Trial:
    """Try a fault once by these suites, with all checks on."""
    fault = _every_fault()[name]
    first = (*fault.breaks, *fault.first_seen_as)
    level = level_of(fault.breaks)
    code, record = _run(
        children, f"embedded+{name}", suites, folder, profile=fault.profile, level=level, limit_s=_ALONE_S
    )
    seen = tuple(failures(record))
    if record is None or code not in (ExitCode.CONFORMS, ExitCode.DEVIATES):
        text = f"the run ended with exit code {code}"
    elif not seen:
        text = "no check caught it"
    else:
        text = f"caught by {seen[0]}" if seen[0] in first else f"first seen as {seen[0]}, which it does not break"
    caught = tuple(requirement for requirement in seen if requirement in first)
    ok = bool(seen) and seen[0] in first
    return Trial(name, fault.suite, tuple(fault.breaks), next(iter(seen), None), caught, False, ok, text, seen)


def _batches(names: Sequence[str]) -> list[list[str]]:
    """Return faults as they are tried together: those of taped suites by the dozen, each other one alone."""
    known = _every_fault()
    taped = [name for name in names if name in known and known[name].suite in _TAPED]
    own = set(taped)
    return [[name] for name in names if name not in own] + [
        taped[at : at + _BATCH] for at in range(0, len(taped), _BATCH)
    ]


def _tried(children: Children, names: Sequence[str], folder: Path, *, record: bool = False) -> dict[str, Rounds]:
    """Return what each fault of a batch is seen as. record: until nothing fails, whatever it is."""
    from conformance.embedded.faults.recorded import shows_as

    every = _every_fault()
    faults = {name: every[name] for name in names}
    (name, *_), fault = names, faults[names[0]]
    if fault.suite in _TAPED:
        return _on_tapes(children, faults, folder)
    known = None if record else tuple(dict.fromkeys((*fault.breaks, *fault.first_seen_as, *shows_as(fault))))
    return {name: _rounds(children, fault, folder, known)}


def _on_tapes(children: Children, faults: Mapping[str, Fault], folder: Path) -> dict[str, Rounds]:
    """Try faults in one process, which plays each example once: it goes on where a run would switch a check off."""
    folder.mkdir()
    found = folder / "found"
    (suite,) = {fault.suite for fault in faults.values()}
    levels = {name: level_of(fault.breaks) for name, fault in faults.items()}
    wanted = {"suite": suite, "levels": levels, "out": str(found)}
    children.run([executable, "-c", _TAPES, json.dumps(wanted)], _ALONE_S + _FAULT_S * len(faults))
    seen = _on_tape(found)
    return {name: seen.get(name) or _of_tapes(None) for name in faults}


def _on_tape(found: Path) -> dict[str, Rounds]:
    """Return what a process has written of the faults that it has tried by now."""
    lines = found.read_text(encoding="utf-8").splitlines() if found.is_file() else []
    return {name: _of_tapes(tuple(each)) for name, each in map(json.loads, lines)}


def _of_tapes(seen: tuple[str, ...] | None) -> Rounds:
    if seen is None:
        return Rounds((), int(ExitCode.HARNESS_ERROR), False)
    known = all(name in catalogue().requirements for name in seen)
    return Rounds(seen, int(ExitCode.CONFORMS if known else ExitCode.DEVIATES), bool(seen) and known)


def _trial(name: str, rounds: Rounds) -> Trial:
    from conformance.embedded.faults.recorded import recorded_faults, shows_as

    fault = _every_fault()[name]
    first = (*fault.breaks, *fault.first_seen_as)
    shows = shows_as(fault) if name in recorded_faults() else rounds.seen  # a record says what else it may be seen as
    return of_rounds(name, fault.suite, fault.breaks, rounds, first=first, shows=shows)


def of_rounds(
    name: str, suite: str, breaks: Sequence[str], rounds: Rounds, *, first: Sequence[str], shows: Sequence[str]
) -> Trial:
    """Return what the rounds of a fault show. first: that it may be first seen as. shows: that it may be seen as."""
    known = {*first, *shows}
    seen = rounds.seen
    blamed = next(iter(seen), None)
    undeclared = [requirement for requirement in seen if requirement not in known]
    caught = tuple(requirement for requirement in seen if requirement in known)
    if blamed is None:
        text = f"no check caught it{'' if rounds.code == ExitCode.CONFORMS else f' (exit code {rounds.code})'}"
    elif undeclared:
        text = f"blamed on {undeclared[0]}, which it neither breaks nor was recorded to show as"
    elif blamed not in first:
        text = f"first seen as {blamed}, which it does not break"
    elif not rounds.survives:
        text = f"caught even with its checks switched off (exit code {rounds.code})"
    else:
        text = f"caught by {', '.join(caught)}"
    ok = rounds.survives and not undeclared and blamed in first
    return Trial(name, suite, tuple(breaks), blamed, caught, rounds.survives, ok, text, seen)


@dataclass(frozen=True, slots=True)
class Rounds:
    """The result of the runs of a fault.

    seen: what failed, in the order it did. code: the exit code of the last run. survives: nothing failed there."""

    seen: tuple[str, ...]
    code: int
    survives: bool


def _rounds(children: Children, fault: Fault, folder: Path, known: Sequence[str] | None) -> Rounds:
    """Runs in each of which what failed before is switched off, until nothing fails.

    known: all that may fail; it is switched off in the last of a few rounds, and anything else ends them. None, for a
    record: whatever fails is switched off next, for as many rounds as it takes.
    """
    seen: list[str] = []
    off: Sequence[str] = ()
    code = int(ExitCode.HARNESS_ERROR)
    most = _ROUNDS if known is not None else _RECORDED_ROUNDS
    for number in range(most):
        code, record = _run(
            children,
            f"embedded+{fault.name}",
            fault.suite,
            folder / f"{number}",
            profile=fault.profile,
            level=level_of(fault.breaks),
            disable=off,
        )
        fresh = [requirement for requirement in failures(record) if requirement not in seen]
        seen += fresh
        if not fresh or any(requirement not in catalogue().requirements for requirement in fresh):
            break
        if known is not None and not set(fresh) <= set(known):
            break
        off = known if known is not None and number >= most - 2 else list(seen)
    return Rounds(tuple(seen), code, code == ExitCode.CONFORMS and bool(off))


def record(names: Sequence[str], *, jobs: int = 2, on_progress: Callable[[int, int, str], None] | None = None) -> int:
    """Try the faults named until nothing fails, and keep what each was seen as beside the faults.

    names: none for all whose source, or whose suite, is another than it was when they were recorded. A fault that was
    not recorded before is kept if what is first seen is what it breaks. What is known is kept as it comes, also when
    this is interrupted. Returns how many were recorded. Raises UnknownFault, OSError where the file cannot be written,
    and at the end NotRecordable for faults that no check sees, that are seen as a crash, or first seen as something
    else; all others are kept.
    """
    from conformance.embedded.faults.recorded import SEEN, Seen, digest, recorded_faults, recorded_text

    every = _every_fault()
    _refuse_unknown(names, every)
    lost: list[str] = []
    kept = {name: one for name, one in recorded_faults().items() if name in every}
    judges = {suite: suite_digest(suite) for suite in {fault.suite for fault in every.values()}}
    current = {
        name
        for name, one in kept.items()
        if (one.source, one.suite) == (digest(every[name]), judges[every[name].suite])
    }
    chosen = list(names) or [name for name in every if name not in current]
    left = set(chosen)

    def keep(name: str, rounds: Rounds) -> None:
        left.discard(name)
        why = _not_kept(name, rounds, new=name not in kept)
        if why is not None:
            lost.append(why)
        else:
            kept[name] = Seen(digest(every[name]), rounds.seen, suite=judges[every[name].suite])
        if on_progress is not None:
            on_progress(len(chosen) - len(left), len(chosen), name)

    with scratch("mqconform-selftest-") as folder, ThreadPoolExecutor(jobs) as pool:
        children = Children(folder)
        batches = enumerate(_batches(chosen))
        work = [pool.submit(_tried, children, batch, folder / f"{at}", record=True) for at, batch in batches]
        try:
            for done in as_completed(work):
                for name, rounds in done.result().items():
                    keep(name, rounds)
                write_text(SEEN, recorded_text(kept))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            children.end()
            for part in folder.glob("*/found"):
                for name, rounds in _on_tape(part).items():
                    if name in left:
                        keep(name, rounds)
            write_text(SEEN, recorded_text(kept))
    if lost:
        raise NotRecordable(" ".join(lost))
    return len(chosen)


@cache
def suite_digest(suite: str) -> str:
    """Return a digest of the modules and data of a suite and of the rooms that judge."""
    found = hashlib.sha256()
    for room in (f"suites/{suite}", "activex", "grammar", "harness", "histories", "judge", "model", "wire"):
        for path in sorted((Path(__file__).parent / room).rglob("*")):
            if path.suffix in (".py", ".zlib", ".json", ".toml"):
                found.update(path.relative_to(Path(__file__).parent).as_posix().encode() + path.read_bytes())
    return found.hexdigest()[:12]


def _not_kept(name: str, rounds: Rounds, *, new: bool) -> str | None:
    """Return why what was seen of a fault is not recorded, None if it is."""
    if not rounds.survives:
        found = f"seen as {', '.join(rounds.seen)}" if rounds.seen else "seen by no check"
        return f"{name} was {found}; the last run ended with exit code {rounds.code}."
    fault = _every_fault()[name]
    if new and rounds.seen[0] not in (*fault.breaks, *fault.first_seen_as):
        return f"{name} was first seen as {rounds.seen[0]}, which it does not break."
    return None


def level_of(declared: Sequence[str]) -> str:
    """Return the strongest level of the requirements that a fault breaks: weaker ones only warn."""
    levels = {catalogue().requirements[name].level for name in declared}
    return next((level for level in LEVELS if level in levels), "must")


def _run(
    children: Children,
    connector: str,
    suite: str | None,
    folder: Path,
    *,
    profile: str | None = None,
    level: str = "must",
    disable: Sequence[str] = (),
    limit_s: float = LIMIT_S,
) -> tuple[int, Run | None]:
    """Run suites in a separate process, because a fault may leave anything behind in its process."""
    wanted = {"adapter": connector, "suites": suite, "profile": profile, "level": level, "disable": list(disable)}
    one = _TO_THE_END.isdisjoint((suite or "").split(","))
    own = {
        "out": str(folder),
        "in_process": suite not in {None, *_APART},
        "max_failures": 1 if one else None,
        "quirks": False,
    }
    arguments = [executable, "-c", RUN, json.dumps({**wanted, **own})]
    code = children.run(arguments, limit_s)
    if code is None:
        return int(ExitCode.HARNESS_ERROR), None
    try:
        return code, read_run(folder)
    except RunRecordError:
        return code, None


def failures(record: Run | None) -> list[str]:
    """Return the requirements of the failing verdicts, in order, each once.

    A crash, time-out or flaky answer is listed with its outcome: no check caught it, so no fault can declare it.
    """
    found = record.said if record is not None else ()
    return list(dict.fromkeys(failure(one) for one in found if one.outcome in REFUTING))


def failure(one: Said | Verdict) -> str:
    """Return the requirement of a failing verdict, with its outcome if that is not FAIL."""
    return one.requirement if one.outcome is Outcome.FAIL else f"{one.requirement} ({one.outcome.value})"


SEEN: Final = Path(__file__).parent / "embedded" / "faults" / "seen_network.json"
"""The requirements that each fault was seen as when it was last recorded."""
JOBS: Final = 8
"""Runs at the same time, unless told otherwise: each takes a twentieth of a processor."""
SUITE: Final = "sessions"
RPC_SUITE: Final = "remote"
WIRE_LIMIT_S: Final = 1_200.0
_WIRE_ROUNDS: Final = 12
_MOST: Final = 8
"""So many tests may fail before a round ends, unless the fault is recorded."""
_SILENT: Final = frozenset({requirement_id("MQQB-3.1.7.15.insecure")})
"""The requirement that only a server breaks which was not told to send insecure negative acknowledgments."""


@dataclass(frozen=True, slots=True)
class Played:
    """One run. code: its exit code. failed: by requirement, in order, the first test that failed in it."""

    code: int
    failed: Mapping[str, str] = field(default_factory=dict)


_LOST: Final = Played(int(ExitCode.HARNESS_ERROR))


@dataclass(frozen=True, slots=True)
class _Fault:
    """A fault as it is tried. first, known: what it may be first seen as, and seen as at all. tests: to be played.

    level: of what it breaks and the suite judges; weaker demands only warn. suite: that tries it.
    """

    name: str | None
    breaks: tuple[str, ...]
    first: tuple[str, ...]
    known: tuple[str, ...]
    tests: tuple[str, ...]
    level: str = "must"
    suite: str = SUITE

    @property
    def silent(self) -> bool:
        """True if the server is not to tell of missing queues and rights."""
        return not _SILENT.isdisjoint(self.breaks)


_NONE: Final = _Fault(None, (), (), (), ())


def wire_trials(names: Sequence[str] = ()) -> list[str]:
    """Return the trials that are made: the control, then these faults, or all that calls show. Raises UnknownFault and
    ServerGone."""
    known = _breaks()
    for name in names:
        if name not in known:
            raise UnknownFault(f"The network has no fault {name!r}{did_you_mean(name, known) or '.'}")
    return [CONTROL, *(dict.fromkeys(names) or (fault["name"] for fault in _known() if "unseen" not in fault))]


def recorded_wire_faults() -> Mapping[str, tuple[str, ...]]:
    """Return what each recorded fault was seen as, in the order of failure."""
    if not SEEN.is_file():
        return {}
    stored: dict[str, list[str]] = json.loads(SEEN.read_text(encoding="utf-8"))
    return {name: tuple(requirements) for name, requirements in stored.items()}


def recorded_text(records: Mapping[str, Sequence[str]]) -> str:
    """Return the text of the record: a line for each fault, so that a diff shows what has changed."""
    lines = (f"{json.dumps(name)}: {json.dumps(list(shown))}" for name, shown in sorted(records.items()))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def selftest_wire(
    names: Sequence[str] = (),
    *,
    jobs: int = JOBS,
    budget_s: float | None = None,
    on_progress: Callable[[int, int, Trial], None] | None = None,
) -> list[Trial]:
    """Try these faults of the network (none: all) after a control without a fault, whose failure ends it.

    budget_s: seconds after which no further trial begins. Raises UnknownFault and ServerGone.
    """
    wanted = wire_trials(names)
    faults = _faults(wanted[1:], whole=False)
    trials: list[Trial] = []

    def told(trial: Trial) -> None:
        trials.append(trial)
        if on_progress is not None:
            on_progress(len(trials), len(wanted), trial)

    with _bench(jobs, budget_s) as bench:
        if not bench.late():
            told(bench.control(faults))
        if trials and trials[0].ok:
            for fault, rounds in bench.tried(faults):
                shows = recorded_wire_faults().get(fault.name or "", ())
                told(of_rounds(str(fault.name), fault.suite, fault.breaks, rounds, first=fault.first, shows=shows))
    return sorted(trials, key=lambda trial: (trial.fault != CONTROL, trial.fault))


def record_wire(
    names: Sequence[str] = (), *, jobs: int = JOBS, on_progress: Callable[[int, int, str], None] | None = None
) -> int:
    """Try these faults of the network (none: all) by the whole suite until nothing fails, and keep what was seen.

    Returns how many were recorded. Raises UnknownFault, ServerGone, OSError where the file cannot be written, and at
    the end NotRecordable for faults that nothing sees, that are first seen as what they do not break, or that go on
    failing, and for a control that fails; all others are kept.
    """
    wanted = wire_trials(names)
    faults = _faults(wanted[1:], whole=True)
    lost: list[str] = []
    kept = {name: one for name, one in recorded_wire_faults().items() if name in _breaks()}
    with _bench(jobs, None) as bench:
        control = bench.control(faults)
        if not control.ok:
            raise NotRecordable(f"Without a fault, {control.text}.")
        for number, (fault, rounds) in enumerate(bench.tried(faults, record=True), 1):
            why = _wire_lapses(fault, rounds)
            if why is not None:
                lost.append(why)
            else:
                kept[str(fault.name)] = rounds.seen
            if on_progress is not None:
                on_progress(number, len(faults), str(fault.name))
            write_text(SEEN, recorded_text(kept))
    if lost:
        raise NotRecordable(" ".join(lost))
    return len(faults)


def _wire_lapses(fault: _Fault, rounds: Rounds) -> str | None:
    if not rounds.seen:
        return f"{fault.name} was seen by no check; the last run ended with exit code {rounds.code}."
    if rounds.seen[0] not in fault.first:
        return f"{fault.name} was first seen as {rounds.seen[0]}, which it does not break."
    if not rounds.survives:
        return f"{fault.name} was seen as {', '.join(rounds.seen)}; the last run ended with exit code {rounds.code}."
    return None


def _faults(names: Iterable[str], *, whole: bool) -> list[_Fault]:
    """Return the faults with the tests that are played. whole: all tests, whatever was recorded."""
    breaks, suites, records = _breaks(), _suites(), recorded_wire_faults()
    found = []
    for name in names:
        tests = _tests(suites[name])
        claimed = {requirement for test in tests for requirement in test.requirements}
        known = tuple(dict.fromkeys((*breaks[name], *records.get(name, ()))))
        played = tests if whole else claiming(tests, known)
        level = level_of([one for one in breaks[name] if one in claimed] or breaks[name])
        found.append(_Fault(name, breaks[name], breaks[name], known, _nodes(played), level, suites[name]))
    return found


@cache
def _known() -> tuple[dict[str, Any], ...]:
    return tuple(known_faults())


def _breaks() -> Mapping[str, tuple[str, ...]]:
    """Return what each fault breaks. Raises ServerGone."""
    return {fault["name"]: tuple(fault["breaks"]) for fault in _known()}


def _suites() -> Mapping[str, str]:
    """Return the suite that tries each fault. Raises ServerGone."""
    return {fault["name"]: RPC_SUITE if "plane" in fault else SUITE for fault in _known()}


@cache
def _tests(suite: str) -> tuple[Claiming, ...]:
    """Return the tests of a suite, in the order they run. Raises NotCollected."""
    return tuple(collected(select(suite)[suite]))


def _nodes(tests: Iterable[Claiming]) -> tuple[str, ...]:
    return tuple(test.node for test in tests)


class Players:
    """Processes that play one run after another, as many as are asked at the same time."""

    def __init__(self, folder: Path) -> None:
        self._environment = {**child_environment(), "TMPDIR": str(folder)}
        self._lock = threading.Lock()
        self._free: list[subprocess.Popen[bytes]] = []
        self._living: set[subprocess.Popen[bytes]] = set()
        self._over = False

    def play(self, wanted: Mapping[str, Any], limit_s: float) -> Played | None:
        """Play a run of these arguments. Returns None if it takes too long, its process ends, or `end` was called."""
        player = self._player()
        if player is None:
            return None
        assert player.stdin is not None and player.stdout is not None
        late = threading.Timer(limit_s, player.kill)
        late.start()
        try:
            player.stdin.write(json.dumps(wanted).encode() + b"\n")
            player.stdin.flush()
            line = player.stdout.readline()
        except OSError:
            line = b""
        finally:
            late.cancel()
        with self._lock:
            if not line:
                self._living.discard(player)
                return None
            self._free.append(player)
        code, failed = json.loads(line)
        return Played(code, failed)

    def end(self) -> None:
        """End all processes, and begin no other."""
        with self._lock:
            self._over = True
            living = list(self._living)
        for player in living:
            player.kill()
            player.communicate()

    def _player(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._over:
                return None
            if self._free:
                return self._free.pop()
            command = [executable, "-P", "-c", "from conformance.selftest import serve_runs; serve_runs()"]
            player = subprocess.Popen(
                command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=self._environment, start_new_session=True
            )
            self._living.add(player)
            return player


def serve_runs() -> None:
    """Play the run of each line of JSON on stdin, and answer with a line: exit code, and the members of `Played`."""
    from conformance.run import run

    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        result = run(**json.loads(line))
        failed = dict.fromkeys(failures(result.record), "")
        for one in reversed(result.record.verdicts if failed and result.record is not None else ()):
            if one.verdict.outcome in REFUTING:
                failed[failure(one.verdict)] = one.test
        answers.write(json.dumps([int(result.exit_code), failed]) + "\n")
        answers.flush()


class _Bench:
    """Runs of the suite, each on a server of its own. jobs: at the same time. until: when no trial begins any more."""

    def __init__(self, folder: Path, jobs: int, until: float, pool: ThreadPoolExecutor) -> None:
        self._players = Players(folder)
        self._folder, self._jobs, self._until, self._pool = folder, jobs, until, pool
        self._places: SimpleQueue[tuple[str, str]] = SimpleQueue()
        for number in range(jobs):
            self._places.put(addresses(number))
        self._runs = iter(range(1 << 62))

    def late(self) -> bool:
        """Tell whether no trial may begin."""
        return time.monotonic() > self._until

    def end(self) -> None:
        """End every run and begin no other."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._players.end()

    def control(self, faults: Sequence[_Fault]) -> Trial:
        """Play all tests that the faults are tried by without a fault, in as many parts as there are jobs."""
        found: list[str] = []
        code = int(ExitCode.CONFORMS)
        parts: list[Future[Played]] = []
        for suite, silent in dict.fromkeys((fault.suite, fault.silent) for fault in faults):
            alike = [fault for fault in faults if (fault.suite, fault.silent) == (suite, silent)]
            wanted = {test for fault in alike for test in fault.tests}
            tests = [test for test in _nodes(_tests(suite)) if test in wanted]
            none = replace(_NONE, breaks=tuple(_SILENT) if silent else (), suite=suite)
            parts += [
                self._pool.submit(self._run, none, part)
                for part in (tests[at :: self._jobs] for at in range(self._jobs))
                if part
            ]
        for part in parts:
            played = part.result()
            found += played.failed
            if played.code not in (ExitCode.CONFORMS, ExitCode.NOTHING_JUDGED):
                code = played.code
        ok = code == ExitCode.CONFORMS and not found
        text = "everything passes" if ok else f"a run without faults ended with exit code {code}"
        more = f": {', '.join(dict.fromkeys(found))}" if found else ""
        return Trial(CONTROL, "all", (), next(iter(found), None), (), True, ok, text + more)

    def tried(self, faults: Sequence[_Fault], *, record: bool = False) -> Iterator[tuple[_Fault, Rounds]]:
        """Yield each fault with what was seen of it, as soon as it is known. record: until nothing fails."""
        longest = sorted(faults, key=lambda fault: -len(fault.tests))
        work = {self._pool.submit(self._rounds, fault, record=record): fault for fault in longest}
        for done in as_completed(work):
            rounds = done.result()
            if rounds is not None:
                yield work[done], rounds

    def _rounds(self, fault: _Fault, *, record: bool) -> Rounds | None:
        if self.late():
            return None
        shown: list[str] = []
        tests: Sequence[str] = fault.tests
        code = int(ExitCode.NOTHING_JUDGED)
        survives = False
        for _ in range(_WIRE_ROUNDS if record else 2):
            if not tests:
                break
            off = tuple(dict.fromkeys((*shown, *(() if record or not shown else fault.known))))
            played = self._run(fault, tests, off=off, most=None if record else _MOST)
            code = played.code
            fresh = {one: test for one, test in played.failed.items() if one not in shown}
            shown += fresh
            survives = bool(off) and not fresh and code in (ExitCode.CONFORMS, ExitCode.NOTHING_JUDGED)
            tests = [test for test in tests if test in fresh.values()]
            if not fresh or any(one not in catalogue().requirements for one in fresh):
                break
            if not record and not set(fresh) <= set(fault.known):
                break
        return Rounds(tuple(shown), code, survives)

    def _run(self, fault: _Fault, tests: Sequence[str], *, off: Sequence[str] = (), most: int | None = None) -> Played:
        """Play tests on a new server. most: until so many have failed."""
        played, folder = set(tests), self._folder / str(next(self._runs))
        wanted = {
            "suites": fault.suite, "level": fault.level, "disable": list(off), "quirks": False,
            "out": str(folder), "max_failures": most,
            "pytest_args": [f"--deselect={test}" for test in _nodes(_tests(fault.suite)) if test not in played],
        }  # fmt: skip
        places = self._places.get()
        try:
            with served(places, fault.name, silent=fault.silent, rpc=fault.suite == RPC_SUITE) as connector:
                return self._players.play({**wanted, "adapter": connector}, WIRE_LIMIT_S) or _LOST
        except (ServerGone, BadInput):
            return _LOST
        finally:
            self._places.put(places)
            rmtree(folder, ignore_errors=True)  # Hundreds of records are gigabytes.


@contextmanager
def _bench(jobs: int, budget_s: float | None) -> Iterator[_Bench]:
    until = time.monotonic() + budget_s if budget_s is not None else math.inf
    with scratch("mqconform-selftest-") as folder, ThreadPoolExecutor(jobs) as pool:
        bench = _Bench(folder, jobs, until, pool)
        try:
            yield bench
        finally:
            bench.end()
