"""Words of the corpus page: days, numbers, requirements and values as a reader sees them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from typing import Final

from conformance.pipeline.corpus import Corpus
from conformance.pipeline.plots import short
from conformance.report.text import label, value_text
from conformance.spec.catalogue import catalogue

NAME: Final = 120
"""Characters shown of a sender's or an implementation's name."""
_WORDS = 800


def days_text(corpus: Corpus) -> str:
    """Return the first and the last day of the lake."""
    span = corpus.span
    if span.first is None or span.last is None:
        return ""
    return span.first.isoformat() if span.first == span.last else f"{span.first} to {span.last}"


def axis_text(corpus: Corpus) -> str:
    """Return the days of a strip, and how many are one cell."""
    width = corpus.span.width
    return f"{days_text(corpus)}{f', a cell is {width} days' if width > 1 else ''}"


def demand_words(name: str) -> dict[str, str]:
    """Return a requirement in words, with its place in the documents."""
    known = catalogue().requirements.get(name)
    return {
        "id": label(name),
        "says": known.says if known else "Not in this version's catalogue",
        "where": f"{known.document} {known.section}" if known else "",
        "level": known.level if known else "",
    }


def reading_words(name: str, alternative: str) -> dict[str, str]:
    """Return a reading that was assumed, with the meaning of the alternative."""
    known = catalogue().readings.get(name)
    meaning = known.alternatives.get(alternative, "") if known else ""
    return {"id": label(name, NAME), "alternative": label(alternative, NAME), "meaning": meaning}


def pairs(numbers: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the first of some counts by name."""
    return [(label(name, 120), number) for name, number in list(numbers.items())[:20]]


def value_words(text: str | None) -> str | None:
    """Return a value that a table holds as JSON."""
    if text is None:
        return None
    try:
        return value_text(json.loads(text), _WORDS)
    except (ValueError, RecursionError):
        return label(text, _WORDS)


def day_text(day: date | None) -> str:
    """Return a day; nothing for a day that is not known."""
    return "" if day is None or day.year <= 1970 else day.isoformat()


def many(number: int, word: str) -> str:
    """Return a number with its word."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def bytes_text(number: int) -> str:
    """Return a size."""
    return f"{short(number)}B" if number >= 1000 else f"{number} B"
