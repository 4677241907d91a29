"""Diagrams of the model's transition tables; `python -m tools.diagrams` writes those of the pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
from conformance.report.layered import Arrow, Drawing, Label, lay_out, svg

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
