"""What a run leaves out: a budget is divided among the suites, and what it is too short for is told with the result."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from conformance.cli.run import over
from conformance.harness.pytest_hooks import terminal_lines
from conformance.harness.suite_registry import in_turn, suites
from conformance.harness.test_selection import CUT, LEAST, NOT_BEGUN, Chosen, Share, Shares
from conformance.report.console import print_summary
from conformance.report.gate import decide
from conformance.report.html import render_html
from conformance.report.markdown import render_markdown
from conformance.report.sarif import render_junit
from conformance.report.standing import standing
from conformance.report.summary import summary
from conformance.run import Watcher, run
from conformance.runlog import Run, read_run
from conformance.runlog.run import LeftOut, from_json, left_out
from conformance.verdict import ExitCode

TESTS = {f"{suite}/t.py::{number}": suite for suite in ("names", "packets", "quotas") for number in range(10)}


class Time:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def shared(seconds: float) -> tuple[Shares, Time]:
    clock = Time()
    shares = Shares(seconds, clock)
    shares.plan(TESTS)
    return shares, clock


def starts(seconds: float, takes: dict[str, float]) -> dict[str, int]:
    """How many tests of each suite begin, where each takes so long."""
    shares, clock = shared(seconds)
    begun = dict.fromkeys(takes, 0)
    for test, suite in TESTS.items():
        if clock() < shares.begin(test, suite).until:
            begun[suite] += 1
            clock.now += takes[suite]
    return begun


def test_a_slow_suite_takes_its_share_and_no_more() -> None:
    begun = starts(60.0, {"names": 20.0, "packets": 1.0, "quotas": 0.1})
    assert 1 <= begun["names"] < 10
    assert begun["packets"] == begun["quotas"] == 10


def test_a_suite_that_ends_early_leaves_the_others_more() -> None:
    slow = starts(60.0, {"names": 60.0, "packets": 6.0, "quotas": 0.1})
    assert starts(60.0, {"names": 0.1, "packets": 6.0, "quotas": 0.1})["packets"] > slow["packets"] >= 1


def test_a_suite_begins_though_another_has_taken_all_the_time() -> None:
    assert starts(10.0, {"names": 1_000.0, "packets": 1_000.0, "quotas": 0.01}) == {
        "names": 1,
        "packets": 1,
        "quotas": 10,
    }


def test_what_plays_as_much_as_there_is_time_for_comes_last_where_time_is_limited() -> None:
    every = list(suites())
    assert in_turn(every, limited=False) == every
    limited = in_turn(every, limited=True)
    assert limited == [*(name for name in every if name != "situations"), "situations"]


def test_shares_are_of_the_time_that_is_left() -> None:
    shares, clock = shared(100.0)
    names = shares.begin("names/t.py::0", "names")
    assert 0 < names.until - clock() < 50 and names.at_last > names.until
    assert shares.begin("names/t.py::5", "names") is names
    clock.now += 90
    assert shares.begin("quotas/t.py::0", "quotas").until == pytest.approx(clock() + 10)
    clock.now += 500
    assert shares.begin("packets/t.py::0", "packets").until == pytest.approx(clock() + 100 * LEAST)
    assert Share().until == float("inf")


def report(node: str, ended: str | None = None) -> Any:
    return SimpleNamespace(when="teardown", nodeid=node, failed=False, mqconform={"ended": ended} if ended else {})


def chosen(workers: bool) -> Chosen:
    found = Chosen()
    if workers:
        for _ in range(2):
            found.pytest_xdist_node_collection_finished(list(TESTS))
    else:
        found.pytest_collection_finish(SimpleNamespace(items=[SimpleNamespace(nodeid=node) for node in TESTS]))  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("workers", [False, True], ids=["alone", "workers"])
def test_what_nobody_heard_the_end_of_is_left_out(workers: bool) -> None:
    tests = chosen(workers)
    for node in list(TESTS)[:25]:
        tests.pytest_runtest_logreport(report(node, {0: CUT, 1: NOT_BEGUN}.get(list(TESTS).index(node))))
    found = tests.left_out("budget")
    assert found is not None
    assert (found.of, found.tests, found.cut) == (30, {"names": 1, "quotas": 5}, {"names": 1})
    assert found.sentence == "6 of 30 tests were left out and 1 was cut short (budget): suites names, quotas."
    assert from_json(found.to_json()) == found
    assert set(found.named) == {"names/t.py::0", "names/t.py::1", *list(TESTS)[25:]}
    for node in TESTS:
        tests.pytest_runtest_logreport(report(node))
    assert tests.left_out("budget") is None


@pytest.mark.parametrize("data", [{}, {"tests": 5}, {"tests": {"a": "b"}, "cut": []}, {"tests": {"a": -1}}])
def test_a_record_may_hold_anything(data: dict[str, Any]) -> None:
    assert from_json(data) is None


def test_tests_left_out_are_not_counted_as_done() -> None:
    told = []
    watcher = Watcher(told.append)
    watcher.pytest_xdist_node_collection_finished([f"restart/t.py::{number}" for number in range(16)])
    for number in range(16):
        watcher.pytest_runtest_logreport(report(f"restart/t.py::{number}", NOT_BEGUN if number else None))
    assert over(told[-1]).startswith("restart: 1 test done, 15 left out; 1 of 16 in all")
    assert told[-1].suite_over and not told[-2].suite_over and told[-1].left_s in (None, 0)


@pytest.fixture
def quotas_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """There is time for one suite."""
    begin = Shares.begin
    monkeypatch.setattr(
        Shares, "begin", lambda self, test, suite: Share() if suite == "quotas" else begin(self, test, suite)
    )
    yield


@pytest.fixture
def short(quotas_alone: None, tmp_path: Path) -> Run:
    result = run(suites="quotas,journals", out=tmp_path, budget_s=0.0, max_examples=1, steps=5)
    assert result.exit_code is ExitCode.NOTHING_JUDGED and result.record is not None
    assert result.sentence is not None and "--allow-incomplete" in result.sentence
    return result.record


def test_what_is_left_out_may_be_allowed_and_closes_the_gate(quotas_alone: None, tmp_path: Path) -> None:
    result = run(suites="quotas,journals", out=tmp_path, budget_s=0.0, max_examples=1, steps=5, allow_incomplete=True)
    assert result.exit_code is ExitCode.CONFORMS and result.record is not None
    now = standing(result.record)
    shut, allowed = decide(now), decide(now, allow_incomplete=True)
    assert (shut.exit_code, allowed.exit_code) == (ExitCode.NOTHING_JUDGED, ExitCode.CONFORMS)
    assert now.left_out is not None and now.left_out in shut.sentence
    assert "gate: open" in allowed.sentence and now.left_out.rstrip(".") in allowed.remarks


def test_a_run_that_left_something_out_says_so_where_it_says_what_it_found(short: Run) -> None:
    left = left_out(short)
    assert isinstance(left, LeftOut) and left.reason == "budget" and set(left.tests) == {"journals"}
    assert sum(left.tests.values()) + len(short.took) - left.tests["journals"] == left.of
    sentence = left.sentence.rstrip(".")
    out = io.StringIO()
    print_summary(short, Console(file=out, width=400))
    pages = {
        "console": out.getvalue(),
        "html": render_html(short),
        "markdown": render_markdown(short),
    }
    for name, page in pages.items():
        lines = [line for line in page.splitlines() if "No deviation found" in line]
        assert lines and all(sentence in line for line in lines), name
    assert f'value="{left.sentence}"' in render_junit(short)
    assert summary(short)["left_out"] == left.to_json()
    assert left.sentence in list(terminal_lines(short))
    assert standing(short).left_out == left.sentence


def test_nothing_is_judged_by_workers_without_time(tmp_path: Path) -> None:
    result = run(suites="quotas,outgoing", out=tmp_path, budget_s=0.0, workers=2)
    assert result.exit_code is ExitCode.NOTHING_JUDGED and result.record is not None
    left = left_out(result.record)
    assert left is not None and left.reason == "budget" and left.of == sum(left.tests.values()) > 20
    assert set(left.tests) == {"quotas", "outgoing"}


OWN = """
import time
from pathlib import Path
import pytest

REQUIREMENT = "MQDMPR-3.1.1.2.arrival-order"


@pytest.mark.parametrize("number", range(40))
def test_own(judge, mq, number, worker_id):
    if worker_id == "gw0":
        while not Path("begun").exists():
            time.sleep(0.01)
        judge.holds(REQUIREMENT, False)
    Path("begun").touch()
    for _ in range(600):
        judge.begin_example("own")
        time.sleep(0.1)
"""


def test_enough_deviations_end_all_workers_in_the_midst_of_their_tests(tmp_path: Path) -> None:
    """One worker finds what was asked for; the other would go on for a minute a test."""
    (tmp_path / "test_own.py").write_text(OWN, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "2", "--maxfail=1", "test_own.py"]
    command += ["--mq-adapter=embedded", "--mq-out=out"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=tmp_path)
    record = read_run(tmp_path / "out")
    assert record.complete and record.footer is not None, done.stdout
    assert record.footer.stop_reason == "max-failures"
    left = left_out(record)
    assert left is not None and left.reason == "max-failures" and left.cut == {"own": 1}, done.stdout
    assert left.tests["own"] >= 30
