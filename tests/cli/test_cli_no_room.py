"""Where nothing can be written: one sentence, exit code 2, and no half file under a final name.

A limit on the size of files stands for a disk that is full: it needs no privileges, and what cannot be written fails in
the same place, with another word for the reason.
"""

from __future__ import annotations

import os
import re
import resource as limits
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from nightly import sample
from small_record import CAPTURE, a_record
from tests_cli import stdio

from conformance import files
from conformance.runlog import read_run
from conformance.verdict import ExitCode

HERE = Path(__file__)


# The driver has room: what it does without is another matter.
DRIVER = stdio(
    "sh", "-c", f"ulimit -S -f unlimited; exec {shlex.quote(sys.executable)} -m conformance.embedded --stdio"
)


def bounded(folder: Path, size: int, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """`mqconform` in a folder, where no file becomes larger than so many bytes."""
    return subprocess.run(
        [sys.executable, "-B", "-m", "conformance", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
        # Workers do not inherit -B, and Python takes a module that was cut at the limit for a whole one.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: limits.setrlimit(limits.RLIMIT_FSIZE, (size, limits.RLIM_INFINITY)),
    )


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one sentence that says what cannot be written."""
    assert done.returncode == ExitCode.BAD_INPUT, done.stderr
    assert "Traceback" not in done.stderr
    said = [line for line in done.stderr.splitlines() if "cannot be written" in line or "can't be written" in line]
    assert len(said) == 1 and said[0].startswith("mqconform: "), done.stderr
    return said[0]


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--suite", "names", "--max-examples", "1", "--adapter", DRIVER],
        ["run", "--suite", "names", "--max-examples", "1", "--adapter", DRIVER, "--workers", "2"],
        ["soak", "--histories", "30", "--adapter", DRIVER],
        ["replay", CAPTURE],
    ],
    ids=("run", "run with workers", "soak", "replay"),
)
def test_a_record_that_finds_no_room_ends_the_command(tmp_path: Path, arguments: list[str]) -> None:
    said = refused(bounded(tmp_path, 30_000, *arguments, "--out", "out"))
    assert "The run record" in said and "what it holds is kept" in said
    assert not (tmp_path / "out" / "report.html").exists()
    for part in (tmp_path / "out").glob("run-*.ndjson"):
        assert part.read_bytes().endswith(b"\n"), "no half line"
    record = read_run(tmp_path / "out")
    assert not record.complete or (record.footer is not None and record.footer.stop_reason == "error")


@pytest.mark.parametrize("command", ["run --suite names", "run --requirement MQMQ-2.1.1.queue-name-plus-reject"])
def test_where_no_file_can_be_written_not_even_a_temporary_one_nothing_runs(tmp_path: Path, command: str) -> None:
    done = bounded(tmp_path, 0, *command.split(), "--out", "out")
    assert done.returncode == ExitCode.BAD_INPUT
    assert "Traceback" not in done.stderr
    said = [line for line in done.stderr.splitlines() if "can be made" in line or "cannot be written" in line]
    assert len(said) == 1, done.stderr


FORMATS = ("html", "junit", "sarif", "csv", "parquet", "markdown", "badge")


def test_a_report_that_finds_no_room_leaves_what_was_there(tmp_path: Path) -> None:
    record = a_record(tmp_path / "run")
    formats = sample("cli.formats-without-room", FORMATS, FORMATS[:1])
    for name in formats:
        (tmp_path / name).write_text("before")
        said = refused(bounded(tmp_path, 50, "report", record, f"--{name}", name))
        assert name in said
        assert (tmp_path / name).read_text() == "before"
    refused(bounded(tmp_path, 50, "report", record, "--allure", "results"))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*formats, "results", "run"])
    assert not list((tmp_path / "results").iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        ["replay", CAPTURE, "--out", "out"],  # the record has room, the page has not
        ["wireshark", "--out", "file"],
        ["selftest", "commit-seen-in-pieces", "--out", "file"],
        ["adapter", "new", "file"],
    ],
    ids=("replay", "wireshark", "selftest", "adapter new"),
)
def test_other_files_appear_whole_or_not_at_all(tmp_path: Path, arguments: list[str]) -> None:
    refused(bounded(tmp_path, 40 if "selftest" in arguments else 2_000 if "new" in arguments else 60_000, *arguments))
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix not in (".ndjson", ".md")]


def test_a_draft_becomes_the_file_and_keeps_its_mode_and_its_links(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("before")
    path.chmod(0o600)
    link.symlink_to(path)
    with pytest.raises(RuntimeError), files.aside(link) as draft:
        draft.write_text("half")
        raise RuntimeError
    assert path.read_text() == "before"
    files.write_text(link, "after")
    assert link.is_symlink() and path.read_text() == "after"
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "link"]
    with pytest.raises(OSError, match="No space left"):
        files.write_text("/dev/full", "text")
    with pytest.raises(IsADirectoryError):
        files.write_text(tmp_path, "text")


def test_files_are_written_in_one_way() -> None:
    """Whoever writes a file for good writes it aside. Records are appended to; the rest is nobody's but ours."""
    package = HERE.parents[2] / "conformance"
    own = {"files.py", "runlog/writer.py", "adapter/process.py", "run.py"}
    own |= {"captures/analyst_views.py"}  # into a draft that `aside` made
    caches = {"pipeline", "spec/compiled.py", "wire/columns"}  # written aside by themselves, with a lock or a digest
    writes = re.compile(r"\.write_(text|bytes)\(|\.open\(\s*[\"'][wax]|(?<![.\w])open\([^)]*, [\"'][wax]")
    paths = [path for path in sorted(package.rglob("*.py")) if writes.search(path.read_text())]
    found = [str(path.relative_to(package)) for path in paths]
    left = [name for name in found if name not in own and not any(name.startswith(each) for each in caches)]
    written = "draft.write_text|draft.write_bytes|draft.open"
    assert [name for name in left if not re.search(written, (package / name).read_text())] == []
