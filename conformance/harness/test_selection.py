"""The tests of a run: those that claim a requirement, the time of each suite, and those that did not finish."""

from __future__ import annotations

import contextlib
import io
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from conformance.harness.suite_registry import cost, suite_of, suite_of_node, suites_folder
from conformance.runlog.run import MAX_NAMED, LeftOut
from conformance.spec.catalogue import current

PLAIN = ("--assert=plain",)
"""Argument of pytest for the suites alone: they have no assertions to rewrite, which takes a second once installed."""


class NotCollected(RuntimeError):
    """The tests cannot be collected. The message is one sentence. refused: pytest did not accept its arguments."""

    def __init__(self, sentence: str, *, refused: bool) -> None:
        super().__init__(sentence)
        self.refused = refused


@dataclass(frozen=True, slots=True)
class Claiming:
    """A collected test with the requirements it claims.

    node: pytest's id. function: the test's name without parameters.
    """

    suite: str
    node: str
    path: Path
    function: str
    requirements: tuple[str, ...]


def collected(modules: Iterable[Path], arguments: Sequence[str] = ()) -> list[Claiming]:
    """Collect the tests of these modules, in the order they run. arguments: pytest's own, such as `-k WORD`.

    Starts no driver and writes nothing; takes a second or two. Raises NotCollected.
    """
    import pytest

    collector = _Collector()
    options = [
        "-c=/dev/null",
        f"--rootdir={suites_folder()}",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:unraisableexception",
        "--collect-only",
        "-q",
        "--import-mode=append",
    ]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        # A conformance run already active in this process keeps its own plugin: this session has no adapter.
        status = pytest.main(
            [*map(str, modules), *options, "-p", "conformance.plugin", *(arguments or PLAIN)], plugins=[collector]
        )
    if collector.interrupted:
        raise KeyboardInterrupt
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        last = next((line for line in reversed(said.getvalue().splitlines()) if line.strip()), "")
        raise NotCollected(last.removeprefix("ERROR: "), refused=status == pytest.ExitCode.USAGE_ERROR)
    return collector.tests


def claiming(tests: Iterable[Claiming], wanted: Collection[str]) -> Iterator[Claiming]:
    """Yield the tests that claim at least one of these requirements."""
    return (test for test in tests if not set(wanted).isdisjoint(test.requirements))


class ByRequirement:
    """Pytest plugin that deselects tests that claim none of these requirements."""

    def __init__(self, wanted: Collection[str]) -> None:
        self._wanted = frozenset(wanted)

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        left_out = [item for item in items if self._wanted.isdisjoint(_claims(item))]
        if left_out:
            items[:] = [item for item in items if not self._wanted.isdisjoint(_claims(item))]
            config.hook.pytest_deselected(items=left_out)


class _Collector:
    """Pytest plugin that reads the markers of the collected tests."""

    def __init__(self) -> None:
        self.tests: list[Claiming] = []
        self.interrupted = False

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self.interrupted = excinfo.type is KeyboardInterrupt  # pytest has one of its own for errors

    def pytest_collection_finish(self, session: Any) -> None:
        for item in session.items:
            path = item.path
            function = getattr(item, "originalname", None) or item.name
            self.tests.append(Claiming(suite_of(path), item.nodeid, path, function, tuple(_claims(item))))


def _claims(item: Any) -> dict[str, None]:
    """Return the requirements that a test's markers name, under today's ids. Importing its module makes the markers."""
    return {current(str(name)): None for marker in item.iter_markers("requirement") for name in marker.args}


NOT_BEGUN, CUT = "not begun", "cut"
"""Values of `ended` in the report of a test that the budget left no time for, or no time to finish."""


class Chosen:
    """Pytest plugin of the process that drives the run: it notes the chosen tests and those that ended."""

    def __init__(self) -> None:
        self._chosen: dict[str, None] = {}
        self._ended: dict[str, str | None] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the tests of a run without workers."""
        self._chosen.update((item.nodeid, None) for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Note the tests of a run with workers, as each worker reports them."""
        self._chosen.update((each, None) for each in ids)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note how a test ended, from the report of its teardown."""
        if report.when == "teardown":
            self._ended[report.nodeid] = getattr(report, "mqconform", {}).get("ended")

    def left_out(self, reason: str) -> LeftOut | None:
        """Return the tests that have not run or not ended; None for no such test. reason: why the run ended."""
        unbegun = [test for test in self._chosen if self._ended.get(test, NOT_BEGUN) == NOT_BEGUN]
        cut = [test for test, how in self._ended.items() if how == CUT]
        if not unbegun and not cut:
            return None
        return LeftOut(reason, len(self._chosen), _by_suite(unbegun), _by_suite(cut), (*cut, *unbegun)[:MAX_NAMED])


def _by_suite(tests: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(map(suite_of_node, tests)).items()))


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
