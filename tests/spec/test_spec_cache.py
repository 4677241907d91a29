"""The cache folder: used where it is surely ours, made for us alone, and otherwise done without."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance import files

ROOT = Path(__file__).parents[2]
NAME = "columns/one.kept"
Change = Callable[[Path], object]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("_MQCONFORM_CACHE_UNUSED", raising=False)
    monkeypatch.setattr(os, "environ", {**os.environ})
    assert files.write_cached(tmp_path / "mqconform", NAME, b"ours")
    return tmp_path / "mqconform"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def somebody_elses(*names: str) -> Change:
    def change(root: Path) -> None:
        if os.geteuid() != 0:
            pytest.skip("only root can give a file away")
        for name in names:
            os.chown(root / name, 54_321, 54_321)

    return change


def writable(name: str, bits: int) -> Change:
    return lambda root: (root / name).chmod(mode(root / name) | bits)


def linked(name: str) -> Change:
    """A link of ours, to a folder or file of ours with the same content."""

    def change(root: Path) -> None:
        path = root / name if name else root
        path.rename(root.parent / "elsewhere")
        path.symlink_to(root.parent / "elsewhere")

    return change


FOREIGN: dict[str, tuple[Change, str]] = {
    "folder of another user": (somebody_elses(""), "belongs to another user (number 54321)"),
    "folder in it of another user": (somebody_elses("columns"), "belongs to another user"),
    "file of another user": (somebody_elses(NAME), "belongs to another user"),
    "folder open to a group": (writable("", 0o020), "others may write to"),
    "folder open to all": (writable("", 0o002), "(mode 0702)"),
    "folder open to all, sticky": (writable("", 0o1002), "others may write to"),
    "folder in it open to a group": (writable("columns", 0o020), "others may write to"),
    "file open to a group": (writable(NAME, 0o020), "(mode 0620)"),
    "file open to all": (writable(NAME, 0o002), "others may write to"),
    "folder a link": (linked(""), "is a link"),
    "folder in it a link": (linked("columns"), "is a link"),
    "open to all above": (writable("..", 0o002), "everybody may write to"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_others_may_have_written_is_not_used_and_one_sentence_says_so(
    kind: str, root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    change, why = FOREIGN[kind]
    assert files.read_cached(root, NAME) == b"ours"
    change(root)
    assert [files.read_cached(root, NAME) for _ in range(3)] == [None] * 3
    told = capfd.readouterr().err
    assert told.count("\n") == 1 and told.startswith("mqconform: the cache in ") and why in told
    if "file" not in kind:
        assert not files.write_cached(root, NAME, b"more") and not files.write_cached(
            root, "columns/other.kept", b"more"
        )
        assert not list(root.rglob("other*"))


def test_a_file_that_is_a_link_a_pipe_or_a_folder_is_none(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = root / NAME
    path.rename(root / "columns" / "moved")
    for make in (lambda: path.symlink_to("moved"), lambda: os.mkfifo(path), path.mkdir):
        make()
        assert files.read_cached(root, NAME) is None
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    assert capfd.readouterr().err == ""


def test_it_is_made_for_us_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert files.write_cached(tmp_path / "a" / "mqconform", NAME, b"x")
    finally:
        os.umask(before)
    root = tmp_path / "a" / "mqconform"
    assert [mode(path) for path in (root, root / "columns", root / NAME)] == [0o700, 0o700, 0o600]
    assert [path.name for path in (root / "columns").iterdir()] == ["one.kept"]


def test_one_that_others_may_read_is_closed_when_it_is_written_to(root: Path) -> None:
    root.chmod(0o755)
    (root / "columns").chmod(0o755)
    (root / NAME).chmod(0o644)
    assert files.read_cached(root, NAME) == b"ours" and mode(root) == 0o755
    assert files.write_cached(root, NAME, b"new") and files.read_cached(root, NAME) == b"new"
    assert [mode(path) for path in (root, root / "columns", root / NAME)] == [0o700, 0o700, 0o600]


def test_it_may_lie_in_a_sticky_folder_of_all_and_behind_a_link(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (tmp_path / "link").symlink_to(shared)
    assert files.write_cached(tmp_path / "link" / "mqconform", NAME, b"x")
    assert (
        files.read_cached(shared / "mqconform", NAME)
        == files.read_cached(tmp_path / "link" / "mqconform", NAME)
        == b"x"
    )


@pytest.mark.parametrize("blocked", ["mqconform", "mqconform/columns", "mqconform/columns/one.kept/inside"])
def test_one_that_cannot_be_written_is_done_without(
    blocked: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / blocked
    path.parent.mkdir(parents=True, exist_ok=True)
    for one in (tmp_path / "mqconform", tmp_path / "mqconform" / "columns"):
        if one.exists():
            one.chmod(0o700)
    path.write_text("in the way")
    assert (
        not files.write_cached(tmp_path / "mqconform", NAME, b"x")
        and files.read_cached(tmp_path / "mqconform", NAME) is None
    )
    assert capfd.readouterr().err == "" and path.read_text() == "in the way"
    assert not list(tmp_path.rglob(".*"))


def test_a_huge_file_is_not_read(root: Path) -> None:
    os.truncate(root / NAME, 1 << 42)
    assert files.read_cached(root, NAME) is None


def test_a_command_works_without_it_and_says_so_once(tmp_path: Path) -> None:
    """Of all the processes it starts, too."""
    folder = tmp_path / "mqconform"
    folder.mkdir()
    folder.chmod(0o777)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    environment.pop("_MQCONFORM_CACHE_UNUSED", None)
    again = (
        "import subprocess, sys; from conformance.spec.catalogue import catalogue; assert catalogue().requirements; "
    )
    code = f"{again} sys.exit(subprocess.call([sys.executable, '-c', {again!r}]))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr.count("\n") == 1 and "is not used" in done.stderr
    assert not list(folder.iterdir())


def test_a_planted_file_runs_nothing(tmp_path: Path) -> None:
    """Whatever lies under the names that were those of pickled, marshalled and compiled things."""
    folder = tmp_path / "mqconform"
    for name in ("columns", "templates"):
        (folder / name).mkdir(parents=True)
    code = (
        "from conformance.spec.catalogue import catalogue; catalogue().requirements\n"
        "from conformance.report.page import render_page, _environment; _environment().get_template('base.html.j2')"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    for one in (folder, folder / "columns", folder / "templates"):
        one.chmod(0o700)

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )

    assert run().returncode == 0
    kept = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.suffix for path in kept} == {".rows", ".py"}
    for path in kept:
        path.write_bytes(b"cposix\nsystem\n(S'touch " + str(tmp_path / "ran").encode() + b"'\ntR.")
        path.chmod(0o666)
    done = run()
    assert done.returncode == 0 and "others may write to" in done.stderr and not (tmp_path / "ran").exists()


SENT_BY_SPARK = Path("conformance/pipeline/engine.py")
"""Pickles functions, tasks and results for Spark, which sends its own things to its workers in the same way."""


def test_nothing_is_pickled() -> None:
    """No module of the package imports pickle or marshal.

    What Spark carries between the processes of one command is pickled as Spark does.
    """
    imported = re.compile(r"^\s*(?:import|from) (?:pickle|marshal|shelve|dill|cloudpickle|joblib)\b", re.MULTILINE)
    found = {
        path.relative_to(ROOT) for path in (ROOT / "conformance").rglob("*.py") if imported.search(path.read_text())
    }
    assert found == {SENT_BY_SPARK}
