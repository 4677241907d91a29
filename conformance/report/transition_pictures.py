"""Pictures of the model's transition tables, and how often a run followed each transition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape

from conformance.model.tables import (
    CURSOR,
    OUTGOING,
    POSITION,
    TABLES,
    TRANSACTION,
    CursorState,
    CursorTransition,
    Ending,
    OutgoingState,
    OutgoingTransition,
    PositionState,
    PositionTransition,
    TransactionState,
    TransactionTransition,
    Transition,
)
from conformance.report.graph_layout import Arrow, Drawing, Label, lay_out, shapes, size, svg
from conformance.report.text import label
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


ENDS = frozenset({"(start)", "(end)", "absent", "Deleted"})
"""Names for absence: before the first state and after the last."""


@dataclass(frozen=True, slots=True)
class Diagram:
    """One diagram. states: in the order of an object's life."""

    file: str
    title: str
    says: str
    states: tuple[str, ...]
    arrows: tuple[Arrow, ...]

    def drawn(self) -> Drawing:
        """Return the drawing, with a position for every element."""
        return lay_out(self.states, self.arrows)

    def svg(self) -> str:
        """Return the diagram as SVG."""
        return svg(self.drawn(), self.title, self.says, ENDS)


def _cursor(row: CursorTransition) -> Arrow:
    """Return an arrow with the event and, below it, the guard and the result."""
    more = " ".join(filter(None, [f"[{row.guard.value}]" if row.guard.value else "", _returns(row.result.value)]))
    return Arrow(row.source.value, row.target.value, (_label(row, more, row.requirements),))


def _position(row: PositionTransition) -> Arrow:
    return Arrow(row.source.value, row.target.value, (_label(row, "", (row.claim,)),))


def _transaction(row: TransactionTransition) -> Arrow:
    more = _returns(row.result.value) if row.result is Ending.UNKNOWN else ""
    return Arrow(row.source.value, row.target.value, (_label(row, more, (row.claim,)),))


def _outgoing(row: OutgoingTransition) -> Arrow:
    return Arrow(row.source.value, row.target.value, (_label(row, "", (row.claim,)),))


def _returns(result: str) -> str:
    return f"gives {result}" if result else ""


def _label(row: Transition, more: str, requirements: tuple[str, ...]) -> Label:
    lines = tuple(filter(None, [row.event.value, more, f"({row.reading})" if row.reading else ""]))
    return Label(lines, ", ".join(requirements), faint=row.reading is not None, id=row.id)


def diagrams() -> Mapping[str, Diagram]:
    """Return every diagram, by the name of its table in `TABLES`."""
    made = (
        Diagram(
            "model-cursor.svg",
            "A cursor (MS-MQDMPR 3.2, figure 3)",
            "The states of a cursor and the events of MS-MQDMPR 3.2.7 that lead from one to another.",
            tuple(state.value for state in CursorState),
            tuple(map(_cursor, CURSOR)),
        ),
        Diagram(
            "model-message-position.svg",
            "A message in its queue (MS-MQDMPR 3.1.1.11)",
            "The states of a message position and what leads from one to another.",
            tuple(state.value for state in PositionState),
            tuple(map(_position, POSITION)),
        ),
        Diagram(
            "model-transaction.svg",
            "A transaction (MS-MQDMPR 3.1.4.3-5)",
            "The states of a transaction and what leads from one to another.",
            tuple(state.value for state in TransactionState),
            tuple(map(_transaction, TRANSACTION)),
        ),
        Diagram(
            "model-outgoing-queue.svg",
            "A queue on another computer (MS-MQDMPR 3.1.1.3, 3.1.4.14-15)",
            "The states of an outgoing queue as far as transfer shows them, and what leads from one to another.",
            tuple(state.value for state in OutgoingState),
            tuple(map(_outgoing, OUTGOING)),
        ),
    )
    return dict(zip(TABLES, made, strict=True))
