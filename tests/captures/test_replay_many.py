"""Many captures in one command: nothing is kept of each but its name in the record, and all of them are told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from memory import ratios, write_captures

from conformance.captures import replay_captures
from conformance.captures.engine import FURTHER, MAX_NAMED
from conformance.verdict import Outcome

COUNT = MAX_NAMED + 30


@pytest.mark.parametrize("columns", [False, True])
def test_two_hundred_captures_take_little_more_memory_than_one(columns: bool) -> None:
    _, (_, taken, ratio) = ratios((1, 200), columns=columns)
    assert ratio <= 1.3, taken


@pytest.mark.parametrize("columns", [False, True])
def test_all_are_told_of(columns: bool, tmp_path: Path) -> None:
    write_captures(tmp_path / "all", COUNT)
    (tmp_path / "all" / "000110.pcap").write_bytes(b"no capture")
    options = ["--columns"] if columns else []
    command = [sys.executable, "-m", "conformance", "replay", "all", *options, "--out", "out", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = json.loads(done.stdout)
    assert [one["path"] for one in said["captures"]] == [f"all/{number:06}.pcap" for number in range(COUNT)]
    assert [one["path"] for one in said["captures"] if one["error"]] == ["all/000110.pcap"]
    assert sum(one["packets"] for one in said["captures"]) == 26 * (COUNT - 1)
    assert said["exit_code"] == 2
    assert "000110.pcap" in said["sentence"]


def test_the_sums_are_those_of_each(tmp_path: Path) -> None:
    write_captures(tmp_path / "all", COUNT)
    write_captures(tmp_path / "one", 1)
    many = replay_captures([tmp_path / "all"], out=tmp_path / "out").replay
    one = replay_captures([tmp_path / "one"], out=tmp_path / "out-one").replay
    assert many.outcomes[Outcome.PASS] == COUNT * one.outcomes[Outcome.PASS]
    assert many.requirements == one.requirements
    assert many.packets == COUNT * one.packets
    assert len(many.captures) == MAX_NAMED
    assert {found.capture for found in many.counted} >= {FURTHER, str(tmp_path / "all" / "000000.pcap")}


def test_they_are_judged_again_with_the_same_sums(tmp_path: Path) -> None:
    write_captures(tmp_path / "all", 12)
    replay_captures([tmp_path / "all"], out=tmp_path / "out")
    command = [sys.executable, "-m", "conformance", "judge", "out", "--out", "again", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    before, after = (_passes(tmp_path / name) for name in ("out", "again"))
    assert after == before


def _passes(folder: Path) -> dict[str, int]:
    from conformance.runlog import read_run

    found: dict[str, int] = {}
    for one in read_run(folder).said:
        found[one.requirement] = found.get(one.requirement, 0) + one.seen
    return found
