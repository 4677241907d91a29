"""docs/readings-followed.md names a follower of each alternative that can be seen, or says why there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.embedded.alternatives import ALTERNATIVES
from conformance.embedded.readings import READINGS
from conformance.spec.catalogue import CatalogueError, catalogue
from tools import readings_table
from tools.readings_table import page, rows, stale, unexplained, unfollowed


def test_the_page_is_up_to_date() -> None:
    assert not stale(), "run python -m tools.readings_table"


def test_every_visible_alternative_has_a_follower_or_a_reason() -> None:
    assert not unexplained(list(rows())), "write an alternative of embedded, or a reason into tools/unfollowed.toml"


def test_every_alternative_of_embedded_is_on_it() -> None:
    text = page(list(rows()))
    for name in ALTERNATIVES:
        assert f"`embedded+{name}`" in text
    for reading, name in READINGS.items():
        if len(catalogue().readings[reading].alternatives) > 1:
            assert f"| {reading} | {name} | " in text


def test_an_alternative_that_loses_its_follower_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = "R-MQDMPR-removed-position=next-at-removal"
    monkeypatch.delitem(readings_table.ALTERNATIVES, lost)
    assert unexplained(list(rows())) == [lost]
    assert stale()


@pytest.mark.parametrize(
    ("choices", "wrong"),
    [
        ('["R-MQDMPR-removed-position"]', "R-MQDMPR-removed-position is followed"),
        ('["R-MQDMPR-removed-position=keeps-place"]', "is followed"),
        ('["R-MQDMPR-removed-positions"]', "no reading R-MQDMPR-removed-positions"),
        ('["R-MQDMPR-quota-unit=bits"]', "no alternative bits"),
    ],
)
def test_a_reason_names_an_alternative_without_follower(tmp_path: Path, choices: str, wrong: str) -> None:
    reasons = tmp_path / "unfollowed.toml"
    reasons.write_text(f'[[reason]]\nwhy = "so"\nalternatives = {choices}\n', encoding="utf-8")
    with pytest.raises((ValueError, CatalogueError), match=wrong):
        unfollowed(reasons)


def test_an_alternative_has_one_reason(tmp_path: Path) -> None:
    reasons = tmp_path / "unfollowed.toml"
    one = '[[reason]]\nwhy = "{}"\nalternatives = ["R-MQDMPR-quota-unit=bytes"]\n'
    reasons.write_text(one.format("so") + one.format("or so"), encoding="utf-8")
    with pytest.raises(ValueError, match="two reasons"):
        unfollowed(reasons)
