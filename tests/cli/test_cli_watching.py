"""A run while it lasts: what is told of it, when it ends early, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from tests_cli import PATIENCE_S, mqconform

from conformance.adapter.protocol import FACETS
from conformance.cli import run as run_command
from conformance.cli.run import over
from conformance.harness.known_tests import known_test, known_tests
from conformance.interrupts import SIGNALS
from conformance.report.coverage import covered
from conformance.run import Progress, Watcher, clock
from conformance.runlog import read_run
from conformance.verdict import ExitCode
from tools.known_tests import facets

FAULTY = "embedded+ignores-priority"


def ended(node: str, *, failed: bool = False, **said: Any) -> list[Any]:
    call = SimpleNamespace(when="call", failed=failed, nodeid=node)
    return [call, SimpleNamespace(when="teardown", failed=False, nodeid=node, mqconform=said)]


def watched(*tests: list[Any], total: list[str], budget_s: float | None = None) -> list[Progress]:
    told: list[Progress] = []
    watcher = Watcher(told.append, budget_s)
    watcher.pytest_collection_finish(SimpleNamespace(items=[SimpleNamespace(nodeid=node) for node in total]))
    watcher.pytest_runtest_logstart()
    for reports in tests:
        for report in reports:
            watcher.pytest_runtest_logreport(report)
    return told


def test_progress_counts_by_suite() -> None:
    nodes = ["names/a.py::1", "names/a.py::2", "cursors/b.py::1", "../own.py::1"]
    told = watched(
        ended(nodes[0], requirements=["A", "B"], steps=0),
        ended(nodes[1], requirements=["B"], steps=0, failed=True),
        ended(nodes[2], requirements=["C"], steps=40),
        ended(nodes[3]),
        total=nodes,
    )
    assert [(one.suite, one.done, one.suite_done, one.suite_total) for one in told] == [
        ("names", 1, 1, 2),
        ("names", 2, 2, 2),
        ("cursors", 3, 1, 1),
        ("own", 4, 1, 1),
    ]
    assert [(one.requirements, one.deviations, one.steps) for one in told] == [
        (2, 0, 0),
        (2, 1, 0),
        (3, 1, 40),
        (3, 1, 40),
    ]
    assert told[1].left_s is None
    assert told[-1].left_s == 0
    assert "1 deviation" in told[-1].text and "3 requirements" in told[-1].text and "steps/s" in told[-1].text
    assert over(told[1]).startswith("names: 2 tests done; 2 of 4 in all, 2 requirements, 1 deviation")


def of_record(*, slower: float, skipped: Sequence[str] = ()) -> tuple[list[tuple[float, float | None]], float]:
    """When each test of a run ended, with the time that was said to be left; and when the last did.

    slower: how many times as long a test takes as in the table. skipped: suites whose tests the driver cannot do.
    """
    now, found = [0.0], []
    nodes = [f"{suite}/a.py::{test}[{number}]" for suite, test in known_tests() for number in range(3)]
    with patch("conformance.run.time.monotonic", lambda: now[0]):
        watcher = Watcher(lambda progress: found.append((now[0], progress.left_s)))
        watcher.pytest_collection_finish(SimpleNamespace(items=[SimpleNamespace(nodeid=node) for node in nodes]))
        watcher.pytest_runtest_logstart()
        for node in nodes:
            suite = node.partition("/")[0]
            if suite in skipped:
                reason = ("a.py", 1, f"Skipped: not offered by the driver: {suite}.get")
                report = SimpleNamespace(when="setup", failed=False, skipped=True, nodeid=node, longrepr=reason)
                watcher.pytest_runtest_logreport(report)
            else:
                now[0] += slower * known_test(suite, node).seconds
            for report in ended(node):
                watcher.pytest_runtest_logreport(report)
    return found, now[0]


@pytest.mark.parametrize("slower", [0.5, 1, 20])
@pytest.mark.parametrize("skipped", [(), ("management",)])
def test_at_a_third_of_a_run_what_is_left_is_known(slower: float, skipped: tuple[str, ...]) -> None:
    found, whole = of_record(slower=slower, skipped=skipped)
    at, left = next((at, left) for at, left in found if at >= whole / 3)
    assert left is not None and whole / 1.5 < at + left < whole * 1.5
    assert found[-1][1] == 0


def test_the_table_has_every_test_that_claims_something() -> None:
    claimed = {
        (suite, function)
        for of in covered().uses.values()
        for suite, functions in of.get("claims", {}).items()
        for function in functions
    }
    assert claimed <= set(known_tests()), "stale: python -m tools.known_tests RECORD"
    assert {facet for test in known_tests().values() for facet in test.facets} <= set(FACETS)


def test_the_facets_of_the_table_are_those_that_tests_need() -> None:
    found = facets(["structures", "quotas"])
    assert found and found == {name: known_tests()[name].facets for name in found}, "stale: python -m tools.known_tests"
    assert known_tests()["structures", next(name for suite, name in found if suite == "structures")].seconds > 0


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_the_thread_of_the_progress_takes_no_signals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "log").open("w") as log:
        monkeypatch.setattr(sys, "stderr", log)
        with run_command.run_progress():
            (thread,) = (each for each in threading.enumerate() if each.name == "heartbeat")
            status = Path(f"/proc/self/task/{thread.native_id}/status").read_text()
    blocked = int(status.partition("SigBlk:")[2].split()[0], 16)
    assert all(blocked >> number - 1 & 1 for number in SIGNALS)


def test_a_log_gets_a_line_though_no_test_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_command, "HEARTBEAT_S", 0.05)
    with (tmp_path / "log").open("w+") as log:
        monkeypatch.setattr(sys, "stderr", log)
        with run_command.run_progress() as show:
            show(Progress(3, 10, "names", 1, suite_total=5, requirements=7, left_s=90.0))
            until = time.monotonic() + PATIENCE_S
            while "3 of 10 tests" not in (tmp_path / "log").read_text() and time.monotonic() < until:
                time.sleep(0.01)
        log.seek(0)
        lines = log.read().splitlines()
    assert lines[:2] == ["mqconform: run: reading the tests", "mqconform: run: names"]
    assert lines[2] == "mqconform: run: 3 of 10 tests, 7 requirements, 1 deviation, 1:30 left"
    assert not [thread for thread in threading.enumerate() if thread.name == "heartbeat"]


def test_a_budget_bounds_what_is_left() -> None:
    nodes = [f"cursors/b.py::{number}" for number in range(1000)]
    told = watched(*(ended(node) for node in nodes[:3]), total=nodes, budget_s=0.0)
    assert told[-1].left_s == 0


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (7.4, "0:07"), (750, "12:30"), (3723, "1:02:03")])
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


@pytest.mark.parametrize(("asked", "failures"), [("--max-failures=1", 1), ("--max-failures=2", 2)])
def test_a_run_ends_with_enough_deviations(asked: str, failures: int, tmp_path: Path) -> None:
    done = mqconform(
        "run",
        "--adapter",
        FAULTY,
        "--suite",
        "cursors",
        "--max-examples",
        "2",
        "--steps",
        "12",
        asked,
        "--out",
        str(tmp_path),
    )
    assert done.returncode == ExitCode.DEVIATES, done.stderr
    record = read_run(tmp_path)
    assert record.footer is not None
    assert record.footer.stop_reason == "max-failures"
    assert "The run ended early: max-failures." in done.stdout
    assert len({each.test for each in record.verdicts if each.verdict.outcome.value == "fail"}) == failures
    assert "mqconform: run: cursors\n" in done.stderr


def interrupted(out: Path, times: int, *more: str) -> tuple[int, str]:
    """Ctrl-C, so many times, in the middle of a run; exit code and stderr."""
    command = [sys.executable, "-m", "conformance", "run", "--suite", "cursors", "--max-examples", "2000"]
    process = subprocess.Popen(
        [*command, "--out", str(out), *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    stop = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < stop:
        if any(b'"verdict"' in part.read_bytes() for part in out.glob("run-*.ndjson")):
            break
        time.sleep(0.1)
    for _ in range(times):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.2)
    try:
        _, errors = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    return process.returncode, errors


@pytest.mark.parametrize("workers", [(), ("--workers", "2")], ids=["alone", "workers"])
def test_interrupted_once_everything_is_written(workers: tuple[str, ...], tmp_path: Path) -> None:
    code, errors = interrupted(tmp_path, 1, *workers)
    assert code == ExitCode.INTERRUPTED, errors
    assert "Ctrl-C again ends it at once" in errors
    assert "Traceback" not in errors
    record = read_run(tmp_path)
    assert record.complete, record.problems
    assert record.footer is not None
    assert record.footer.stop_reason == "interrupted"
    assert record.verdicts
    assert record.tally is not None and {suite for suite, _ in record.tally.phases} >= {"cursors"}
    assert (tmp_path / "report.html").exists()


def test_interrupted_twice_it_ends_at_once(tmp_path: Path) -> None:
    code, errors = interrupted(tmp_path, 2)
    assert code in (ExitCode.INTERRUPTED, -signal.SIGINT), errors  # the latter where Python had all but ended
    assert "Traceback" not in errors
    assert read_run(tmp_path).verdicts
