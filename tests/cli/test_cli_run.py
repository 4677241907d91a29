"""`mqconform run` from end to end, and the same suites through pytest itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests_cli import FEW, PATIENCE_S, WholeRun, mqconform

from conformance.harness.failure_verdicts import CONCLUSION
from conformance.harness.suite_registry import suites, suites_folder
from conformance.runlog import read_run
from conformance.verdict import ExitCode, Outcome

WALK = ("-k", "walk_with_transactions")


def verdict_set(folder: Path) -> set[tuple[str, str, str, int]]:
    """Requirement, outcome, test and count; passes of several tests are counted together."""
    found: dict[tuple[str, str, str], int] = {}
    for entry in read_run(folder).verdicts:
        test = entry.suite if entry.verdict.outcome is Outcome.PASS else entry.test
        key = (entry.verdict.requirement, entry.verdict.outcome.value, test)
        found[key] = found.get(key, 0) + entry.count
    return {(*key, count) for key, count in found.items()}


def test_the_embedded_implementation_conforms(whole_run: WholeRun) -> None:
    done = whole_run.done
    assert done.returncode == ExitCode.CONFORMS, done.stdout[-3000:] + done.stderr
    told = json.loads(done.stdout)
    assert told["coverage"]["judged"] >= 60
    assert told["stateful_steps"] >= 1000
    assert set(told["verdicts"]) == {"pass", "reading", "skip"}
    record = read_run(whole_run.folder)
    followed = {
        pair for entry in record.verdicts if entry.verdict.outcome.value == "reading" for pair in entry.verdict.readings
    }
    assert followed and {name for name, _ in followed} <= set(told["readings_followed"])  # those that are not the first
    assert record.complete
    assert record.hello is not None
    assert {entry.suite for entry in record.verdicts} - {CONCLUSION} == set(suites())
    skipped = [entry for entry in record.verdicts if entry.verdict.outcome.value == "skip"]
    assert {entry.suite for entry in skipped} == {"sessions", "remote"}  # the embedded implementation has no network
    assert Path(told["html"]).exists()


@pytest.mark.parametrize(("suite", "part", "seed"), [("transactions", "test_", "7"), ("packets", "user_message", "0")])
def test_same_seed_same_verdicts_and_workers_do_not_matter(suite: str, part: str, seed: str, tmp_path: Path) -> None:
    for name, workers in (("one", []), ("again", []), ("two", ["-n", "2"])):
        out = str(tmp_path / name)
        size = ("--max-examples", "4", "--steps", "12")
        done = mqconform("run", "--suite", suite, "--seed", seed, *size, "--out", out, "--", "-k", part, *workers)
        assert done.returncode == ExitCode.CONFORMS, done.stdout + done.stderr
    assert verdict_set(tmp_path / "one") == verdict_set(tmp_path / "again")
    assert verdict_set(tmp_path / "one") == verdict_set(tmp_path / "two")
    assert len(read_run(tmp_path / "two").parts) == 3


def test_another_seed_explores_other_examples(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        size = ("--max-examples", "3", "--steps", "12")
        mqconform("run", "--suite", "transactions", "--seed", seed, *size, "--out", str(tmp_path / seed), "--", *WALK)
    assert verdict_set(tmp_path / "1") != verdict_set(tmp_path / "2")


def test_a_deviation_is_told_and_run_again(tmp_path: Path) -> None:
    faulty = "embedded+loses-message-on-abort"
    few = ("--max-examples", "5", "--out", str(tmp_path), "--", "-k", "abort")
    done = mqconform("run", "--adapter", faulty, "--suite", "transactions", *few)
    assert done.returncode == ExitCode.DEVIATES
    assert "FAIL MQDMPR-3.1.4.5.receives-return" in done.stdout
    assert "1. create transactional queue q1" in done.stdout
    repros = sorted((tmp_path / "repros").glob("*.json"))
    assert repros
    assert all(json.loads(path.read_text())["alone"] is True for path in repros)
    again = mqconform("repro", str(repros[0]), "--adapter", faulty)
    assert (again.returncode, again.stdout[:6]) == (ExitCode.DEVIATES, "FAILED")
    mended = mqconform("repro", str(tmp_path), "--adapter", "embedded")
    assert mended.returncode == ExitCode.CONFORMS
    *told, asked, total = mended.stdout.splitlines()
    assert asked.startswith("asked: embedded (embedded ") and f"deviation of: {faulty} (embedded " in asked
    assert told and all(line.startswith("FIXED") for line in told)
    assert f"{len(repros)} FIXED" in total
    lost = mqconform("repro", str(repros[0]), "--adapter", "stdio:/does/not/exist")
    assert (lost.returncode, lost.stdout) == (ExitCode.UNUSABLE, "") and "/does/not/exist" in lost.stderr


def test_reports_from_a_record(tmp_path: Path) -> None:
    mqconform("run", "--out", str(tmp_path / "run"), *FEW)
    junit, html = tmp_path / "a" / "junit.xml", tmp_path / "report.html"
    done = mqconform("report", str(tmp_path / "run"), "--html", str(html), "--junit", str(junit))
    assert done.returncode == ExitCode.CONFORMS
    assert "<testsuite" in junit.read_text()
    assert "<html" in html.read_text()
    summary = mqconform("report", str(tmp_path / "run"), "--json")
    assert json.loads(summary.stdout)["complete"] is True


def test_a_report_is_green_where_the_gate_is_open(tmp_path: Path) -> None:
    """The report that a run leaves knows what the run's own gate knew, and what its user calls it."""
    broken, fault = "MQDMPR-3.1.7.1.3.invalid-path-name", "embedded+accepts-plus-in-queue-name"
    members = f'requirement = "{broken}"\nreason = "plus <b>signs</b>"\nlink = "https://example.org/1"\n'
    baseline = tmp_path / "baseline.toml"
    baseline.write_text(f"[[known]]\n{members}expires = 2999-01-01\n", encoding="utf-8")
    out = tmp_path / "out"
    excused = ("--adapter", fault, "--baseline", str(baseline), "--label", "nightly", "--out", str(out), "--json")
    done = mqconform("run", *excused, *FEW)
    told = json.loads(done.stdout)
    assert done.returncode == told["exit_code"] == ExitCode.CONFORMS and told["conclusion"] == "conforms"
    assert [one["requirement"] for one in told["gate"]["known"]] == [broken] and told["label"] == "nightly"
    page = (out / "report.html").read_text(encoding="utf-8")
    assert '<p class="headline good">Conforms but for 1 known deviation</p>' in page
    assert "plus &lt;b&gt;signs&lt;/b&gt;" in page and "<dt>Label</dt><dd>nightly</dd>" in page
    assert read_run(out).header.label == "nightly"


def test_a_label_that_is_none_is_told_before_the_run(tmp_path: Path) -> None:
    done = mqconform("run", "--label", "x" * 81, "--out", str(tmp_path / "out"))
    assert done.returncode == ExitCode.BAD_INPUT and "Invalid label" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_killed_harness_loses_nothing_already_written(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance", "run", "--out", str(tmp_path), "--max-examples", "2000"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    part = tmp_path / "run-main.ndjson"
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and not (part.exists() and part.read_bytes().count(b'"event":"verdict"') > 60):
        time.sleep(0.05)
    events = [json.loads(line) for line in part.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    written = sum(event["count"] for event in events if event["event"] == "verdict")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(PATIENCE_S)
    record = read_run(tmp_path)
    assert not record.complete
    assert record.problems
    assert sum(entry.count for entry in record.verdicts) >= written > 60
    told = mqconform("report", str(tmp_path))
    assert told.returncode == ExitCode.CONFORMS
    assert "incomplete" in (told.stdout + told.stderr).lower()


def test_interrupted_once_it_stops_cleanly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance", "run", "--out", str(tmp_path), "--max-examples", "2000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    part = tmp_path / "run-main.ndjson"
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and not (part.exists() and b'"event":"verdict"' in part.read_bytes()):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == ExitCode.INTERRUPTED
    assert "Traceback" not in stderr
    record = read_run(tmp_path)
    assert record.complete
    assert record.footer is not None
    assert record.footer.stop_reason == "interrupted"


def test_a_spent_budget_is_a_stop_reason_and_no_verdict(tmp_path: Path) -> None:
    done = mqconform("run", "--out", str(tmp_path), "--budget", "2s")  # enough for a verdict, far too little for all
    record = read_run(tmp_path)
    assert done.returncode == ExitCode.NOTHING_JUDGED, done.stderr
    assert "tests were left out" in done.stderr and "--allow-incomplete" in done.stderr
    assert record.footer is not None
    assert record.footer.stop_reason == "budget"
    outcomes = {entry.verdict.outcome for entry in record.verdicts}
    assert Outcome.PASS in outcomes and outcomes <= {Outcome.PASS, Outcome.SKIP}  # a facet may be skipped by then


def pytest_run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=cwd)


def test_the_suites_run_under_pytest(tmp_path: Path) -> None:
    done = pytest_run(
        "--pyargs", "conformance.suites", "--mq-adapter=embedded", "--mq-out=out", "-k", "names and 2_1_3", cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert read_run(tmp_path / "out").complete
    names = str(suites_folder() / "names")
    done = pytest_run(
        "-p", "conformance.plugin", names, "--mq-adapter=embedded", "--mq-out=out2", "-k", "2_1_3", cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_allure_results_come_with_pytests_own_option(tmp_path: Path) -> None:
    results = tmp_path / "allure"
    done = mqconform(
        "run", "--suite", "names", "--out", str(tmp_path / "out"), "--", "--alluredir", str(results), "-k", "2_1_3"
    )
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    assert list(results.glob("*-result.json"))


def test_the_plugin_does_nothing_unless_asked(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import sys\n"
        "def test_mine():\n"
        "    assert not {'hypothesis.core', 'conformance.harness.pytest_hooks'} & set(sys.modules)\n"
    )
    done = pytest_run("-p", "no:hypothesispytest", str(tmp_path / "test_mine.py"), cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == ["test_mine.py"]


def test_fixtures_without_an_adapter_say_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("def test_mine(mq):\n    pass\n")
    done = pytest_run(str(tmp_path / "test_mine.py"), cwd=tmp_path)
    assert done.returncode == 1
    assert "--mq-adapter" in done.stdout


def test_an_implementers_own_test_module(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import pytest\n"
        "from conformance.verdict import Outcome, Verdict\n"
        "ID = 'MQDMPR-3.1.7.1.10.first-available'\n"
        "@pytest.mark.requirement(ID)\n"
        "def test_mine(mq, queue, judge):\n"
        "    mq.call('messages.send', queue=queue['send'], message={'label': 'x'})\n"
        "    got = mq.call('messages.receive', queue=queue['receive'], timeout_ms=0)\n"
        "    good = got.ok and got.values['message']['label'] == 'x'\n"
        "    judge.record(Verdict(ID, Outcome.PASS if good else Outcome.FAIL, 'receive', 'x', got.to_json()))\n"
    )
    done = pytest_run(str(tmp_path / "test_mine.py"), "--mq-adapter=embedded", "--mq-out=out", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    (entry,) = read_run(tmp_path / "out").verdicts
    assert (entry.suite, entry.verdict.outcome) == ("own", Outcome.PASS)
