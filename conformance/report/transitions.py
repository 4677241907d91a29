"""How much of the model's tables a run has followed: its transitions, and those it never took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from conformance.runlog import Run

KIND = "transitions"
"""The kind of evidence that carries the counts: one for each part of a record."""


@dataclass(frozen=True, slots=True)
class Covered:
    """One table. counts: its rows, in their order, and how often each was followed."""

    table: str
    counts: Mapping[str, int]

    @property
    def followed(self) -> int:
        """Rows that were followed at least once."""
        return sum(count > 0 for count in self.counts.values())

    @property
    def missing(self) -> tuple[str, ...]:
        """Rows that never were."""
        return tuple(row for row, count in self.counts.items() if not count)


def transitions(run: Run) -> tuple[Covered, ...]:
    """The tables, summed over the parts of the record; empty for a run that walked nowhere.

    What is no table of counts is passed over: a record is a file, and a file may hold anything.
    """
    tables: dict[str, Counter[str]] = {}
    for item in run.evidence.values():
        if item.kind != KIND:
            continue
        for table, counts in item.data.items():
            if isinstance(counts, dict):
                into = tables.setdefault(str(table), Counter())
                for row, count in counts.items():
                    into[row] += count if isinstance(count, int) and count > 0 else 0
    return tuple(Covered(table, counts) for table, counts in tables.items())


def in_words(covered: tuple[Covered, ...]) -> str:
    """`cursor 21 of 21, position 20 of 24`."""
    return ", ".join(f"{table.table} {table.followed} of {len(table.counts)}" for table in covered)
