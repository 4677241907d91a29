"""Does the suite `sessions` catch the faults of the queue manager that `serve` starts? `mqconform selftest --wire`.

A fault is tried as those of the embedded implementation are (`conformance.selftest`): first seen as what it breaks, and
as nothing with the checks off of all that it is known as. Each run has a server of its own, at loopback addresses of
its own, with timers that are short and declared; runs mostly wait, so that many go on at the same time.

The first round of a fault plays the tests that claim what it breaks or was recorded to be seen as, until some have
failed. A test ends with its first failure, and with that check switched off it ends there without one; so the next
round plays one test for each requirement that failed, with the checks of all that is known switched off. What is
recorded was tried by the whole suite, to its end.
"""

from __future__ import annotations

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
from typing import Any, Final

from conformance.command_options import BadInput
from conformance.files import write_text
from conformance.harness.suite_registry import select
from conformance.harness.test_selection import Claiming, claiming, collected
from conformance.live.judge_client import child_environment
from conformance.live.server import ServerGone, addresses, known_faults, served
from conformance.scratch import scratch
from conformance.selftest import (
    CONTROL,
    REFUTING,
    NotRecordable,
    Rounds,
    Trial,
    UnknownFault,
    failure,
    failures,
    level_of,
    of_rounds,
)
from conformance.spec.catalogue import catalogue, did_you_mean, requirement_id
from conformance.verdict import ExitCode

SEEN: Final = Path(__file__).parent / "embedded" / "faults" / "seen_network.json"
"""The requirements that each fault was seen as when it was last recorded."""
JOBS: Final = 8
"""Runs at the same time, unless told otherwise: each takes a twentieth of a processor."""
SUITE: Final = "sessions"
LIMIT_S: Final = 1_200.0
_ROUNDS: Final = 12
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

    level: of what it breaks and the suite judges; weaker demands only warn.
    """

    name: str | None
    breaks: tuple[str, ...]
    first: tuple[str, ...]
    known: tuple[str, ...]
    tests: tuple[str, ...]
    level: str = "must"

    @property
    def silent(self) -> bool:
        """True if the server is not to tell of missing queues and rights."""
        return not _SILENT.isdisjoint(self.breaks)


_NONE: Final = _Fault(None, (), (), (), ())


def selected_trials(names: Sequence[str] = ()) -> list[str]:
    """Return the trials that are made: the control, then these faults or all. Raises UnknownFault and ServerGone."""
    known = _breaks()
    for name in names:
        if name not in known:
            raise UnknownFault(f"The network has no fault {name!r}{did_you_mean(name, known) or '.'}")
    return [CONTROL, *(dict.fromkeys(names) or known)]


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
    wanted = selected_trials(names)
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
                told(of_rounds(str(fault.name), SUITE, fault.breaks, rounds, first=fault.first, shows=shows))
    return sorted(trials, key=lambda trial: (trial.fault != CONTROL, trial.fault))


def record_wire(
    names: Sequence[str] = (), *, jobs: int = JOBS, on_progress: Callable[[int, int, str], None] | None = None
) -> int:
    """Try these faults of the network (none: all) by the whole suite until nothing fails, and keep what was seen.

    Returns how many were recorded. Raises UnknownFault, ServerGone, OSError where the file cannot be written, and at
    the end NotRecordable for faults that nothing sees, that are first seen as what they do not break, or that go on
    failing, and for a control that fails; all others are kept.
    """
    wanted = selected_trials(names)
    faults = _faults(wanted[1:], whole=True)
    lost: list[str] = []
    kept = {name: one for name, one in recorded_wire_faults().items() if name in _breaks()}
    with _bench(jobs, None) as bench:
        control = bench.control(faults)
        if not control.ok:
            raise NotRecordable(f"Without a fault, {control.text}.")
        for number, (fault, rounds) in enumerate(bench.tried(faults, record=True), 1):
            why = _not_kept(fault, rounds)
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


def _not_kept(fault: _Fault, rounds: Rounds) -> str | None:
    if not rounds.seen:
        return f"{fault.name} was seen by no check; the last run ended with exit code {rounds.code}."
    if rounds.seen[0] not in fault.first:
        return f"{fault.name} was first seen as {rounds.seen[0]}, which it does not break."
    if not rounds.survives:
        return f"{fault.name} was seen as {', '.join(rounds.seen)}; the last run ended with exit code {rounds.code}."
    return None


def _faults(names: Iterable[str], *, whole: bool) -> list[_Fault]:
    """Return the faults with the tests that are played. whole: all tests, whatever was recorded."""
    tests, breaks, records = _tests(), _breaks(), recorded_wire_faults()
    claimed = {requirement for test in tests for requirement in test.requirements}
    found = []
    for name in names:
        known = tuple(dict.fromkeys((*breaks[name], *records.get(name, ()))))
        played = tests if whole else claiming(tests, known)
        level = level_of([one for one in breaks[name] if one in claimed] or breaks[name])
        found.append(_Fault(name, breaks[name], breaks[name], known, _nodes(played), level))
    return found


@cache
def _breaks() -> Mapping[str, tuple[str, ...]]:
    """Return what each fault breaks. Raises ServerGone."""
    return {fault["name"]: tuple(fault["breaks"]) for fault in known_faults()}


@cache
def _tests() -> tuple[Claiming, ...]:
    """Return the tests of the suite, in the order they run. Raises NotCollected."""
    return tuple(collected(select(SUITE)[SUITE]))


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
            command = [executable, "-P", "-c", "from conformance.selftest_wire import serve_runs; serve_runs()"]
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
        self._every = _nodes(_tests())
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
        for silent in (False, True):
            wanted = {test for fault in faults if fault.silent is silent for test in fault.tests}
            tests = [test for test in self._every if test in wanted]
            parts += [
                self._pool.submit(self._run, replace(_NONE, breaks=tuple(_SILENT) if silent else ()), part)
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
        for _ in range(_ROUNDS if record else 2):
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
            "suites": SUITE, "level": fault.level, "disable": list(off), "quirks": False,
            "out": str(folder), "max_failures": most,
            "pytest_args": [f"--deselect={test}" for test in self._every if test not in played],
        }  # fmt: skip
        places = self._places.get()
        try:
            with served(places, fault.name, silent=fault.silent) as connector:
                return self._players.play({**wanted, "adapter": connector}, LIMIT_S) or _LOST
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
