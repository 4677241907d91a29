"""`mqconform diagnose`: a run of an implementation with two faults, and which faults explain it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_record import a_record
from tests_cli import mqconform, one_sentence

from conformance.verdict import ExitCode

PAIR = ("ignores-priority", "accepts-plus-in-queue-name")
OTHERS = ("receive-returns-second-message", "abort-wakes-nobody", "accepts-dead-letter-of-private-queue")
TESTS = "create_queue or behind_the_cursors_back or survive or planned_histories[0]"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    done = mqconform(
        "run", "--adapter", f"embedded+{','.join(PAIR)}", "--suite", "names,cursors,transactions,situations",
        "--situations", "2000", "--max-examples", "5", "--in-process", "--out", str(out), "--", "-k", TESTS,
    )  # fmt: skip
    assert done.returncode == ExitCode.DEVIATES, done.stderr
    return out


def diagnosed(run: Path, *faults: str) -> dict[str, object]:
    done = mqconform("diagnose", str(run), *(f"--fault={fault}" for fault in faults), "--workers", "1", "--json")
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    told: dict[str, object] = json.loads(done.stdout)
    return told


def test_each_fault_is_named_with_what_it_explains_and_opens_every_report(run: Path) -> None:
    told = diagnosed(run, *OTHERS, *PAIR)
    causes = told["causes"]
    assert isinstance(causes, list)
    assert {cause["names"][0] for cause in causes} == set(PAIR)
    assert told["left"] == told["same"] == 0 and not any(cause["contradicted"] for cause in causes)
    assert sum(cause["histories"] for cause in causes) == told["histories"]
    named = [requirement for cause in causes for requirement in cause["requirements"]]
    assert sorted(named) == sorted(told["deviations"])  # type: ignore[call-overload]

    sentence = told["sentences"][0]  # type: ignore[index]
    shown = mqconform("report", str(run), "--markdown", str(run / "s.md"))
    assert shown.returncode == ExitCode.CONFORMS, shown.stderr
    assert mqconform("report", str(run)).stdout.splitlines()[1] == sentence
    summary = json.loads(mqconform("report", str(run), "--json").stdout)
    assert summary["diagnosis"]["sentences"][0] == sentence and summary["exit_code"] == ExitCode.DEVIATES
    markdown, page = (run / "s.md").read_text(), (run / "report.html").read_text()
    assert "&#96;ignores-priority&#96;" in markdown.split("\n", 4)[2]
    assert "A hint, not a verdict" in markdown and "A hint, not a verdict" in page
    assert page.index('class="diagnosed"') < page.index("What deviates")


def test_what_resembles_nothing_is_told_so(run: Path) -> None:
    told = diagnosed(run, *OTHERS[1:])
    assert told["causes"] == [] and told["sentences"][0].startswith("No known fault resembles")  # type: ignore[index]


def test_one_cause_of_two_leaves_the_others_histories(run: Path) -> None:
    told = diagnosed(run, PAIR[0])
    assert isinstance(told["left"], int) and 0 < told["left"] < int(str(told["histories"]))
    assert "like no known fault" in str(told["sentences"])


def test_bad_input(run: Path, tmp_path: Path) -> None:
    assert "no run record" in one_sentence(mqconform("diagnose", str(tmp_path)), ExitCode.BAD_INPUT)
    wrong = mqconform("diagnose", str(run), "--fault", "ignores-prioritie")
    assert "did you mean ignores-priority" in one_sentence(wrong, ExitCode.BAD_INPUT)
    nothing = mqconform("diagnose", str(a_record(tmp_path / "r")), "--workers", "1")
    assert "nothing to diagnose" in one_sentence(nothing, ExitCode.NOTHING_JUDGED)


def test_a_diagnosis_of_another_run_or_a_damaged_one_is_not_shown(run: Path, tmp_path: Path) -> None:
    record = a_record(tmp_path / "r")
    (record / "diagnosis.json").write_bytes(json.dumps({"format": 1, "run_id": "other"}).encode())
    assert json.loads(mqconform("report", str(record), "--json").stdout)["diagnosis"] is None
