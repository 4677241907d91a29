"""Find the chosen tests that have not run, or not to their end, in any process of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from conformance.harness.suite_registry import suite_of_node
from conformance.runlog.left_out import MAX_NAMED, LeftOut

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
