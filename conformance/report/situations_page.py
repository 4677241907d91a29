"""Situations of a run for the HTML report: a line for each operation, and a grid of its features against each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from conformance.report.situations import WHY, Covered, Line, Share, grids, missing, situations
from conformance.report.text import label
from conformance.runlog import Run
from conformance.verdict import Json

MAX_MISSING = 20
"""Pairs listed below a grid; `mqconform situations cover` lists them all."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A line of the page. grid: place of its grid among the page's data, None for none."""

    name: str
    percent: int
    pairs: str
    triples: str
    grid: int | None


@dataclass(frozen=True, slots=True)
class Planned:
    """The section of the page. grids: operation, features, shares of each with those before it, pairs never met."""

    sentence: str
    known: bool
    unreachable: int
    fell: tuple[tuple[str, int, str], ...]
    operations: tuple[Operation, ...]
    sections: tuple[tuple[str, int, int], ...]
    grids: tuple[tuple[Json, ...], ...]


def planned_of(run: Run) -> Planned | None:
    """Return the section; None for a run without planned histories."""
    covered = situations(run)
    if covered is None:
        return None
    drawn = tuple(_grids(covered)) if covered.known else ()
    places = {str(grid[0]): place for place, grid in enumerate(drawn)}
    return Planned(
        label(covered.sentence),
        covered.known,
        covered.unreachable,
        tuple((reason, number, WHY[reason]) for reason, number in covered.fell.items()),
        tuple(_operation(line, places.get(line.name)) for line in covered.operations),
        tuple((line.name, line.all.met, line.all.of) for line in covered.sections),
        drawn,
    )


def _grids(covered: Covered) -> list[tuple[Json, ...]]:
    return [
        (
            grid.operation,
            list(grid.features),
            [[[share.met, share.of] for share in shares] for shares in grid.shares],
            list(islice(missing(covered, grid.operation), MAX_MISSING)),
        )
        for grid in grids(covered)
    ]


def _operation(line: Line, grid: int | None) -> Operation:
    return Operation(line.name, line.all.percent, _told(line.pairs, "pairs"), _told(line.triples, "triples"), grid)


def _told(share: Share, what: str) -> str:
    return f"{share.met:,} of {share.of:,} {what}" if share.of else ""
