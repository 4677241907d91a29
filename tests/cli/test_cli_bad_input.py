"""Wrong input: one sentence on stderr, the documented exit code, never a traceback, and what was judged is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fake_drivers import fake
from tests_cli import FEW, mqconform, one_sentence, stdio

from conformance.runlog import read_run
from conformance.verdict import ExitCode


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (["--suite", "nmes"], "names"),
        (["--suite", ","], "names"),
        (["--profile", "msmq-4"], "msmq-4.0"),
        (["--level", "most"], "must"),
        (["--reading", "window"], "windows"),
        (["--reading", "windows", "--reading", "strict"], "names several sets"),
        (["--adapter", "embeded"], "embedded"),
        (["--adapter", "embedded+ignores-priorty"], "ignores-priority"),
        (["--adapter", "tcp:localhost:99999"], "tcp:HOST:PORT"),
        (["--adapter", "python:nocolon"], "python:pkg.mod:Class"),
        (["--adapter", "stdio:"], "stdio:COMMAND"),
        (["--budget", "soon"], "30s"),
    ],
)
def test_an_unknown_word_names_the_nearest(arguments: list[str], nearest: str, tmp_path: Path) -> None:
    sentence = one_sentence(mqconform("run", *arguments, "--out", str(tmp_path / "out")), ExitCode.BAD_INPUT)
    assert nearest in sentence


@pytest.mark.parametrize(
    ("connector", "why", "code"),
    [
        (fake("exits_at_once"), "never said hello", ExitCode.UNUSABLE),
        (fake("wrong_version"), "speaks adapter protocol", ExitCode.UNUSABLE),
        (fake("refuses_hello"), "refused hello", ExitCode.UNUSABLE),
        ("python:conformance.no.module:Driver", "there is no module conformance.no", ExitCode.BAD_INPUT),
        ("tcp:127.0.0.1:1", "no driver answers", ExitCode.UNUSABLE),
    ],
)
def test_a_driver_that_cannot_be_used(connector: str, why: str, code: ExitCode, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = mqconform("run", "--adapter", connector, "--suite", "names", "--out", str(out))
    assert why in one_sentence(done, code)
    record = read_run(out)
    assert record.footer is not None
    assert record.footer.stop_reason == "driver-unusable"


@pytest.mark.parametrize(
    ("defect", "outcome"),
    [
        ("dies", "crash"),
        ("hangs", "timeout"),
        ("prints_garbage", "crash"),
        ("half_a_line", "crash"),
        ("endless_line", "crash"),
        ("answers_unknown_id", "crash"),
        ("answers_twice", "crash"),
        ("lies_about_types", "crash"),
    ],
)
def test_a_driver_that_fails_in_the_middle(defect: str, outcome: str, tmp_path: Path) -> None:
    """The test it happened in ends as a deviation; the run goes on with what can still be judged."""
    out = tmp_path / "out"
    driver = stdio(sys.executable, Path(__file__).parent / "fakes" / "sabotaged.py", defect)
    done = mqconform(
        "run",
        "--adapter",
        driver,
        "--suite",
        "cursors",
        "--deadline-ms",
        "700",
        "--max-examples",
        "2",
        "--steps",
        "10",
        "--out",
        str(out),
    )
    assert done.returncode == ExitCode.DEVIATES, done.stdout + done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    record = read_run(out)
    assert record.complete
    assert {event.what for event in record.driver} & {"crash", "timeout"}
    outcomes = {entry.verdict.outcome.value for entry in record.verdicts}
    assert outcome in outcomes
    assert "fail" not in outcomes, "what the driver did is not blamed on the queue manager"
    assert "error" not in outcomes, "nor on the harness"
    assert "pass" in outcomes


def test_an_output_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = mqconform("run", "--out", str(tmp_path / "file" / "out"))
    assert "--out" in one_sentence(done, ExitCode.BAD_INPUT)


def test_no_test_selected_is_not_a_success(tmp_path: Path) -> None:
    done = mqconform("run", "--suite", "names", "--out", str(tmp_path / "out"), "--", "-k", "no_test_has_this_name")
    one_sentence(done, ExitCode.NOTHING_JUDGED)


def test_an_unknown_pytest_option_is_the_users_mistake(tmp_path: Path) -> None:
    done = mqconform("run", "--suite", "names", "--out", str(tmp_path / "out"), "--", "--no-such-option")
    assert done.returncode == ExitCode.BAD_INPUT
    assert "Traceback" not in done.stderr + done.stdout


def test_an_earlier_record_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        mqconform("run", "--adapter", fake("honest"), "--out", str(out), *FEW)
    assert read_run(out).complete
    (earlier,) = (out / "earlier").iterdir()
    assert read_run(earlier).complete


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (None, "no record"),
        (b"", "no run record"),
        (b"hello\n", "not a run record"),
        (b"\xff\xfe\x00", "not a run record"),
    ],
)
def test_report_of_what_is_no_run_record(content: bytes | None, word: str, tmp_path: Path) -> None:
    path = tmp_path / "run-main.ndjson"
    if content is not None:
        path.write_bytes(content)
    one_sentence(mqconform("report", str(path)), ExitCode.BAD_INPUT)


@pytest.mark.parametrize("content", [None, "", "{", "[]", "{}", '{"format": 99}'])
def test_repro_of_what_is_no_repro_file(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    if content is not None:
        path.write_text(content)
    done = mqconform("repro", str(path))
    assert done.returncode == ExitCode.BAD_INPUT, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_requirements_names_the_nearest(tmp_path: Path) -> None:
    done = mqconform("requirements", "show", "MQDMPR-3.2.7.3.illegal-cursor-acton")
    assert "MQDMPR-3.2.7.3.illegal-cursor-action" in one_sentence(done, ExitCode.BAD_INPUT)
    done = mqconform("requirements", "list", "--section", "MQDMPR-9.9")
    assert "MQDMPR-" in one_sentence(done, ExitCode.BAD_INPUT)


def test_every_command_has_help_with_an_example() -> None:
    for command in (
        ["run"],
        ["replay"],
        ["repro"],
        ["report"],
        ["selftest"],
        ["requirements", "list"],
        ["requirements", "show"],
        ["adapter", "check"],
    ):
        done = mqconform(*command, "--help")
        assert done.returncode == 0
        assert "Example: mqconform" in " ".join(done.stdout.split()), command


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "sys.argv = ['mqconform', '--help']\n"
        "from conformance.cli import main\n"
        "try:\n main()\n"
        "except SystemExit: pass\n"
        "heavy = {'pytest', 'hypothesis', 'scapy', 'rich', 'jinja2', 'lark', 'sqlite3', 'fastjsonschema'}\n"
        "found = heavy & {name.split('.')[0] for name in sys.modules}\n"
        "assert not found, found\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
