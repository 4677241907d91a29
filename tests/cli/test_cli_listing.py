"""What there is and what would run: `faults`, `run --list`, `run --requirement`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests_cli import PATIENCE_S, mqconform, one_sentence

from conformance.embedded.faults import FAULTS
from conformance.harness.suite_registry import suites
from conformance.runlog import read_run
from conformance.verdict import ExitCode

SEEK = "MQDMPR-3.1.7.3.3.seek-next"


def test_every_fault_is_listed_with_what_it_does_and_breaks() -> None:
    done = mqconform("faults", "list", "--json")
    assert done.returncode == 0, done.stderr
    told = {each["name"]: each for each in json.loads(done.stdout)}
    assert told.keys() == FAULTS.keys()
    assert all(told[name]["breaks"] == list(fault.breaks) for name, fault in FAULTS.items())
    assert all(each["suite"] in suites() and each["does"] for each in told.values())
    assert all(fault.says for fault in FAULTS.values())


def test_faults_of_one_suite() -> None:
    done = mqconform("faults", "list", "--suite", "quotas")
    lines = [line for line in done.stdout.splitlines() if line.startswith("quotas ")]
    assert len(lines) == sum(fault.suite == "quotas" for fault in FAULTS.values()) > 0
    assert done.stdout.splitlines()[-1].startswith(f"{len(lines)} faults")
    assert "did you mean quotas?" in one_sentence(mqconform("faults", "list", "--suite", "qotas"), ExitCode.BAD_INPUT)


def test_one_fault_is_shown() -> None:
    done = mqconform("faults", "show", "ignores-priority")
    assert all(each in done.stdout for each in FAULTS["ignores-priority"].breaks)
    assert "--adapter embedded+ignores-priority --suite" in done.stdout
    wrong = mqconform("faults", "show", "ignores-priorty")
    assert "did you mean ignores-priority?" in one_sentence(wrong, ExitCode.BAD_INPUT)


def test_what_would_run_is_listed_and_nothing_is_made(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = mqconform("run", "--list", "--suite", "quotas", "--adapter", "stdio:/not/there", "--out", str(out), "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    (suite,) = told["suites"]
    assert suite["suite"] == "quotas"
    assert told["tests"] == len(suite["tests"]) > 0
    assert set(told["requirements"]) == {each for test in suite["tests"] for each in test["requirements"]}
    assert not out.exists()


def test_modules_of_the_suites_are_read_as_they_were_installed(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    line = [sys.executable, "-m", "conformance", "run", "--list", "--suite", "quotas"]
    subprocess.run(line, env={**env, "PYTHONPYCACHEPREFIX": str(tmp_path)}, check=True, timeout=PATIENCE_S)
    made = [file.name for file in tmp_path.rglob("conformance/suites/quotas/test_*.pyc")]
    assert made and not [name for name in made if "-pytest-" in name]


def test_tests_that_claim_a_requirement(tmp_path: Path) -> None:
    words = ("run", "--suite", "cursors,names", "--requirement", SEEK)
    listed = json.loads(mqconform(*words, "--list", "--json").stdout)
    assert listed["tests"] and [each["suite"] for each in listed["suites"]] == ["cursors"]
    assert all(SEEK in test["requirements"] for each in listed["suites"] for test in each["tests"])
    out = tmp_path / "out"
    done = mqconform(*words, "--max-examples", "1", "--steps", "5", "--in-process", "--out", str(out))
    record = read_run(out)
    assert record.complete, done.stderr
    functions = {test["test"].partition("[")[0] for each in listed["suites"] for test in each["tests"]}
    assert {test.partition("[")[0] for test in record.took} == functions


@pytest.mark.parametrize("more", [(), ("--list",)], ids=["run", "list"])
def test_a_requirement_that_is_not_there_or_that_no_test_claims(more: tuple[str, ...], tmp_path: Path) -> None:
    words = ("run", "--suite", "names", "--out", str(tmp_path / "out"), *more)
    wrong = mqconform(*words, "--requirement", f"{SEEK}t")
    assert f"did you mean {SEEK}?" in one_sentence(wrong, ExitCode.BAD_INPUT)
    silent = mqconform(*words, "--requirement", SEEK)
    assert f"no test of these suites claims {SEEK}" in one_sentence(silent, ExitCode.NOTHING_JUDGED)
    assert not (tmp_path / "out").exists()
