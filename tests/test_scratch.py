"""Folders that drivers fill are removed, whatever is in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance import files
from conformance.files import NoScratch, new_scratch, remove_tree

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
    monkeypatch.setattr(files, "LIMIT_S", -1.0)
    assert not remove_tree(tmp_path / "state")


def test_no_place_for_a_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/proc/no-such-folder")
    with pytest.raises(NoScratch, match="set TMPDIR"):
        new_scratch("mqconform-")


@pytest.mark.parametrize("deep", ["mnt", "a/b/a mount"])
def test_a_mount_is_left_alone(deep: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the system lists it; mounting itself takes rights that a test need not have."""
    folder = tmp_path / "state folder"
    (folder / deep).mkdir(parents=True)
    (folder / deep / "precious").touch()
    (folder / "other" / "inner").mkdir(parents=True)
    listed = str((folder / deep).resolve()).replace(" ", "\\040")
    table = tmp_path / "mountinfo"
    table.write_text(f"36 35 98:0 / / rw - ext4 x rw\n37 36 98:0 /home {listed} rw - ext4 x rw\n", encoding="utf-8")
    monkeypatch.setattr(files, "_MOUNTS", table)
    assert not remove_tree(folder)
    assert (folder / deep / "precious").exists() and not (folder / "other").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="namespaces of Linux")
def test_a_bind_mount_is_left_alone(tmp_path: Path) -> None:
    """In a mount namespace of its own, where the system allows one."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (tmp_path / "state" / "in" / "mnt").mkdir(parents=True)
    mount = f"mount --bind '{tmp_path}/kept' '{tmp_path}/state/in/mnt'"
    remove = (
        f"from pathlib import Path; from conformance.files import remove_tree; remove_tree(Path('{tmp_path}/state'))"
    )
    line = [
        "unshare",
        "--mount",
        "--map-root-user",
        "sh",
        "-c",
        f'{mount} || exit 77; exec {sys.executable} -c "{remove}"',
    ]
    done = (
        subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
        if shutil.which("unshare")
        else None
    )
    if done is None or done.returncode:
        pytest.skip("no mount namespace may be made here")
    assert (tmp_path / "kept" / "file").exists()
