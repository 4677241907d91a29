"""Titles of the documents' sections, for readers who do not know the numbers by heart.

`python -m tools.section_titles` writes `titles.toml` from the headings of the documents.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources


def section_title(document: str, number: str) -> str:
    """Return the heading of this section (`MS-MQDMPR`, `3.2.7.3`), or an empty string if it has none."""
    return _titles().get(document, {}).get(number, "")


@cache
def _titles() -> dict[str, dict[str, str]]:
    text = resources.files("conformance.report").joinpath("titles.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
