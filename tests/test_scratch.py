"""Folders that drivers fill are removed, whatever is in them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from conformance import scratch
from conformance.scratch import NoScratch, new_scratch, remove_tree

DEEP = 3_000  # more than Python recurses, and a path of it is longer than a path may be


def deepen(folder: Path, levels: int) -> None:
    """Folders within folders, with a file in each hundredth."""
    at = os.open(folder, os.O_RDONLY)
    for level in range(levels):
        os.mkdir("d", dir_fd=at)
        if level % 100 == 0:
            os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=at))
        inner = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)


def test_a_folder_deeper_than_python_recurses_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    deepen(folder, DEEP)
    with pytest.raises((RecursionError, OSError)):  # why it is not left to the library
        shutil.rmtree(folder)
    assert remove_tree(folder)
    assert not folder.exists()


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("kept")
    folder = tmp_path / "state"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "to a folder").symlink_to(kept)
    (folder / "a" / "b" / "to a file").symlink_to(kept / "file")
    (folder / "to itself").symlink_to(folder)
    os.mkfifo(folder / "a" / "fifo")
    assert remove_tree(folder)
    assert (kept / "file").read_text() == "kept"
    (tmp_path / "link").symlink_to(kept)
    assert not remove_tree(tmp_path / "link")
    assert (kept / "file").exists()


def test_folders_that_may_not_be_written_and_names_that_are_no_text(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    (folder / "closed" / "inner").mkdir(parents=True)
    (folder / "closed" / "inner" / "file").touch()
    (folder / "closed" / "inner").chmod(0o500)
    (folder / "closed").chmod(0o500)
    (folder / os.fsdecode(b"\xff\xfe")).mkdir()
    assert remove_tree(folder)
    assert remove_tree(folder), "what is not there is gone"


def test_a_folder_that_is_filled_for_ever_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state" / "inner").mkdir(parents=True)
    (tmp_path / "state" / "inner" / "file").touch()
    monkeypatch.setattr(scratch, "LIMIT_S", -1.0)
    assert not remove_tree(tmp_path / "state")


def test_no_place_for_a_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/proc/no-such-folder")
    with pytest.raises(NoScratch, match="set TMPDIR"):
        new_scratch("mqconform-")
