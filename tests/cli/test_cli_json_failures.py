"""`run --json` and `report --json` tell each failure: the calls, what was expected, what came, and how to repeat it."""

from __future__ import annotations

import json
from pathlib import Path

from tests_cli import mqconform

from conformance.embedded.faults import FAULTS
from conformance.embedded.faults.recorded import shows_as
from conformance.verdict import ExitCode

FAULT = "ignores-priority"


def test_each_failure_has_its_story_and_repro(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--adapter", f"embedded+{FAULT}", "--suite", "cursors", "--max-examples", "5", "--max-failures=1")
    done = mqconform("run", *words, "--out", str(out), "--json")
    assert done.returncode == ExitCode.DEVIATES, done.stderr
    told = json.loads(done.stdout)
    assert told["deviations"] and told["deviations_left_out"] >= 0
    assert {each["requirement"] for each in told["deviations"]} == set(told["failures"])
    for each in told["deviations"]:
        assert each["outcome"] == "fail" and each["suite"] == "cursors" and each["took_ms"] > 0
        assert each["expected"] is not None and each["actual"] is not None
    first = next(each for each in told["deviations"] if each["repro"])
    assert first["requirement"] in (*FAULTS[FAULT].breaks, *shows_as(FAULTS[FAULT]))
    assert len(first["story"]) > 1 and all(step["text"] for step in first["story"])
    assert any(step.get("call") for step in first["story"])
    assert Path(first["repro"]).exists()
    again = json.loads(mqconform("repro", first["repro"], "--adapter", f"embedded+{FAULT}", "--json").stdout)
    assert [answer["answer"] for answer in again["answers"]] == ["FAILED"]
    moved = tmp_path / "elsewhere"
    out.rename(moved)
    later = json.loads(mqconform("report", str(moved), "--json").stdout)
    assert [each["requirement"] for each in later["deviations"]] == [each["requirement"] for each in told["deviations"]]
    assert all(Path(each["repro"]).is_relative_to(moved) for each in later["deviations"] if each["repro"])


def test_a_run_without_failures_has_none(tmp_path: Path) -> None:
    words = ("--suite", "quotas", "--max-examples", "1", "--steps", "3", "--in-process")
    told = json.loads(mqconform("run", *words, "--out", str(tmp_path / "out"), "--json").stdout)
    assert told["deviations"] == [] and told["deviations_left_out"] == 0 and told["verdicts"]["pass"]
