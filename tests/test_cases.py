"""A test that goes through a table fails with each row that fails, and shows how."""

from __future__ import annotations

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
