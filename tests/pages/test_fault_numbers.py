"""Where a page says how many faults there are, it says how many hundreds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.embedded.faults import FAULTS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/diagnose.md", "docs/what-is-checked.md"])
def test_the_number_of_faults_on_a_page_is_that_of_the_package(page: str) -> None:
    said = [int(number) for number in re.findall(r"over (\d+00)\b", (ROOT / page).read_text(encoding="utf-8"))]
    assert said
    assert set(said) == {len(FAULTS) // 100 * 100}
