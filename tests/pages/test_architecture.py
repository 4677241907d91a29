"""ARCHITECTURE.md has a row for each room, in the order of imports, and pages count faults as they are."""

from __future__ import annotations

import configparser
import re
from itertools import pairwise
from pathlib import Path

import pytest

from conformance.embedded.faults import FAULTS
from tools import figures

ROOT = Path(__file__).parents[2]


def rows() -> list[tuple[str, str, str]]:
    """Rooms, what goes there, and what does not."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Rooms")[2].partition("\n## ")[0]
    found = re.findall(r"^\| (`.+?) \| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    return [(rooms, there, not_there) for rooms, there, not_there in found]


def layers() -> list[list[str]]:
    """The rooms that import-linter knows, from the one that imports nothing to the one that nothing imports."""
    linter = configparser.ConfigParser()
    linter.read(ROOT / ".importlinter", encoding="utf-8")
    lines = linter["importlinter:contract:rooms"]["layers"].split("\n")
    # A room in brackets may be missing: it is not there yet.
    found = [[name.strip(" ()") for name in line.split("|")] for line in lines if line.strip()]
    return [[name for name in layer if list((ROOT / "conformance").glob(f"{name}*"))] for layer in reversed(found)]


def test_every_room_has_a_row_with_what_goes_there_and_what_does_not() -> None:
    named = [name for rooms, _, _ in rows() for name in re.findall(r"`([a-z_]+)/?`", rooms)]
    known = [name for layer in layers() for name in layer]
    assert set(named) == set(known) and len(named) == len(known)
    assert all(there.strip() and not_there.strip() for _, there, not_there in rows())


def test_a_room_stands_below_what_it_imports() -> None:
    place = {name: at for at, layer in enumerate(layers()) for name in layer}
    groups = [[place[name] for name in re.findall(r"`([a-z_]+)/?`", rooms)] for rooms, _, _ in rows()]
    for upper, lower in pairwise(groups):
        assert max(upper) <= min(lower), "a row stands above a room that it may import"


def test_there_is_one_glossary() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([^|]+?) \| [^|]+ \|$", text, re.MULTILINE)[1:]
    assert words == sorted(words, key=str.casefold) and len(set(words)) == len(words) > 30
    pages = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        content = page.read_text(encoding="utf-8")
        assert page.name == "glossary.md" or not re.search(r"^#+ (Terms|Words|Glossary)$", content, re.MULTILINE), page
    for page in pages[:2]:
        assert "(docs/glossary.md)" in page.read_text(encoding="utf-8")


def test_the_figures_are_what_the_code_makes_now() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert all(f"<!-- figure: {name} -->" in text for name in figures.FIGURES)
    assert figures.page(text) == text, "run python -m tools.figures --write"


@pytest.mark.parametrize("page", ["README.md", "docs/diagnose.md", "docs/what-is-checked.md"])
def test_the_number_of_faults_on_a_page_is_that_of_the_package(page: str) -> None:
    said = [int(number) for number in re.findall(r"over (\d+00)\b", (ROOT / page).read_text(encoding="utf-8"))]
    assert said
    assert set(said) == {len(FAULTS) // 100 * 100}
