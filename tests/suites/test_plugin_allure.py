"""Allure's view of a live run: results of tests, told of the requirements they judge."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from conformance.report.allure import digest
from conformance.runlog import read_run
from conformance.spec.catalogue import catalogue
from conformance.verdict import Outcome

FAULT = "ignores-priority"
BROKEN = "MQMQ-2.2.19.1.higher-priority-nearer-front"
OWN = """
import allure
import pytest

PRIORITY = "MQDMPR-3.1.1.2.priority-before-arrival"


@pytest.mark.requirement(PRIORITY, "MQMQ-2.2.19.1.signature")
def test_broken(mq):
    assert mq.hello.name == "somebody else"


@allure.feature("orders")
@pytest.mark.requirement(PRIORITY)
def test_placed(mq):
    assert mq.hello.name


@pytest.mark.requirement("MQMQ-2.2.19.2.http-flag")
@pytest.mark.parametrize("made", [lambda: 1])
def test_of_ours(mq, made):
    assert made() == 1


def test_about_nothing():
    assert True
"""
LOADED = """
import sys
import pytest
code = pytest.main(sys.argv[1:])
print("loaded:", *sorted(name for name in sys.modules if "allure" in name))
raise SystemExit(code)
"""


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """The results by the test's name."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*-result.json")]
    return {one["name"]: one for one in found}


def labels(result: dict[str, Any]) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    for one in result["labels"]:
        told.setdefault(one["name"], []).append(one["value"])
    return told


def test_a_run_tells_allure_what_its_tests_judge(tmp_path: Path) -> None:
    run = ["run", "--adapter", f"embedded+{FAULT}", "--suite", "cursors", "--max-examples", "5", "--workers", "2"]
    more = ["--out", "out", "--", "-k", "test_a_walk_with_cursors or at_its_time or deleted", "--alluredir", "allure"]
    command = [sys.executable, "-m", "conformance", *run, *more]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1, done.stderr
    found, folder = results(tmp_path / "allure"), tmp_path / "allure"
    assert len(found) > 2
    known = catalogue().requirements
    for result in found.values():
        told = labels(result)
        (epic,), (feature,) = told["epic"], told["feature"]
        assert {known[name].document for name in told["story"]} == {epic}
        assert {known[name].section for name in told["story"]} == {feature.partition(" ")[0]}
        assert told["severity"] == [{"must": "critical", "should": "normal"}[known[told["story"][0]].level]]
        assert all(one not in told["story"] for one in told.get("tag", []))
        assert result["historyId"] == digest("cursors", f"{told['suite'][0]}.py::{result['name']}")
    (result,) = [one for one in found.values() if one["status"] != "passed"]
    assert result["status"] == "failed" and result["statusDetails"]["message"].startswith(f"fail: {BROKEN}: ")
    assert labels(result)["story"][0] == BROKEN and labels(result)["epic"] == ["MS-MQMQ"]
    failed = [one for one in read_run(tmp_path / "out").verdicts if one.verdict.outcome is Outcome.FAIL]
    kinds = [one["name"].partition(":")[0] for one in result["attachments"]]
    assert kinds == ["story", "repro", "command"] * len(failed)
    story, repro, again = ((folder / one["source"]).read_text(encoding="utf-8") for one in result["attachments"][:3])
    assert " from q1" in story and json.loads(repro)["verdict"]["requirement"] == BROKEN
    assert again.startswith("mqconform repro ") and again.endswith(f" --adapter embedded+{FAULT}\n")
    assert "Deviations" in (folder / "categories.json").read_text()
    assert f"Connector=embedded+{FAULT}" in (folder / "environment.properties").read_text()


def own(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_own.py").write_text(OWN)
    command = [sys.executable, "-c", LOADED, "test_own.py", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_tests_of_an_implementers_own(tmp_path: Path) -> None:
    done = own(tmp_path, "--mq-adapter=embedded", "--mq-out=out", "--alluredir=allure")
    assert done.returncode == 1, done.stdout
    found = results(tmp_path / "allure")
    broken = labels(found["test_broken"])
    assert (broken["epic"], broken["story"]) == (["MS-MQDMPR"], ["MQDMPR-3.1.1.2.priority-before-arrival"])
    assert broken["tag"] == ["MQMQ-2.2.19.1.signature"] and found["test_broken"]["status"] == "failed"
    placed = labels(found["test_placed"])
    assert placed["feature"] == ["orders"] and not {"epic", "story", "severity"} & set(placed)
    assert "epic" not in labels(found["test_about_nothing"])
    done = own(tmp_path, "--mq-adapter=embedded", "--mq-out=mqmq", "--alluredir=mqmq", "--allure-epics=MS-MQMQ")
    chosen = results(tmp_path / "mqmq")
    assert set(chosen) == {"test_broken", "test_of_ours[<lambda>]"}, done.stdout
    for name, result in chosen.items():  # though a parameter that is a function is another text in each process
        assert result["historyId"] == found[name]["historyId"]


def test_nobody_who_does_not_ask_gets_it(tmp_path: Path) -> None:
    done = own(tmp_path, "--mq-adapter=embedded", "--mq-out=out", "-k", "ours")
    assert done.returncode == 0 and "allure_live" not in done.stdout.rpartition("loaded:")[2], done.stdout
    done = own(tmp_path, "--alluredir=allure", "-k", "nothing")
    assert done.returncode == 0 and "allure_live" not in done.stdout.rpartition("loaded:")[2], done.stdout
    (result,) = results(tmp_path / "allure").values()
    assert "epic" not in labels(result)
