"""How a command ends when it is interrupted, when nobody reads it, and when a test fails without a verdict."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests_cli import FEW, PATIENCE_S, mqconform, one_sentence, stdio

from conformance.runlog import read_run
from conformance.verdict import ExitCode, Outcome


def has_child(process: subprocess.Popen[str]) -> bool:
    """Whether any of its threads has started a process; True where that is not told."""
    told = list(Path(f"/proc/{process.pid}/task").glob("*/children"))
    return not told or any(each.read_text() for each in told)


def interrupted(arguments: list[str], until: Path | None, *, times: int = 1) -> tuple[int, str]:
    """Ctrl-C to the whole process group, once `until` has a verdict (None: once it has a child); code and stderr."""
    process = subprocess.Popen(
        [sys.executable, "-m", "conformance", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    stop = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < stop:
        there = has_child(process) if until is None else until.exists() and b'"verdict"' in until.read_bytes()
        if there:
            break
        time.sleep(0.05)
    time.sleep(1.0)  # into the middle of something
    for _ in range(times):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.1)
    try:
        _, errors = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    return process.returncode, errors


def test_an_interrupted_run_keeps_what_was_judged(tmp_path: Path) -> None:
    code, errors = interrupted(["run", "--out", str(tmp_path)], tmp_path / "run-main.ndjson")
    assert code == ExitCode.INTERRUPTED, errors
    assert "Traceback" not in errors
    assert "what was judged is kept" in errors
    record = read_run(tmp_path)
    assert record.footer is not None
    assert record.footer.stop_reason == "interrupted"
    assert record.verdicts


def test_a_run_interrupted_twice_loses_nothing_either(tmp_path: Path) -> None:
    code, errors = interrupted(["run", "--out", str(tmp_path)], tmp_path / "run-main.ndjson", times=2)
    assert code == ExitCode.INTERRUPTED, errors
    assert "Traceback" not in errors
    assert read_run(tmp_path).verdicts


def test_an_interrupted_selftest_begins_nothing_more() -> None:
    code, _ = interrupted(["selftest"], None)
    assert code == ExitCode.INTERRUPTED


def test_a_reader_that_goes_away_changes_nothing(tmp_path: Path) -> None:
    """`mqconform ... | head -1`: judged to the end, and the exit code is that of the verdicts."""
    command = [sys.executable, "-m", "conformance", "run", "--out", str(tmp_path / "good")]
    for extra, wanted in (([], ExitCode.CONFORMS), (["--adapter", "embedded+accepts-plus-in-queue-name"], 1)):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([*command, *extra, *FEW], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
        os.close(writing)
        assert done.returncode == wanted, done.stderr
        assert read_run(tmp_path / "good").complete


def test_a_full_disk_behind_the_output() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "conformance", "requirements", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == ExitCode.BAD_INPUT
    assert done.stderr == "mqconform: The output cannot be written (No space left on device).\n"


def test_a_test_that_fails_without_a_verdict_is_no_pass(tmp_path: Path) -> None:
    own = tmp_path / "test_own.py"
    own.write_text("def test_plain(mq):\n    assert not mq.offers('queues.create')\n")
    some = ("--suite", "names", "--max-examples", "1", "--out", str(tmp_path / "out"))
    done = mqconform("run", *some, "--", str(own), "-k", "test_plain or create_queue")
    assert {entry.verdict.outcome for entry in read_run(tmp_path / "out").verdicts} == {Outcome.PASS}
    assert "failed without saying" in one_sentence(done, ExitCode.HARNESS_ERROR)


def test_tests_that_cannot_be_collected_are_no_interruption(tmp_path: Path) -> None:
    own = tmp_path / "test_own.py"
    own.write_text("import no_such_module\n")
    done = mqconform("run", "--suite", "names", "--out", str(tmp_path / "out"), "--", str(own))
    assert done.returncode == ExitCode.HARNESS_ERROR
    assert "mqconform: The run did not finish" in done.stderr


def test_a_driver_that_dies_between_tests_spoils_no_other_test(tmp_path: Path) -> None:
    driver = stdio(sys.executable, Path(__file__).parent / "fakes" / "dies_in_reset.py")
    few = ("--max-examples", "2", "--steps", "10")
    done = mqconform("run", "--adapter", driver, "--suite", "transactions", "--out", str(tmp_path), *few)
    assert done.returncode == ExitCode.DEVIATES, done.stderr
    outcomes = {entry.verdict.outcome for entry in read_run(tmp_path).verdicts}
    assert Outcome.CRASH in outcomes
    assert Outcome.PASS in outcomes
    assert Outcome.ERROR not in outcomes
