"""Where emitted code is kept: found again by another process, renewed with the tables, never in the way."""

import os
import time
from pathlib import Path

import pytest

from conformance.wire.columns import chunks
from conformance.wire.columns.extra import MissingExtraError, need_columns

CODE = "def loop(a):\n    return {}"


def test_the_same_code_is_the_same_module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(chunks, "cache_folder", lambda: tmp_path)
    one, same, other = (chunks.emitted(CODE.format(value), 8) for value in (1, 1, 2))
    assert one is same
    assert one.__name__ != other.__name__
    written = sorted(path.name for path in (tmp_path / "columns").glob("*.py"))
    assert written == sorted(f"{module.__name__}.py" for module in (one, other))


def test_without_a_cache_folder_there_is_a_module_all_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(chunks, "cache_folder", lambda: tmp_path / "file")
    module = chunks.emitted(CODE.format(3), 8)
    assert Path(str(module.__file__)).is_file()
    assert not Path(str(module.__file__)).is_relative_to(tmp_path)


def test_what_is_old_and_not_among_the_last_is_deleted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(chunks, "cache_folder", lambda: tmp_path)
    folder = tmp_path / "columns" / "__pycache__"
    folder.mkdir(parents=True)
    now = time.time()
    for at in range(chunks.MAX_KEPT + 4):
        path = folder.parent / f"conformance_columns_{at:024d}.py"
        path.write_text("")
        (folder / f"{path.stem}.judge_chunk-1.py311.nbi").write_text("")
        age = (at + 1) * 3600 if at < chunks.MAX_KEPT + 1 else (at + 1) * 86_400
        os.utime(path, (now - age, now - age))
    chunks.emitted(CODE.format(4), 8)
    left = {path.stem.partition(".")[0] for path in folder.iterdir()}
    assert len(left) == chunks.MAX_KEPT + 1, "old ones go, those of today stay"
    assert {f"conformance_columns_{at:024d}" for at in range(chunks.MAX_KEPT)} <= left
    assert len(list(folder.parent.glob("*.py"))) == len(left) + 1


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.wire.columns.extra.find_spec", lambda name: None if name != "numba" else name)
    with pytest.raises(MissingExtraError, match="needs numpy and pyarrow, not installed here"):
        need_columns()
