"""Where machine code is kept: found again by another process, made anew with its source, never in the way."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.wire.columns import machine_code
from conformance.wire.columns.extra import MissingExtraError, need_columns
from conformance.wire.columns.lowering import PREFIX, text_of
from conformance.wire.columns.machine_code import MachineError, Wanted, compiled

CODE = "def loop(a):\n    return a + {}"


def wanted(value: int, made: list[int] | None = None) -> Wanted:
    """The function that adds a number. made: notes that it was compiled."""
    source = CODE.format(value)

    def make() -> str:
        if made is not None:
            made.append(value)
        return text_of(source, "loop")

    return Wanted("adding", (source,), f"{PREFIX}loop", 1, make)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(machine_code, "cache_folder", lambda: tmp_path)
    return tmp_path / "columns"


def test_the_same_code_is_compiled_once(folder: Path) -> None:
    made: list[int] = []
    assert not wanted(1).is_kept()
    assert [wanted(value, made).function()(40) for value in (1, 1, 2, 1)] == [41, 41, 42, 41]
    assert made == [1, 2]
    assert wanted(1).is_kept()
    assert sorted(folder.iterdir()) == sorted(wanted(value).path for value in (1, 2))


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content + b"\0",
        lambda content: content[:100] + bytes([content[100] ^ 1]) + content[101:],
    ],
)
def test_a_damaged_file_is_made_again(folder: Path, spoilt: Callable[[bytes], bytes]) -> None:
    wanted(1).function()
    path = wanted(1).path
    right = path.read_bytes()
    path.write_bytes(spoilt(right))
    assert wanted(1).function()(1) == 2
    assert path.read_bytes() == right


def test_code_that_others_may_have_written_is_not_loaded(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """However right its digest is."""
    made: list[int] = []
    wanted(1).function()
    other = wanted(2)
    other.function()
    wanted(1).path.write_bytes(other.path.read_bytes())
    wanted(1).path.chmod(0o666)
    assert wanted(1, made).function()(40) == 41 and made == [1]
    assert "others may write to" in capfd.readouterr().err


def test_without_a_cache_folder_there_is_a_function_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(machine_code, "cache_folder", lambda: tmp_path / "file")
    assert wanted(3).function()(4) == 7
    assert not wanted(3).is_kept()


def test_without_a_home_folder_there_is_a_function_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise OSError("no home folder")

    monkeypatch.setattr(machine_code, "cache_folder", homeless)
    assert wanted(3).function()(4) == 7
    assert not wanted(3).is_kept()


def test_what_is_old_and_not_among_the_last_is_deleted(folder: Path) -> None:
    folder.mkdir(parents=True)
    now = time.time()
    for at in range(machine_code.MAX_KEPT + 4):
        path = folder / f"other-{at:024d}.kept"
        path.write_text("")
        age = (at + 1) * 60 if at < machine_code.MAX_KEPT + 1 else (at + 1) * 86_400
        os.utime(path, (now - age, now - age))
    (folder / "other.txt").write_text("not ours")
    wanted(4).function()
    left = {path.name for path in folder.glob("other-*")}
    assert left == {f"other-{at:024d}.kept" for at in range(machine_code.MAX_KEPT + 1)}, "old ones go, today's stay"
    assert (folder / "other.txt").is_file()


def test_a_value_is_worked_out_once(folder: Path) -> None:
    made: list[str] = []

    def make() -> dict[str, int]:
        made.append("made")
        return {"a": len(made)}

    def value(text: str) -> dict[str, int]:
        return machine_code.remembered("value", (text,), make, lambda one: [one], lambda kept: kept[0])

    assert [value(text) for text in ("x", "x", "y", "x")] == [{"a": number} for number in (1, 1, 2, 1)]
    machine_code.place_of("value", ("x",)).write_bytes(b"spoilt")
    assert value("x") == {"a": 3}


def test_what_the_rules_are_emitted_from_is_noticed_when_it_changes(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    for name in ("one.py", "inner/two.py", "data.txt"):
        (tmp_path / name).write_text("a")
    before = list(machine_code.stamps(tmp_path))
    assert len(before) == 2
    (tmp_path / "data.txt").write_text("b")
    assert list(machine_code.stamps(tmp_path)) == before
    (tmp_path / "inner" / "two.py").write_text("b")
    os.utime(tmp_path / "inner" / "two.py", ns=(1, 1))
    assert list(machine_code.stamps(tmp_path)) != before
    (tmp_path / "one.py").unlink()
    assert len(list(machine_code.stamps(tmp_path))) == 1


def test_code_that_needs_more_than_every_process_has_is_not_kept() -> None:
    text = (
        "declare i64 @elsewhere(i64)\ndefine i64 @here(i64 %a) {\n  %b = call i64 @elsewhere(i64 %a)\n  ret i64 %b\n}\n"
    )
    with pytest.raises(MachineError, match="here cannot be kept, for it calls elsewhere"):
        compiled(text, "here")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.wire.columns.extra.find_spec", lambda name: None if name != "numba" else name)
    with pytest.raises(MissingExtraError, match="needs numpy and pyarrow, not installed here"):
        need_columns()
