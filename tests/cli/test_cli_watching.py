"""A run while it lasts: what is told of it, when it ends early, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests_cli import PATIENCE_S, mqconform

from conformance.cli.run import over
from conformance.run import Progress, Watcher, clock
from conformance.runlog import read_run
from conformance.verdict import ExitCode

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
