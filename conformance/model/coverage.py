"""Which transitions of the model's tables there are, for those who count how many of them a run has followed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from conformance.model import tables


@cache
def table_rows() -> Mapping[str, tuple[str, ...]]:
    """Each table's name (`cursor`, `position`, ...) to the ids of its rows: every table that `tables` holds."""
    found: dict[str, tuple[str, ...]] = {}
    for name, value in vars(tables).items():
        if name.isupper() and isinstance(value, tuple) and value and all(hasattr(row, "id") for row in value):
            found[name.lower().strip("_").replace("_", " ")] = tuple(row.id for row in value)
    return found


def by_table(taken: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """How often each row of each table was followed; a row that never was counts 0."""
    return {name: {row: taken.get(row, 0) for row in rows} for name, rows in table_rows().items()}
