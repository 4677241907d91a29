"""No sentence of a page is long, and no page by hand is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST = 30
"""Words of a sentence."""
LONGEST = 2_500
"""Words of a page by hand, without its code and tables."""
GENERATED = ("docs/adapter-protocol.md", "docs/lake-columns.md", "docs/readings-followed.md", "docs/spec-findings.md")
"""Pages that tools write, which may be longer."""
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/*.md", "adapters/*/README.md", "tools/*.md")
    for path in ROOT.glob(pattern)
)
_UNREAD = re.compile(r"^ *```.*?^ *```$|<!--.*?-->|^\|.*?$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^#.*$|\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", re.MULTILINE)


def prose(text: str) -> str:
    """Return what is read as sentences: no code blocks, tables and targets; a code span is one word."""
    text = re.sub(r"`[^`]+`", "X", _UNREAD.sub("\n", text))
    return re.sub(r"<[^>]+>", "", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text))


def sentences(text: str) -> list[str]:
    blocks = (re.sub(r"^(?:[-*]|\d+\.)\s", "", block.strip()) for block in _BLOCK.split(prose(text)) if block)
    return [" ".join(one.split()) for block in blocks for one in re.split(r"(?<=[.!?])[\"»)*]*\s+", block) if one]


def long_sentences(text: str) -> list[str]:
    return [one for one in sentences(text) if len(one.split()) > MOST]


@pytest.mark.parametrize("page", PAGES)
def test_a_sentence_of_a_page_is_short(page: str) -> None:
    found = long_sentences((ROOT / page).read_text(encoding="utf-8"))
    assert not found, "\n".join(f"{page}: {len(one.split())} words, of {MOST} at most: {one}" for one in found)


@pytest.mark.parametrize("page", [page for page in PAGES if page not in GENERATED])
def test_a_page_by_hand_is_short(page: str) -> None:
    count = len(prose((ROOT / page).read_text(encoding="utf-8")).split())
    assert count <= LONGEST, f"{page} has {count} words"


def test_what_counts_as_a_long_sentence() -> None:
    words = " ".join(["word"] * 29)
    assert not long_sentences(f"One {words}. Two {words}?\n\n- Three {words}\n- four {words}\n")
    assert not long_sentences(f"# Title\nOne {words}\n\n```\n{words} {words}\n```\n| {words} | {words} |\n")
    assert not long_sentences(f"`a code span of {words}` and [a link](to-a-page.md) with `spans` {words[:-40]}")
    assert len(long_sentences(f"One\n{words} longer.")) == 1
    assert len(long_sentences(f"- One: {words};\n  and longer.\n- Short.")) == 1
