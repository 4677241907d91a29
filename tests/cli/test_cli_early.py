"""What is wrong with the words of a command is told before anything that takes time, and before anything is made."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from tests_cli import FAKES, mqconform, one_sentence, stdio

from conformance.run_options import DAY_MS
from conformance.verdict import ExitCode

HUGE = "1" + "0" * 5000


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("run --workers 100000", "100000 is out of range (1 to 64)"),
        ("run --workers 0", "0 is out of range (1 to 64)"),
        (f"run --max-examples {HUGE}", "is out of range (1 to 1,000,000)"),
        (f"run --deadline-ms {DAY_MS + 1}", "(1 to 86,400,000)"),
        ("run --steps 3.5", "'3.5' is not a whole number"),
        ("run --seed=-1", "-1 is out of range (0 to "),
        ("run --max-failures 0", "0 is out of range"),
        ("soak --histories x", "'x' is not a whole number"),
        ("repro x --deadline-ms 0", "0 is out of range"),
        ("selftest --workers 65", "65 is out of range"),
        ("pipeline watch here --out lake --every nan", "nan is out of range"),
        ("pipeline watch here --out lake --settle soon", "'soon' is not a number"),
    ],
)
def test_numbers_have_bounds(command: str, told: str) -> None:
    done = mqconform(*shlex.split(command))
    assert done.returncode == ExitCode.BAD_INPUT
    last = done.stderr.splitlines()[-1]
    assert last.startswith("Error: Invalid value for '--") and told in last
    assert len(last) < 200


@pytest.mark.parametrize("words", ["run --budget 3000h", "soak --budget 2weeks", "run --budget ''"])
def test_a_duration_that_is_none(words: str, tmp_path: Path) -> None:
    assert "Invalid duration" in one_sentence(
        mqconform(*shlex.split(words), "--out", str(tmp_path)), ExitCode.BAD_INPUT
    )


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("names", "did you mean --suite names?"),
        ("name,cursors", "did you mean --suite names,cursors?"),
        ("embedded", "did you mean --adapter embedded?"),
        ("MQMQ-2.2.19.1.signature", "did you mean --requirement MQMQ-2.2.19.1.signature?"),
        ("elephants", "name suites with --suite"),
    ],
)
def test_a_word_that_run_does_not_take(word: str, meant: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert meant in one_sentence(mqconform("run", word, "--out", str(out)), ExitCode.BAD_INPUT)
    assert not out.exists()


MISSING = ("stdio:/does/not/exist", "does not exist: check the path", ExitCode.UNUSABLE)


@pytest.mark.parametrize(
    ("command", "connector", "why", "code"),
    [
        *(
            (each, *MISSING)
            for each in ("run", "soak", "repro .", "adapter check", "readings infer", "replay --against")
        ),
        ("run", "stdio:nobody-has-such-a-program", "no folder of PATH has it", ExitCode.UNUSABLE),
        ("run", stdio(FAKES / "honest.py"), "may not be executed: make it executable", ExitCode.UNUSABLE),
        ("run", stdio(FAKES), "is a folder: name the program in it", ExitCode.UNUSABLE),
        ("run", "python:no_such_module.inner:Driver", "there is no module no_such_module", ExitCode.BAD_INPUT),
    ],
)
def test_a_driver_that_is_not_there(command: str, connector: str, why: str, code: ExitCode, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = shlex.split(command)
    if command.startswith("replay"):
        words += [connector, "fixtures/captures/mqqb-4.1.pcapng", "--out", str(out)]
    elif command == "adapter check":
        words += [connector]
    else:
        words += ["--adapter", connector] + ([] if command.startswith("repro") else ["--out", str(out)])
    assert why in one_sentence(mqconform(*words), code)
    assert not list(out.glob("run-*.ndjson"))
