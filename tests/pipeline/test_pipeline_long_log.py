"""A lake that got a capture a minute for a week, and one with a year of log: at night, by the benchmark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import nightly
import pytest

pytest.importorskip("deltalake")
pytest.importorskip("duckdb")

ROOT = Path(__file__).parents[2]
WEEK, YEAR = 10_080, 525_600
OPEN_S = 2.0
"""Seconds of a processor in which a lake opens that is compacted each night."""


def figures(*words: str) -> list[dict]:
    """What `benchmarks.lake_log` prints, which also goes to the log of the tests."""
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.lake_log", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    print(ran.stdout)
    return [json.loads(line) for line in ran.stdout.splitlines()]


@nightly.nightly_only("pipeline.long-logs")
def test_a_week_of_a_capture_a_minute_opens_and_is_added_to_as_on_the_first_day(tmp_path: Path) -> None:
    found = figures("--batches", str(WEEK), str(tmp_path / "lake"))
    compacted = [one for one in found if one.get("compacted")]
    commits = [one for one in found if "commit_cpu_s" in one]
    assert len(compacted) == 7 and compacted[-1]["batches"] == commits[-1]["batches"] == WEEK
    assert all(one["open_cpu_s"] < OPEN_S and one["sql_cpu_s"] < OPEN_S and one["files"] < 100 for one in compacted)
    assert all(one["open_cpu_s"] < OPEN_S and one["files"] < 1_000 for one in commits)
    first, last = (sum(one["commit_cpu_s"] for one in some) for some in (commits[:6], commits[-6:]))
    assert last < 3 * first


@nightly.nightly_only("pipeline.long-logs")
def test_a_year_of_log_opens_when_it_is_folded(tmp_path: Path) -> None:
    found = figures("--batches", "60", "--lengths", str(YEAR), "--", str(tmp_path / "lake"))
    assert found[-1]["compacted"] and found[-1]["batches"] == YEAR and found[-1]["open_cpu_s"] < OPEN_S


def test_the_figures_are_those_of_the_lake_that_was_made(tmp_path: Path) -> None:
    """The benchmark itself, in small: what the night asserts about is there."""
    short, long, folded = figures("--batches", "5", "--lengths", "300", "--", str(tmp_path / "lake"))
    assert short["batches"] == 5 and short["files"] == 15 and short["commit_cpu_s"] > 0 and short["open_cpu_s"] > 0
    assert (long["batches"], long["folded"]) == (300, False) and folded["compacted"] and folded["files"] == 3
