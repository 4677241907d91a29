"""Words no file and no host can be called: one sentence and exit code 2, from every command that takes one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests_cli import mqconform, one_sentence

from conformance.runlog import Header, RunWriter
from conformance.verdict import ExitCode, Outcome, Verdict

LONG = "n" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ("replay", LONG),
        ("report", LONG),
        ("repro", "n" * 120_000),
        ("report", LONG, LONG),
        ("adapter", "new", LONG),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_name_that_is_too_long(arguments: tuple[str, ...]) -> None:
    said = one_sentence(mqconform(*arguments), ExitCode.BAD_INPUT)
    assert "nnn" in said and "too long" in said


@pytest.mark.parametrize("host", ["a..b", ".", "h" * 70])
def test_a_host_that_no_resolver_takes(host: str) -> None:
    said = one_sentence(mqconform("adapter", "check", f"tcp:{host}:1"), ExitCode.BAD_INPUT)
    assert f"tcp:{host}:1 is not a connector" in said


def test_a_run_with_such_a_host(tmp_path: Path) -> None:
    done = mqconform("run", "--adapter", "tcp:a..b:1", "--json", "--suite", "names", "--out", str(tmp_path / "run"))
    assert "tcp:a..b:1 is not a connector" in one_sentence(done, ExitCode.BAD_INPUT)


@pytest.mark.parametrize(
    "arguments",
    [
        *((name, "") for name in ("replay", "repro", "report", "gate", "judge")),
        ("report", "there", ""),
        ("adapter", "new", ""),
        ("pipeline", "report", ""),
        ("pipeline", "ingest", "there", ""),
    ],
    ids=" ".join,
)
def test_an_empty_name_is_not_the_current_folder(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = one_sentence(mqconform(*arguments), ExitCode.BAD_INPUT)
    assert said.endswith(" is empty: give the name of a file or folder.")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def record(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    with RunWriter(folder) as writer:
        writer.header(Header("r", connector="embedded", profile="msmq-4.0", level="must"))
        writer.verdict(Verdict("MQMQ-2.1.2.accept", Outcome.PASS, "s"), suite="names", test="names.py::t")
        writer.footer("completed")
    return folder


@pytest.mark.parametrize(("command", "option"), [("report", "--csv"), ("report", "--html"), ("judge", "--out")])
def test_a_report_does_not_replace_the_record_it_is_made_of(command: str, option: str, record: Path) -> None:
    (part,) = record.glob("run-*.ndjson")
    before = part.read_bytes()
    done = mqconform(command, str(record), option, str(part))
    assert one_sentence(done, ExitCode.BAD_INPUT).endswith("which is the input: name another file.")
    assert part.read_bytes() == before


def test_two_outputs_have_two_files(record: Path, tmp_path: Path) -> None:
    done = mqconform("report", str(record), "--html", str(tmp_path / "x"), "--junit", f"{tmp_path}/run/../x")
    assert "--html and --junit name the same file" in one_sentence(done, ExitCode.BAD_INPUT)
    assert not (tmp_path / "x").exists()
    fine = mqconform("report", str(record), "--html", str(record / "x"), "--junit", "/dev/null", "--csv", "/dev/null")
    assert fine.returncode == ExitCode.CONFORMS, fine.stderr
    assert (record / "x").exists()
