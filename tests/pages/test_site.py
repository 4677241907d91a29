"""The site is built from the pages without a dead link or an orphan, and loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from lxml import html

import conformance
from tools import site

ROOT = Path(__file__).parents[2]
LOADS = ("//script/@src", "//link[not(@rel='canonical')]/@href", "//img/@src", "//iframe/@src", "//source/@src")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert site.build(folder) == []
    return folder


def test_every_page_is_there_and_can_be_searched(built: Path) -> None:
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} == {
        name for names in site.MENU.values() for name in names
    } - {"api"}
    found = (built / "search" / "search_index.json").read_text(encoding="utf-8")
    for place in [*site.pages(), site.API]:
        page = place.removesuffix(".md").removesuffix("README").rstrip("/")
        assert (built / page / "index.html").is_file() and f'"location":"{page}' in found, place


def test_no_page_loads_anything_from_elsewhere(built: Path) -> None:
    loaded = [
        (path.relative_to(built), address)
        for path in built.rglob("*.html")
        for tree in [html.fromstring(path.read_bytes())]
        for expression in LOADS
        for address in tree.xpath(expression)
    ]
    assert len(loaded) > 100
    assert [one for one in loaded if re.match(r"(?:[a-z]+:)?//", one[1])] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in built.rglob("*.css"))
    assert not re.search(r"url\(['\"]?(?:https?:)?//|@import", styles)


def test_lists_and_code_are_no_paragraphs(built: Path) -> None:
    wrong = [
        (path.relative_to(built), text[:80])
        for path in built.rglob("*.html")
        for text in html.fromstring(path.read_bytes()).xpath("//article//p//text()")
        if re.search(r"^(?:[-*]|\d+\.) \S|```|^\|.*\|$", text, re.MULTILINE)
    ]
    assert wrong == []


def test_the_api_page_has_what_the_package_offers(built: Path) -> None:
    tree = html.fromstring((built / "docs" / "api" / "index.html").read_bytes())
    text = tree.text_content()
    for name in conformance.__all__:
        assert name.startswith("_") or tree.xpath(f"//h2[starts-with(., '{name}')]"), name
    assert "max_examples: int = 30," in text and "Raises BadInput for an unknown name" in text


@pytest.mark.parametrize(
    ("page", "text", "complaint"),
    [
        ("docs/ci.md", "[x](nowhere.md)", "nowhere.md"),
        ("docs/ci.md", "[x](wire.md#nowhere)", "#nowhere"),
        ("docs/orphan.md", "# Nobody leads here", "orphan.md"),
    ],
)
def test_a_dead_link_and_an_orphan_end_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, text: str, complaint: str
) -> None:
    stage = site.stage

    def damaged(folder: Path) -> None:
        stage(folder)
        with (folder / page).open("a", encoding="utf-8") as file:
            file.write(f"\n{text}\n")

    monkeypatch.setattr(site, "stage", damaged)
    assert any(complaint in one for one in site.build(tmp_path / "site"))


def test_the_workflow_that_publishes_it_is_valid() -> None:
    line = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*line, ROOT / ".github" / "workflows" / "site.yml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
