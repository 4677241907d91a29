"""Each member of each answer of the protocol has a row that says what compares it, and no row is of anything else."""

from __future__ import annotations

import pytest

from conformance.adapter import protocol
from tools import compared_page


def test_every_member_of_every_answer_has_a_row() -> None:
    rows = {answer: set(own) for answer, own in compared_page.table().items()}
    assert rows == {answer: set(own) for answer, own in compared_page.members().items()}


def test_what_is_compared_by_nothing_has_a_reason() -> None:
    rows = compared_page.table()
    assert all(row.get("why") for own in rows.values() for row in own.values() if row["by"] == "nothing")


def test_a_new_member_needs_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    message = protocol.document("common")["$defs"]["message"]
    monkeypatch.setitem(message["properties"], "colour", {"type": "string"})
    assert "colour" in set(compared_page.members()["message"]) - set(compared_page.table()["message"])


def test_the_page_is_not_stale() -> None:
    assert compared_page.PAGE.read_text(encoding="utf-8") == compared_page.page(), (
        "write it with: python -m tools.compared_page"
    )
