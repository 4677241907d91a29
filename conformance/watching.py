"""How far a run is: a pytest plugin of the process that drives the run, and what it tells."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pluggy import HookimplMarker

_hookimpl = HookimplMarker("pytest")  # what `pytest.hookimpl` is; all of pytest takes long to import
QUICK = {"names": 1, "structures": 2, "packets": 4}
SLOW = 30
"""How long a test of a suite takes, in tests of names: rough, for how long the rest of a run may take."""
MIN_TESTS = 3  # before this many are done, how long the others take is anybody's guess


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: tests done of all, in the whole run and in the suite at work.

    deviations: tests that failed. requirements: judged so far. steps: calls of stateful examples. seconds: since the
    first test began. left_s: seconds until the end as far as can be told, None for not yet.
    """

    done: int
    total: int
    suite: str
    deviations: int
    suite_done: int = 0
    suite_total: int = 0
    requirements: int = 0
    steps: int = 0
    seconds: float = 0.0
    left_s: float | None = None

    @property
    def steps_per_second(self) -> float | None:
        """None where no step was made."""
        return self.steps / self.seconds if self.steps and self.seconds else None

    @property
    def text(self) -> str:
        """The suite and what is known so far, on one line."""
        parts = [self.suite, _many(self.requirements, "requirement")]
        if self.steps_per_second:
            parts.append(f"{self.steps_per_second:,.0f} steps/s")
        if self.deviations:
            parts.append(_many(self.deviations, "deviation"))
        if self.left_s is not None:
            parts.append(f"{clock(self.left_s)} left")
        return ", ".join(parts)


def clock(seconds: float) -> str:
    """`0:07`, `12:30`, `1:02:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Watcher:
    """Counts tests as they end. What a test judged comes with its report, from whichever process ran it."""

    def __init__(self, tell: Callable[[Progress], None] | None, budget_s: float | None = None) -> None:
        self._tell = tell
        self._budget_s = budget_s
        self._total: Counter[str] = Counter()
        self._done: Counter[str] = Counter()
        self._deviations = 0
        self._requirements: set[str] = set()
        self._steps = 0
        self._began: float | None = None

    def pytest_collection_finish(self, session: Any) -> None:
        self._total = Counter(_suite(item.nodeid) for item in session.items)

    @_hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._total = Counter(map(_suite, ids))

    def pytest_runtest_logstart(self) -> None:
        if self._began is None:
            self._began = time.monotonic()

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.failed:
            self._deviations += 1
        if report.when == "teardown":
            said: Mapping[str, Any] = getattr(report, "mqconform", {})
            self._requirements.update(said.get("requirements", ()))
            self._steps += said.get("steps", 0)
            self._done[_suite(report.nodeid)] += 1
            if self._tell is not None:
                self._tell(self.progress(_suite(report.nodeid)))

    def progress(self, suite: str) -> Progress:
        """How far it is now, with this suite at work."""
        done, total = self._done.total(), self._total.total()
        seconds = time.monotonic() - self._began if self._began is not None else 0.0
        spent, whole = _weight(self._done), _weight(self._total)
        left = seconds / spent * max(0, whole - spent) if done >= MIN_TESTS else None
        if left is not None and self._budget_s is not None:
            left = min(left, max(0.0, self._budget_s - seconds))
        return Progress(
            done,
            total,
            suite,
            self._deviations,
            self._done[suite],
            self._total[suite],
            len(self._requirements),
            self._steps,
            seconds,
            left,
        )


def _suite(node: str) -> str:
    """The suite of a node id, which is relative to the folder of the suites; `own` for a test from elsewhere."""
    head, slash, _ = node.partition("/")
    return head if slash and head != ".." else "own"


def _weight(tests: Mapping[str, int]) -> int:
    return sum(count * QUICK.get(suite, SLOW) for suite, count in tests.items())


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
