"""What a command does where its streams are closed, its terminal has no size, or a folder is no place to write to."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from small_record import a_record

from conformance.cli.ending import OUTPUTS
from conformance.command_options import BadInput, prepare_folder
from conformance.verdict import ExitCode

MQCONFORM = f"{shlex.quote(sys.executable)} -m conformance"
SHOW = "requirements list --section MQMQ-2.2.19.1"


def shell(line: str, folder: Path, **environment: str | None) -> subprocess.CompletedProcess[str]:
    """A line of the shell, in which `mqconform` is ours. environment: None takes a variable away."""
    whole = {**os.environ, "NO_COLOR": "1", **environment}
    done = subprocess.run(
        ["bash", "-c", line.replace("mqconform", MQCONFORM)],
        env={name: value for name, value in whole.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
    )
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize("to", ["/dev/full", "&-"])
def test_a_result_that_cannot_be_written_is_no_success(tmp_path: Path, to: str) -> None:
    record = a_record(tmp_path / "run")
    for command in (f"report {record} --annotations github", f"report {record} --json", SHOW)[: 3 if to == "&-" else 1]:
        done = shell(f"mqconform {command} >{to}", tmp_path)
        assert done.returncode == ExitCode.BAD_INPUT, command
        assert re.fullmatch(r"mqconform: The output cannot be written \([A-Z][a-z ]+\)\.\n", done.stderr)


def test_progress_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    """With all streams closed a file that is opened would take the number of one, and what is said go into it."""
    line = "mqconform replay /dev/null --out {}"
    assert shell(line.format("a") + " 2>/dev/full", tmp_path).returncode == ExitCode.BAD_INPUT
    record = a_record(tmp_path / "run")
    done = shell(f"mqconform report {record} --html page.html <&- >&- 2>&-", tmp_path)
    assert done.returncode == ExitCode.BAD_INPUT  # the name of the page is a result
    assert (tmp_path / "page.html").read_text().rstrip().endswith("</html>")
    done = shell(f"mqconform report {record} --html again.html <&- 2>&-", tmp_path)
    assert done.returncode == ExitCode.CONFORMS
    assert done.stdout == "again.html\n"


@pytest.mark.parametrize(
    "environment",
    [
        {"COLUMNS": "0", "LINES": "0", "TERM": "dumb", "HOME": None},
        {"COLUMNS": "abc", "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "HOME": "/proc"},
        {"COLUMNS": "1000000000000", "LC_ALL": "no_SUCH.locale", "TERM": None, "XDG_CACHE_HOME": "/proc/nowhere"},
    ],
)
def test_output_appears_whatever_the_terminal_says_of_itself(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    record = a_record(tmp_path / "run")
    done = shell(f"mqconform report {record}", tmp_path, **environment)
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    assert "msmq-4.0" in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 1_000


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    done = shell("mqconform requirements list | head -1; exit ${PIPESTATUS[0]}", tmp_path)
    assert done.returncode == ExitCode.CONFORMS
    assert len(done.stdout.splitlines()) == 1
    assert not done.stderr


def test_an_empty_name_is_no_place(tmp_path: Path) -> None:
    for line in ("run --out ''", "replay x --out="):
        done = shell(f"mqconform {line}", tmp_path)
        assert done.returncode == ExitCode.BAD_INPUT
        assert done.stderr == "mqconform: --out is empty: give the name of a file or folder.\n"
    assert not list(tmp_path.iterdir())


def test_every_option_that_names_a_place_is_read_or_written() -> None:
    text = "".join(path.read_text() for path in (Path(__file__).parents[2] / "conformance" / "cli").glob("*.py"))
    named = set(re.findall(r"(\w+): Annotated\[\s*(?:list\[)?Path\]?(?: \| None)?,\s*typer\.Option\(", text))
    assert named - {"baseline", "selftest", "state_dir"} == OUTPUTS  # the child of serve reads and writes its state


@pytest.mark.parametrize("folder", ["/proc/nowhere", "/dev/null"])
def test_a_state_folder_that_cannot_be_used_is_refused(tmp_path: Path, folder: str) -> None:
    line = f"mqconform serve --listen 127.0.0.1:0 --ping-port 0 --budget 1s --state-dir {folder}"
    done = shell(line, tmp_path)
    assert done.returncode == ExitCode.BAD_INPUT
    assert f"state folder {folder} cannot be used" in done.stderr


@pytest.mark.parametrize(
    "out", ["file", "file/below", "/proc/nowhere", "/dev/null", "d" * 300, "/".join(["d" * 200] * 21)]
)
def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("mine")
    with pytest.raises(BadInput, match="cannot be written"):
        prepare_folder(out)
    assert Path("file").read_text() == "mine"


def test_a_folder_whose_files_would_have_no_name_is_refused(tmp_path: Path) -> None:
    deep = tmp_path
    while len(str(deep)) < 4_095 - 200:
        deep /= "d" * 100
    deep /= "d" * (4_095 - 30 - len(str(deep)) - 1)
    with pytest.raises(BadInput, match="too long"):
        prepare_folder(deep)


def test_a_folder_that_is_gone_or_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    done = shell("mqconform replay /dev/null --out file", tmp_path)
    assert done.returncode == ExitCode.BAD_INPUT
    assert "name another one with --out" in done.stderr
    done = shell("mkdir gone && cd gone && rmdir ../gone && mqconform replay /dev/null --out out", tmp_path)
    assert done.returncode == ExitCode.BAD_INPUT


def test_what_others_have_in_a_folder_stays_there(tmp_path: Path) -> None:
    for name in ("report.html", "pytest.log", "notes.txt"):
        (tmp_path / name).write_text(f"their {name}")
    (tmp_path / "repros").mkdir()
    (tmp_path / "repros" / "mine.json").write_text("mine")
    prepare_folder(tmp_path)
    found = {path.name: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {name: f"their {name}" for name in ("report.html", "pytest.log", "notes.txt")} | {
        "mine.json": "mine"
    }
    assert (tmp_path / "notes.txt").exists()
    assert not (tmp_path / "report.html").exists(), "it moved to where nothing is written over it"
