"""Versions of implementations in the report of a lake."""

from __future__ import annotations

from datetime import date

from conformance.report.corpus import order


def test_versions_have_an_order():
    days = [date(2026, 1, number + 1) for number in range(9)]

    def ordered(*names: str) -> list[str]:
        return order(dict(zip(names, days, strict=False)))

    assert ordered("3.0", "v2.10", "2.9", "3.0-rc1", "3") == ["2.9", "v2.10", "3.0-rc1", "3.0", "3"]
    assert ordered("1.0+build", "1.0", "1.0.dev3") == ["1.0.dev3", "1.0", "1.0+build"]
    # With one that is no number the days decide.
    assert ordered("f3a", "1.0", "0.9", "") == ["f3a", "1.0", "0.9", ""]
