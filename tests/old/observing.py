"""What today's commands make of the things in `fixtures/old/0.1`: names to short texts, by section.

`fixtures/old/0.1/expect.toml` holds what they made of them at version 0.1; the tests beside this file compare.
"""

from __future__ import annotations

import csv
import json
import os
import runpy
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from commands import in_process

import conformance

ROOT = Path(__file__).parents[2]
OLD = ROOT / "fixtures" / "old" / "0.1"
RECORDS = ("run", "before", "replay", "against")
FAULTY = "embedded+ignores-priority,accepts-plus-in-queue-name"
TWO = ("1df3d553d6a49ad4.json", "6ddadf1b15ffced2.json")
"""A repro of each of the two faults."""
PYTEST_FILE = "run/repros/test_1df3d553d6a49ad4.py"
DRIVER = f"stdio:{shlex.join([sys.executable, 'driver/driver.py'])}"
Seen = dict[str, str]
"""A name and what was said of it, in one line."""

SILENT = frozenset({conformance.Outcome.SKIP, conformance.Outcome.INCONCLUSIVE})

SECTIONS: dict[str, Callable[[Path], Seen]] = {}
"""What looks at a folder that holds copies of the old things, is the current folder and may be written to."""


def section(name: str) -> Callable[[Callable[[Path], Seen]], Callable[[Path], Seen]]:
    """Offer the function below as this section."""

    def offer(function: Callable[[Path], Seen]) -> Callable[[Path], Seen]:
        SECTIONS[name] = function
        return function

    return offer


def copied(folder: Path) -> Path:
    """A copy of the old things below `folder`: a command may write beside what it reads."""
    return Path(shutil.copytree(OLD, folder / "old"))


def said(*arguments: str, code: int) -> Any:
    """What this command prints, as JSON where it is; it must end with this code."""
    done = in_process(*arguments)
    assert done.exit_code == code, (arguments, done.exit_code, done.output[-2_000:], done.exception)
    assert "Traceback" not in done.output
    return json.loads(done.stdout) if "--json" in arguments else done.stdout


def outcomes(record: Path, *, counted: bool) -> Seen:
    """Requirement to its outcomes in this record, worst first.

    counted: each with how often. Otherwise what says nothing is left out where anything else is said.
    """
    found: dict[str, Counter[conformance.Outcome]] = {}
    for recorded in conformance.read_run(record).verdicts:
        found.setdefault(recorded.verdict.requirement, Counter())[recorded.verdict.outcome] += recorded.count
    out: Seen = {}
    for name, seen in sorted(found.items()):
        order = sorted(seen, key=lambda outcome: outcome.rank)
        if counted:
            out[name] = " ".join(f"{outcome.value} {seen[outcome]}" for outcome in order)
        else:
            out[name] = " ".join(outcome.value for outcome in order if outcome not in SILENT) or order[0].value
    return out


def _reader(record: str) -> Callable[[Path], Seen]:
    return lambda folder: outcomes(folder / record, counted=True)


for _name in RECORDS:
    section(f"read {_name}")(_reader(_name))


@section("reports of run")
def reports(folder: Path) -> Seen:
    kinds = {"html": "page.html", "junit": "junit.xml", "sarif": "out.sarif", "markdown": "out.md", "csv": "out.csv",
             "badge": "badge.svg"}  # fmt: skip
    said("report", "run", *(word for kind, file in kinds.items() for word in (f"--{kind}", file)), code=0)
    suites = ElementTree.parse(folder / kinds["junit"]).getroot()
    failed = {str(case.get("name")) for case in suites.iter("testcase") if case.find("failure") is not None}
    sarif = json.loads((folder / kinds["sarif"]).read_text())["runs"][0]["results"]
    with (folder / kinds["csv"]).open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    failing = sorted(name for name, seen in outcomes(folder / "run", counted=False).items() if "fail" in seen.split())
    return {
        "junit": " ".join(sorted(failed)),
        "sarif": " ".join(sorted({one["ruleId"] for one in sarif if one["level"] == "error"})),
        "csv": " ".join(sorted({row["requirement"] for row in rows if row["outcome"] == "fail"})),
        "html": " ".join(name for name in failing if name in (folder / kinds["html"]).read_text()),
        "markdown": " ".join(name for name in failing if name in (folder / kinds["markdown"]).read_text()),
    }


@section("summary of run")
def summary(folder: Path) -> Seen:
    found = said("report", "run", "--json", code=0)
    names = ("complete", "stop_reason", "exit_code", "conclusion", "profile", "level", "reading_set")
    return {name: str(found[name]) for name in names}


@section("gate")
def gate(folder: Path) -> Seen:
    open_ = said("gate", "before", "--baseline", "baseline.toml", "--json", code=0)
    shut = said("gate", "run", "--against", "before", "--baseline", "baseline.toml", "--json", code=1)
    return {
        "before, excused": " ".join(one["requirement"] for one in open_["known"]),
        "run, excused": " ".join(one["requirement"] for one in shut["known"]),
        "run, objections": " ".join(sorted(f"{one['kind']}:{one['what']}" for one in shut["objections"])),
    }


@section("baseline")
def baseline(folder: Path) -> Seen:
    found = said("baseline", "update", "before", "--baseline", "baseline.toml", "--yes", "--json", code=0)
    return {name: str(found[name]) for name in ("written", "diff", "added", "removed", "renewed")}


@section("diff")
def diff(folder: Path) -> Seen:
    found = said("report", "before", "run", "--json", code=1)
    return {f"{one['requirement']}": f"{one['before']} {one['now']}" for one in found["differences"][0]["changes"]}


@section("matrix")
def matrix(folder: Path) -> Seen:
    found = said("report", "run", "before", "--json", code=1)
    return {str(at): f"{one['outcome']} {one['passed']} {one['judged']}" for at, one in enumerate(found["totals"])}


def _judge(record: str) -> Callable[[Path], Seen]:
    def judge(folder: Path) -> Seen:
        out = folder / f"judged-{record}"
        said("judge", record, "--out", str(out), code=1)
        return outcomes(out, counted=False)

    return judge


for _name in ("run", "replay", "against"):
    section(f"judge {_name}")(_judge(_name))


@section("repro")
def repro(folder: Path) -> Seen:
    """Each is there with the faults and does not come without; so says the pytest file beside one of them."""
    (folder / "two").mkdir()
    for name in TWO:
        shutil.copy(folder / "run" / "repros" / name, folder / "two")
    failed = said("repro", "two", "--adapter", FAULTY, "--json", code=1)["answers"]
    fixed = said("repro", "run", "--adapter", "embedded", "--json", code=5)["answers"]
    found = {
        f"{Path(one['file']).name} {how}": f"{one['answer']} {one['requirement']}"
        for how, answers in (("with the faults", failed), ("without", fixed))
        for one in answers
    }
    (test,) = (value for name, value in runpy.run_path(str(folder / PYTEST_FILE)).items() if name.startswith("test_"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MQCONFORM_ADAPTER", FAULTY)
        with pytest.raises(AssertionError, match="expected"):
            test()
        patch.delenv("MQCONFORM_ADAPTER")
        with pytest.raises(AssertionError, match="does not say whose deviation"):
            test()
    return found


@section("replay against")
def against(folder: Path) -> Seen:
    faulty = "embedded+reads-time-to-reach-queue-short"
    said("replay", "captures/consistent-session.pcapng", "--against", faulty, "--out", "now", code=1)
    return outcomes(folder / "now", counted=False)


@section("driver check")
def check(folder: Path) -> Seen:
    steps = said("adapter", "check", DRIVER, "--json", code=0)["steps"]
    return {one["what"]: one["state"] for one in steps if one["state"] == "ok"}


@section("driver run")
def driven(folder: Path) -> Seen:
    """In a process of its own, as there is a pytest within; the tests chosen wait for no clock."""
    command = [sys.executable, "-m", "conformance", "run", "--adapter", DRIVER, "--suite", "outgoing", "--seed", "14",
               "--max-examples", "2", "--steps", "6", "--out", "driven", "--", "-k", "pause_queue"]  # fmt: skip
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
                          text=True, timeout=120, check=False)  # fmt: skip
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    return {
        name: seen
        for name, seen in outcomes(folder / "driven", counted=False).items()
        if seen not in ("skip", "inconclusive")
    }
