"""Pictures of the model's transition tables that show how often a run followed each transition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

from conformance.report.layered import Arrow, Label, lay_out, shapes, size
from conformance.report.text import label
from conformance.report.transitions import Covered

if TYPE_CHECKING:  # imported when there is a picture
    from conformance.report.diagrams import Diagram

NEVER, ELSEWHERE, TAKEN = "never", "elsewhere", "taken"
"""Kinds of transitions: never followed; never followed, nor ever under the default readings; followed."""
WIDE = 850
"""Width in pixels from which a picture keeps its size, so that its labels stay readable."""
MAX_LISTED = 500
"""Rows listed of a table for which this version has no diagram."""


@dataclass(frozen=True, slots=True)
class Picture:
    """The picture of one table. svg: without style or script of its own, None if this version does not have the table.

    rows: (transition, times followed, one of NEVER, ELSEWHERE and TAKEN), in the table's order.
    """

    table: str
    title: str
    svg: str | None
    rows: tuple[tuple[str, int, str], ...]

    @property
    def followed(self) -> int:
        """Transitions followed at least once."""
        return sum(count > 0 for _, count, _ in self.rows)


def pictures(covered: tuple[Covered, ...]) -> list[Picture]:
    """Return a picture for each table, in the order of the record; empty for a run without walks."""
    return [_picture(table, number) for number, table in enumerate(covered)]


def _picture(table: Covered, number: int) -> Picture:
    from conformance.report.diagrams import ENDS

    diagram = _diagram(table)
    if diagram is None:
        rows = [(label(row), count, TAKEN if count else NEVER) for row, count in table.counts.items()]
        return Picture(label(table.table, 60), "", None, tuple(rows[:MAX_LISTED]))
    arrows = tuple(
        Arrow(arrow.source, arrow.target, tuple(_counted(each, table) for each in arrow.labels))
        for arrow in diagram.arrows
    )
    drawing = lay_out(diagram.states, arrows)
    width, height = size(drawing)
    head = f"head{number}"
    kind = "diagram large" if width > WIDE else "diagram"
    told = f"{table.followed} of {len(table.counts)} transitions followed"
    svg = "\n".join(
        [
            f'<svg class="{kind}" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{escape(diagram.title)}: {told}">',
            f'<defs><marker id="{head}" viewBox="0 0 8 8" refX="7.4" refY="4" markerWidth="8" markerHeight="8" '
            'orient="auto"><path d="M0 0.6L8 4L0 7.4z"/></marker></defs>',
            *shapes(drawing, ENDS, head),
            "</svg>",
        ]
    )
    rows = [(each.id, table.counts.get(each.id, 0), each.kind) for arrow in arrows for each in arrow.labels]
    return Picture(table.table, diagram.title, svg, tuple(rows))


def _diagram(table: Covered) -> Diagram | None:
    """Return the diagram that has the table's rows, found by their ids, because a table's name is only for readers."""
    from conformance.report.diagrams import diagrams

    for diagram in diagrams().values():
        if any(found.id in table.counts for arrow in diagram.arrows for found in arrow.labels):
            return diagram
    return None


def _counted(found: Label, table: Covered) -> Label:
    """Return the label with the count behind its first line."""
    count = table.counts.get(found.id, 0)
    kind = TAKEN if count else ELSEWHERE if found.faint else NEVER
    first, *rest = found.lines
    return replace(found, lines=(f"{first} · {f'{count:,}×' if count else 'never'}", *rest), kind=kind)
