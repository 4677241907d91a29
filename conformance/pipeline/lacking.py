"""The columns of a capture's row that count what the capture lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.runlog import Incomplete

COLUMNS = {
    "damaged_bytes": "passed_over",
    "short_records": "short",
    "short_bytes": "short_bytes",
    "gaps": "gaps",
    "gap_bytes": "gap_bytes",
    "stray_bytes": "stray",
    "unfinished": "unfinished",
}
"""Columns of `captures`, and the count in each; the column `cut` tells that a file is cut."""


def columns_of(found: Incomplete) -> dict[str, Any]:
    """Return the columns of a capture that lacks this."""
    counts = found.to_json()
    return {**{column: counts[name] for column, name in COLUMNS.items()}, "incomplete": bool(found)}


def incomplete_of(row: Mapping[str, Any]) -> Incomplete:
    """Return what a capture lacks according to its row. Rows of older lakes have fewer columns."""
    return Incomplete(cut=int(bool(row["cut"])), **{name: row.get(column) or 0 for column, name in COLUMNS.items()})


def add(row: dict[str, Any], more: Incomplete) -> None:
    """Add to the counts of a row, which already tells whether the file is cut."""
    row |= columns_of(incomplete_of(row) + more)
