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
    assert "requirements with another outcome: 0" in done.stdout
    assert "Does not conform" in done.stdout
    assert (tmp_path / "a" / "report.html").exists()
    same = mqconform("report", str(run), str(tmp_path / "a"), "--json")
    (difference,) = json.loads(same.stdout)["differences"]
    assert difference["counts"]["broken"] == difference["counts"]["fixed"] == 0


def test_as_json(run: Path, tmp_path: Path) -> None:
    done = mqconform("judge", str(run), "--reading", "permissive", "--out", str(tmp_path / "a"), "--json")
    told = json.loads(done.stdout)
    assert told["exit_code"] == done.returncode == ExitCode.DEVIATES
    assert told["judged_again"]["again"] > 10
    assert set(told["judged_again"]) == {"again", "changes", "standing", "as_before", "lost", "left_out", "sealed"}
    assert read_run(tmp_path / "a").header.reading_set == "permissive"


def test_a_replay_judged_again(tmp_path: Path) -> None:
    capture = str(CAPTURES / "mqqb-4.1.pcapng")
    live = mqconform("replay", capture, "--out", str(tmp_path / "live"), "--json")
    again = mqconform("judge", str(tmp_path / "live"), "--out", str(tmp_path / "again"), "--json")
    assert again.returncode == live.returncode
    assert json.loads(again.stdout)["verdicts"] == json.loads(live.stdout)["verdicts"]


def test_bad_input(run: Path, tmp_path: Path) -> None:
    assert "no run record" in one_sentence(mqconform("judge", str(tmp_path / "none")), ExitCode.BAD_INPUT)
    assert "did you mean strict" in one_sentence(mqconform("judge", str(run), "--reading", "stric"), ExitCode.BAD_INPUT)
    wrong = mqconform("judge", str(run), "--reading", "R-MQDMPR-seek-from-haed=x")
    assert "did you mean" in one_sentence(wrong, ExitCode.BAD_INPUT)
    with RunWriter(tmp_path / "empty"):
        pass
    assert "holds no run record" in one_sentence(mqconform("judge", str(tmp_path / "empty")), ExitCode.BAD_INPUT)


@pytest.mark.parametrize("cut", [True, False], ids=["cut off", "interrupted"])
def test_what_a_record_lacks_is_lacking_when_it_is_judged_again(tmp_path: Path, cut: bool) -> None:
    done = mqconform(
        "run", "--suite", "names", "--max-examples", "2", "--out", str(tmp_path / "run"), "--", "-k", "2_1_2"
    )
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    part = tmp_path / "run" / "run-main.ndjson"
    lines = part.read_text().splitlines(keepends=True)
    assert '"footer"' in lines[-1]
    part.write_text("".join(lines[:-1]))
    if not cut:
        whole = read_run(tmp_path / "run")
        with RunWriter(tmp_path / "early") as writer:
            writer.header(whole.header)
            for each in whole.verdicts:
                writer.verdict(each.verdict, suite=each.suite, test=each.test)
            writer.footer("interrupted")
    source = str(tmp_path / ("run" if cut else "early"))
    again = mqconform("judge", source, "--out", str(tmp_path / "again"))
    why = "is not whole: the run record is incomplete" if cut else "is not whole: the run ended early (interrupted)"
    assert why in one_sentence(again, ExitCode.BAD_INPUT)
    assert "No deviation found." not in again.stdout
    record = read_run(tmp_path / "again")
    assert record.footer is not None and record.footer.stop_reason == "interrupted"
    assert any(why in note.text for note in record.notes)
    for folder in (source, str(tmp_path / "again")):
        gate = mqconform("gate", folder, "--floor", "0")
        assert gate.returncode == ExitCode.BAD_INPUT and "gate: shut: 1 incomplete run (" in gate.stdout, gate.stdout


def test_a_deviation_outweighs_what_a_record_lacks(run: Path, tmp_path: Path) -> None:
    lines = (run / "run-main.ndjson").read_text().splitlines(keepends=True)
    (tmp_path / "run-main.ndjson").write_text("".join(lines[:-1]))
    for command in (("judge", str(tmp_path), "--out", str(tmp_path / "again")), ("gate", str(tmp_path))):
        assert mqconform(*command).returncode == ExitCode.DEVIATES
