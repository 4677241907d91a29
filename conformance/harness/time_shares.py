"""Divide a time budget among the suites, so that a slow suite does not leave another one without time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.harness.suite_registry import cost

OVERTIME = 0.25
"""Part of a share by which a running test may exceed it. The other suites lose that time."""

LEAST = 0.02
"""Part of the budget that every suite gets even if others exceeded theirs, so that every suite yields some verdicts."""


@dataclass(slots=True)
class Share:
    """Time of a suite. until: `time.monotonic()` after which no test begins; at_last: after which none continues."""

    until: float = float("inf")
    at_last: float = float("inf")


@dataclass(slots=True)
class Shares:
    """Shares of a run, as one worker sees them.

    seconds: the budget, which begins with the first test. A suite's share is a part of the time left, in proportion to
    the usual cost of its tests among all remaining tests. So a suite that ends early leaves more to the others. Workers
    know nothing of each other. They receive tests in order, so each takes all later tests as remaining.
    """

    seconds: float
    clock: Callable[[], float] = time.monotonic
    _began: float | None = None
    _suite: str | None = None
    _share: Share = field(default_factory=Share)
    _places: Mapping[str, int] = field(default_factory=dict)
    _suites: Sequence[str] = ()

    def plan(self, tests: Mapping[str, str]) -> None:
        """Note the tests of the run, in their order. tests: node id to suite."""
        self._places = {test: place for place, test in enumerate(tests)}
        self._suites = tuple(tests.values())

    def begin(self, test: str, suite: str) -> Share:
        """Return the share of the suite of a test about to begin. An unplanned test gets all the time left."""
        now = self.clock()
        if self._began is None:
            self._began = now
        if suite != self._suite:
            behind = self._suites[self._places.get(test, len(self._suites)) :]
            own, whole = (sum(map(cost, names)) for names in ([name for name in behind if name == suite], behind))
            left = max(0.0, self._began + self.seconds - now)
            seconds = max(left * (own / whole if whole else 1.0), LEAST * self.seconds)
            self._suite, self._share = suite, Share(now + seconds, now + seconds * (1 + OVERTIME))
        return self._share
