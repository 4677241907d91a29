"""`mqconform judge` as a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests_cli import mqconform, one_sentence

from conformance.runlog import RunWriter, read_run
from conformance.verdict import ExitCode

CAPTURES = Path(__file__).parents[2] / "fixtures" / "captures"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    faulty = "embedded+accepts-plus-in-queue-name"
    done = mqconform("run", "--adapter", faulty, "--suite", "names", "--out", str(out), "--", "-k", "2_1_2")
    assert done.returncode == ExitCode.DEVIATES, done.stderr
    return out


def test_a_run_judged_again(run: Path, tmp_path: Path) -> None:
    done = mqconform("judge", str(run), "--out", str(tmp_path / "a"))
    assert done.returncode == ExitCode.DEVIATES, done.stderr
    assert "0 requirements have another outcome" in done.stdout
    assert "Does not conform" in done.stdout
    assert (tmp_path / "a" / "report.html").exists()
    same = mqconform("diff", str(run), str(tmp_path / "a"), "--json")
    assert json.loads(same.stdout)["counts"].get("broken", 0) == 0
    assert json.loads(same.stdout)["counts"].get("fixed", 0) == 0


def test_as_json(run: Path, tmp_path: Path) -> None:
    done = mqconform("judge", str(run), "--readings", "permissive", "--out", str(tmp_path / "a"), "--json")
    told = json.loads(done.stdout)
    assert told["exit_code"] == done.returncode == ExitCode.DEVIATES
    assert told["judged_again"]["again"] > 10
    assert set(told["judged_again"]) == {"again", "changes", "standing", "lost", "left_out"}
    assert read_run(tmp_path / "a").header.reading_set == "permissive"


def test_a_replay_judged_again(tmp_path: Path) -> None:
    capture = str(CAPTURES / "mqqb-4.1.pcapng")
    live = mqconform("replay", capture, "--out", str(tmp_path / "live"), "--json")
    again = mqconform("judge", str(tmp_path / "live"), "--out", str(tmp_path / "again"), "--json")
    assert again.returncode == live.returncode
    assert json.loads(again.stdout)["verdicts"] == json.loads(live.stdout)["verdicts"]


def test_bad_input(run: Path, tmp_path: Path) -> None:
    assert "no run record" in one_sentence(mqconform("judge", str(tmp_path / "none")), ExitCode.BAD_INPUT)
    assert "did you mean strict" in one_sentence(
        mqconform("judge", str(run), "--readings", "stric"), ExitCode.BAD_INPUT
    )
    wrong = mqconform("judge", str(run), "--reading", "R-MQDMPR-seek-from-haed=x")
    assert "did you mean" in one_sentence(wrong, ExitCode.BAD_INPUT)
    with RunWriter(tmp_path / "empty"):
        pass
    assert "holds no run record" in one_sentence(mqconform("judge", str(tmp_path / "empty")), ExitCode.BAD_INPUT)
