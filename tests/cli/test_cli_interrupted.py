"""Ctrl-C, SIGTERM and SIGHUP at any moment: exit code 130, one sentence, no traceback, nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest
from nightly import nightly_only
from small_record import CAPTURE, a_record

from conformance.runlog import read_run
from conformance.verdict import ExitCode

MOMENTS = Path(__file__).parent / "moments"
MANY = 40
"""Moments of a sweep over a whole command."""


@dataclass(frozen=True)
class Struck:
    """A command that was sent a signal, and ended."""

    code: int
    errors: str
    left: tuple[str, ...]

    def check(self) -> None:
        assert self.code == ExitCode.INTERRUPTED, self.errors
        assert "Traceback" not in self.errors
        assert "KeyboardInterrupt" not in self.errors
        said = [line for line in self.errors.splitlines() if "nterrupted" in line]
        assert len(said) == 1 and said[0].startswith("mqconform: "), self.errors
        assert not self.left


def strike(arguments: list[str], moment: str, folder: Path, *, number: str = "SIGINT", **more: str) -> Struck:
    """Run a command that gets a signal at a moment (see `moments/sitecustomize.py`). folder: for temporary files."""
    mark = uuid.uuid4().hex
    temporary = folder / f"tmp-{mark}"
    temporary.mkdir()
    path = os.pathsep.join([str(MOMENTS), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "conformance", *arguments],
        env={
            **os.environ,
            **more,
            "PYTHONPATH": path,
            "MQ_MOMENT": moment,
            "MQ_SIGNAL": number,
            "MQ_MARK": mark,
            "TMPDIR": str(temporary),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        timeout=120,
        check=False,
        cwd=folder,
    )
    return Struck(done.returncode, done.stderr, (*living(mark), *(each.name for each in temporary.glob("mqconform-*"))))


def living(mark: str) -> tuple[str, ...]:
    """The processes with this mark in their environment, once they had time to end."""
    for _ in range(100):
        found = tuple(_marked(mark))
        if not found:
            break
        time.sleep(0.1)
    return found


def _marked(mark: str) -> list[str]:
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and mark.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("import conformance.cli.app", "SIGINT"),  # before anything is there
        ("open run-main.ndjson", "SIGINT"),  # before the first line of the record
        ("subprocess.Popen conformance.embedded", "SIGTERM"),  # the driver starts
        ("open test_mqmq_2_1_2", "SIGHUP"),  # while tests are collected
        ("open .part", "SIGINT"),  # the report is being written
    ],
)
def test_a_run_is_stopped(tmp_path: Path, moment: str, number: str) -> None:
    out = tmp_path / "out"
    found = strike(
        ["run", "--suite", "names", "--max-examples", "1", "--out", str(out)], moment, tmp_path, number=number
    )
    found.check()
    if (out / "run-main.ndjson").exists():
        assert read_run(out).complete
    assert not (out / "report.html").exists() or b"</html>" in (out / "report.html").read_bytes()


def test_a_run_of_two_workers_is_stopped(tmp_path: Path) -> None:
    """While the second worker is started: the first imports what it needs, and has no record yet."""
    out = tmp_path / "out"
    arguments = ["run", "--suite", "names", "--workers", "2", "--out", str(out)]
    found = strike(arguments, "2:subprocess.Popen sys.stdin.readline", tmp_path, number="SIGTERM")
    found.check()
    assert read_run(out).complete


@pytest.mark.parametrize(
    ("arguments", "moment", "number"),
    [
        (["run", "--requirement", "MQMQ-2.1", "--out", "out"], "open test_mqmq_2_1_2", "SIGINT"),
        (["replay", CAPTURE, "--out", "out"], "open consistent-session.pcapng", "SIGINT"),
        (["selftest", "accepts-plus-in-queue-name"], "subprocess.Popen", "SIGTERM"),
        (["soak", "--out", "out"], "subprocess.Popen conformance.embedded", "SIGTERM"),
        (["readings", "infer", "--out", "out"], "subprocess.Popen conformance.embedded", "SIGINT"),
    ],
)
def test_other_commands_are_stopped(tmp_path: Path, arguments: list[str], moment: str, number: str) -> None:
    strike(arguments, moment, tmp_path, number=number).check()
    if (tmp_path / "out" / "run-main.ndjson").exists():
        assert read_run(tmp_path / "out").complete


def test_a_report_that_is_interrupted_leaves_the_one_before(tmp_path: Path) -> None:
    record = a_record(tmp_path / "run")
    (tmp_path / "report.html").write_text("before")
    strike(["report", str(record), "--html", "report.html"], "open .part", tmp_path).check()
    assert (tmp_path / "report.html").read_text() == "before"
    assert not list(tmp_path.glob(".*.part"))


@nightly_only("cli.pipeline-interrupted")
@pytest.mark.parametrize(
    "moment", ["import pyspark", "subprocess.Popen spark-submit", "import conformance.pipeline.lake"]
)
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_pipeline_is_stopped(tmp_path: Path, moment: str, number: str) -> None:
    strike(
        ["pipeline", "ingest", CAPTURE, "--out", "lake", "--engine", "spark"], moment, tmp_path, number=number
    ).check()


@nightly_only("cli.interrupted-anywhere")
@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--suite", "names", "--max-examples", "1", "--out", "out"],
        ["run", "--suite", "names", "--max-examples", "1", "--workers", "2", "--out", "out"],
        ["replay", CAPTURE, "--out", "out"],
        ["selftest", "accepts-plus-in-queue-name"],
        ["soak", "--histories", "20", "--out", "out"],
        ["requirements", "coverage"],
    ],
    ids=" ".join,
)
def test_a_command_is_stopped_wherever_it_is(tmp_path: Path, arguments: list[str]) -> None:
    counted = tmp_path / "counted"
    for _ in range(2):  # the first fills caches, which takes more events
        strike(arguments, "#0", tmp_path, MQ_COUNTED=str(counted))
    events = int(counted.read_text()) * 9 // 10  # not all are counted alike each time
    for number in range(MANY):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = strike(arguments, f"#{1 + events * number // MANY}", folder, number=("SIGINT", "SIGTERM")[number % 2])
        found.check()
        if (folder / "out" / "run-main.ndjson").exists():
            assert read_run(folder / "out").complete
