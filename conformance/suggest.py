"""Suggestions for names that do not exist: the nearest known name, if it is near enough to be a typing mistake."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from os import scandir
from pathlib import Path

_CANDIDATES = 12
"""Names whose edit distance is computed: of thousands of ids, those most similar to what was written."""
MOST = 4
"""Largest edit distance that counts as near, however long the name is."""
_FILES = 10_000  # of a folder that are looked at
_BEGINNING = 3
"""Characters that are enough to suggest a longer name that begins with them."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that `name` most likely means; None if none is near.

    A name is near if its edit distance is at most two fifths of its length and at most MOST, or if it begins with
    `name`. Ids with dots may differ in one part only, and the length is that of this part. Of `KEY=VALUE` the key is
    enough.
    """
    names = list(known)
    lower = {each.lower(): each for each in reversed(names)}
    word = name.strip().lower()
    found = [
        (slips, at, each)
        for at, each in enumerate(get_close_matches(word, lower, n=_CANDIDATES, cutoff=0.4))
        if (slips := _slips(word, each)) is not None
    ]
    if found:
        return lower[min(found)[2]]
    key, equals, _ = word.partition("=")
    beginning = f"{key}=" if equals else word
    longer = [each for each in lower if len(beginning) >= _BEGINNING and each.startswith(beginning)]
    return lower[min(longer, key=len)] if longer else None


def near_file(path: str | Path) -> str:
    """Return the end of a sentence about a path that does not exist: `; did you mean X?` from its folder, or a dot."""
    try:
        with scandir(Path(path).parent) as found:
            there = [one.name for one in islice(found, _FILES) if Path(one).exists()]  # No link that leads nowhere.
            close = nearest(Path(path).name, there)
    except (OSError, ValueError):
        return "."
    return f"; did you mean {Path(path).with_name(close)}?" if close else "."


def _slips(word: str, known: str) -> int | None:
    """Return the edit distance; None if it is too large. Ids with dots may differ in one part only."""
    parts = [pair for pair in zip(word.split("."), known.split("."), strict=False) if pair[0] != pair[1]]
    if "." in word:
        if len(parts) > 1 or word.count(".") != known.count("."):
            return None
        word, known = parts[0] if parts else ("", "")
    slips = distance(word, known)
    return slips if slips <= min(MOST, max(1, 2 * max(len(word), len(known)) // 5)) else None


def distance(one: str, other: str) -> int:
    """Return the edit distance: insertions, removals, replacements, and swaps of neighbours (Damerau-Levenshtein)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, char in enumerate(one, 1):
        before, last, row = row, before, [at]
        for there, its in enumerate(other, 1):
            best = min(before[there] + 1, row[there - 1] + 1, before[there - 1] + (char != its))
            if at > 1 and there > 1 and char == other[there - 2] and one[at - 2] == its:
                best = min(best, last[there - 2] + 1)
            row.append(best)
    return row[-1]
