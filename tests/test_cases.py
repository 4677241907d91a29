"""A test that goes through a table fails with each row that fails, and shows how."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases import all_of


def failure(test: object, **fixtures: object) -> str:
    with pytest.raises(pytest.fail.Exception) as failed:
        test(**fixtures)  # type: ignore[operator]
    return str(failed.value)


def test_every_row_that_fails_is_named() -> None:
    @all_of("number", [1, 2, 3, pytest.param(4, id="four")], ids=lambda number: f"<{number}>")
    def even(number: int) -> None:
        if number == 3:
            pytest.fail("three")
        assert number % 2, "even"

    said = failure(even)
    assert said.startswith("3 of 4 cases fail\n")
    assert [word in said for word in ("\n<2>\n", "\n<3>\n", "\nfour\n", "\n<1>\n")] == [True, True, True, False]
    assert "AssertionError: even" in said and "three" in said


def test_tables_in_tables_and_columns() -> None:
    seen = []

    @all_of("outer", "ab")
    @all_of("number, word", [(1, "one"), (2, "two")])
    def test(number: int, word: str, outer: str) -> None:
        seen.append((outer, number, word))
        assert (outer, number) != ("b", 2)

    said = failure(test)
    assert len(seen) == 4
    assert "1 of 2 cases fail\nb\n" in said and "1 of 2 cases fail\n2, two\n" in said


def test_a_table_without_rows_fails_and_one_of_which_all_are_skipped_is_skipped() -> None:
    @all_of("row", [])
    def nothing(row: int) -> None: ...

    with pytest.raises(AssertionError, match="without rows"):
        nothing()

    @all_of("row", [1, 2])
    def skipped(row: int) -> None:
        pytest.skip("no such program")

    with pytest.raises(pytest.skip.Exception, match="1: no such program"):
        skipped()


@all_of("row", [1, 2])
def test_a_row_has_a_folder_and_patches_of_its_own(row: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    import cases

    assert cases.SHOWN == 10
    monkeypatch.setattr(cases, "SHOWN", row)
