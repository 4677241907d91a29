"""Where a command writes, and where it stands: folders however deep, and folders that are gone."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_record import CAPTURE, a_record
from tests_cli import mqconform, one_sentence

from conformance.command_options import BadInput
from conformance.files import folder_watch, make_folder, remove_tree
from conformance.run import run
from conformance.verdict import ExitCode

LEVELS = 1_500


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A place far below the depth of Python's stack, and short enough for a path."""
    place = Path(str(tmp_path / "deep") + "/x" * LEVELS)
    yield place
    assert remove_tree(tmp_path / "deep")


def test_folders_are_made_however_deep(deep: Path, tmp_path: Path) -> None:
    make_folder(deep)
    assert deep.is_dir()
    make_folder(deep)  # that it is there is no fault
    (tmp_path / "file").touch()
    for path, wrong in ((tmp_path / "file", FileExistsError), (tmp_path / "file" / "below" / "it", NotADirectoryError)):
        with pytest.raises(wrong):
            make_folder(path)
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        make_folder("a/b/")
        make_folder(".")
    finally:
        os.chdir(here)
    assert (tmp_path / "a" / "b").is_dir()


def test_an_output_folder_may_be_deep(deep: Path) -> None:
    done = mqconform("replay", CAPTURE, "--out", str(deep))
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    assert (deep / "report.html").is_file()


def test_a_report_may_be_deep(deep: Path, tmp_path: Path) -> None:
    """In a folder that is there: a report makes none above its own."""
    make_folder(deep)
    done = mqconform("report", str(a_record(tmp_path / "run")), "--html", str(deep / "page.html"))
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    assert (deep / "page.html").is_file()


RUN = ("run", "--suite", "names", "--max-examples", "1", "--out", "out")


@pytest.mark.parametrize("command", [RUN, ("selftest", "accepts-plus-in-queue-name"), ("requirements", "list")])
def test_a_working_folder_that_is_gone_is_told(command: tuple[str, ...], tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    done = in_a_folder(here, *command, removed=True)
    assert "The working folder is gone" in one_sentence(done, ExitCode.BAD_INPUT)
    assert done.stderr.count("\n") == 1


def in_a_folder(folder: Path, *arguments: str, removed: bool = False) -> subprocess.CompletedProcess[str]:
    """`mqconform` in a folder, which is removed once the process is in it."""
    return subprocess.run(
        [sys.executable, "-m", "conformance", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        preexec_fn=folder.rmdir if removed else None,
    )


def test_without_a_place_for_temporary_files_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nothing"))
    with pytest.raises(BadInput, match="No temporary folder can be made"):
        run(suites="names", max_examples=1, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


REMOVING = """
import shutil, sys
from conformance import run as running
from conformance.run import run
out, when = sys.argv[1:]
def remove(*_):
    shutil.rmtree(out, ignore_errors=True)
if when == "before":
    prepare = running.prepare_folder
    running.prepare_folder = lambda folder: [prepare(folder), remove()][0]
done = run(suites="names", max_examples=1, out=out, on_progress=remove if when == "during" else None)
print(int(done.exit_code), done.sentence)
"""


@pytest.mark.parametrize("when", ["before", "during"])
def test_an_output_folder_that_is_removed_during_a_run_is_told(when: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", REMOVING, str(out), when], capture_output=True, text=True, timeout=120, check=False
    )
    told = f"2 The output folder {out} cannot be written any more: it was removed during the run.\n"
    assert done.stdout == told, done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_made_in_the_place_of_another_is_not_taken_for_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with folder_watch(folder) as there:
        assert there()
        folder.rmdir()
        assert not there()
        folder.mkdir()
        assert not there()
