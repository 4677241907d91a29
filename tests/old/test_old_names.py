"""Every name of version 0.1 that a script, a record or a driver may hold is still taken."""

from __future__ import annotations

import pytest
from expecting import in_changelog
from inventory import KINDS, lines
from observing import OLD

GONE = {
    "pipeline ingest --split": "`--split` and `watch --checkpoint`: deltalake and DuckDB do what they did.",
    **dict.fromkeys(
        (
            "R-MQDMPR-restart-order=unspecified",
            "R-MQDMPR-expiry-scope=every-queue",
            "R-MQDMPR-peek-when-locked=shown",
        ),
        "these alternatives are gone. The documents exclude them",
    ),
}
"""Names of what was never released that are taken no more, with what CHANGELOG.md says of it."""


def gone(old: list[str], today: list[str]) -> list[str]:
    """The names that are taken no more."""
    return sorted(set(old) - set(today))


@pytest.mark.parametrize("kind", KINDS)
def test_no_name_is_gone(kind: str) -> None:
    old = (OLD / "names" / f"{kind}.txt").read_text(encoding="utf-8").splitlines()
    assert len(old) > 20
    lost = [name for name in gone(old, lines(kind)) if name not in GONE]
    assert not lost, f"{len(lost)} {kind} are gone; see fixtures/old/0.1/README.md: {lost[:10]}"


def test_a_name_that_is_gone_is_seen() -> None:
    assert gone(["a", "b", "c"], ["b", "d"]) == ["a", "c"]


def test_what_is_gone_is_told_to_users() -> None:
    assert all(map(in_changelog, GONE.values()))
