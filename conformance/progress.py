"""Progress of a run: a pytest plugin that counts tests in the main process and reports a `Progress` after each."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pluggy import HookimplMarker

from conformance.harness.suite_registry import cost

_hookimpl = HookimplMarker("pytest")  # the same as `pytest.hookimpl`; importing all of pytest is slow
MIN_TESTS = 3  # tests to be done before the remaining time is estimated


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run: tests done and in total, for the whole run and for the current suite.

    suite_left, left_out: tests of the suite, and of the run, that were left out for lack of time; they do not count as
    done. deviations: tests that failed. requirements: judged so far. steps: calls of stateful examples. seconds: since
    the first test began. left_s: estimated seconds until the end, None before there is an estimate.
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
    suite_left: int = 0
    left_out: int = 0

    @property
    def suite_over(self) -> bool:
        """True if no test of the suite remains."""
        return self.suite_done + self.suite_left == self.suite_total

    @property
    def steps_per_second(self) -> float | None:
        """Steps per second; None before the first step."""
        return self.steps / self.seconds if self.steps and self.seconds else None

    @property
    def text(self) -> str:
        """The suite and its figures on one line."""
        return f"{self.suite}, {self.found}"

    @property
    def found(self) -> str:
        """The figures of the run so far on one line."""
        parts = [_many(self.requirements, "requirement")]
        if self.steps_per_second:
            parts.append(f"{self.steps_per_second:,.0f} steps/s")
        if self.deviations:
            parts.append(_many(self.deviations, "deviation"))
        if self.left_s is not None:
            parts.append(f"{clock(self.left_s)} left")
        return ", ".join(parts)


def clock(seconds: float) -> str:
    """Format seconds as `0:07`, `12:30` or `1:02:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Watcher:
    """Counts tests as they end. The report of a test says what it judged, whichever process ran it."""

    def __init__(self, tell: Callable[[Progress], None] | None, budget_s: float | None = None) -> None:
        self._tell = tell
        self._budget_s = budget_s
        self._total: Counter[str] = Counter()
        self._done: Counter[str] = Counter()
        self._left: Counter[str] = Counter()
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
            over = self._left if said.get("ended") == "not begun" else self._done
            over[_suite(report.nodeid)] += 1
            if self._tell is not None:
                self._tell(self.progress(_suite(report.nodeid)))

    def progress(self, suite: str) -> Progress:
        """Return the current progress; suite: the one of the latest test."""
        done, total = self._done.total(), self._total.total()
        seconds = time.monotonic() - self._began if self._began is not None else 0.0
        spent, whole = _weight(self._done), _weight(self._total)
        rest = max(0, whole - spent - _weight(self._left))
        left = seconds / spent * rest if done >= MIN_TESTS else None
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
            self._left[suite],
            self._left.total(),
        )


def _suite(node: str) -> str:
    """Return the suite of a node id (relative to the folder of the suites); `own` for a test from elsewhere."""
    head, slash, _ = node.partition("/")
    return head if slash and head != ".." else "own"


def _weight(tests: Mapping[str, int]) -> int:
    return sum(count * cost(suite) for suite, count in tests.items())


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
