"""Transitions of the model's tables, and how many of them a run has followed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from conformance.model import tables


@cache
def table_rows() -> Mapping[str, tuple[str, ...]]:
    """Map each table's name (`cursor`, `position`, ...) to the ids of its rows, for every table in `tables`."""
    found: dict[str, tuple[str, ...]] = {}
    for name, value in vars(tables).items():
        if name.isupper() and isinstance(value, tuple) and value and all(hasattr(row, "id") for row in value):
            found[name.lower().strip("_").replace("_", " ")] = tuple(row.id for row in value)
    return found


def by_table(taken: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return how often each row of each table was followed, 0 for a row never followed. taken: row id to count."""
    return {name: {row: taken.get(row, 0) for row in rows} for name, rows in table_rows().items()}
