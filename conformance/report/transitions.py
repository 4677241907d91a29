"""Coverage of the model's tables: the transitions that a run followed, and those it never took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from conformance.runlog import Run

KIND = "transitions"
"""The kind of evidence that holds the counts: one for each part of a record."""


@dataclass(frozen=True, slots=True)
class Covered:
    """Coverage of one table. counts: its rows, in their order, and how often each was followed."""

    table: str
    counts: Mapping[str, int]

    @property
    def followed(self) -> int:
        """Rows that were followed at least once."""
        return sum(count > 0 for count in self.counts.values())

    @property
    def missing(self) -> tuple[str, ...]:
        """Rows that were never followed."""
        return tuple(row for row, count in self.counts.items() if not count)


def transitions(run: Run) -> tuple[Covered, ...]:
    """Return the tables, summed over the parts of the record; empty for a run without walks.

    Evidence that is no table of counts is ignored, because a record is a file and may hold anything.
    """
    tables: dict[str, Counter[str]] = {}
    for item in run.evidence_of(KIND):
        for table, counts in item.data.items():
            if isinstance(counts, dict):
                into = tables.setdefault(str(table), Counter())
                for row, count in counts.items():
                    into[row] += count if isinstance(count, int) and count > 0 else 0
    return tuple(Covered(table, counts) for table, counts in tables.items())


def in_words(covered: tuple[Covered, ...]) -> str:
    """Format the coverage: `cursor 21 of 21, position 20 of 24`."""
    return ", ".join(f"{table.table} {table.followed} of {len(table.counts)}" for table in covered)
