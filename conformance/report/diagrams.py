"""`python -m conformance.report.diagrams [FOLDER]` draws the model's tables: of queues, messages and cursors."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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

FOLDER = Path("docs", "images")
ENDS = frozenset({"(start)", "(end)", "absent", "Deleted"})
"""States in which there is nothing: before the beginning and after the end."""


@dataclass(frozen=True, slots=True)
class Diagram:
    """One picture. states: in the order in which a life goes through them."""

    file: str
    title: str
    says: str
    states: tuple[str, ...]
    arrows: tuple[Arrow, ...]

    def drawn(self) -> Drawing:
        """With everything in its place."""
        return lay_out(self.states, self.arrows)

    def svg(self) -> str:
        """As SVG."""
        return svg(self.drawn(), self.title, self.says, ENDS)


def _cursor(row: CursorTransition) -> Arrow:
    """The event, and below it what it depends on and returns."""
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
    """Every picture, by the name of its table in `TABLES`."""
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


def main(arguments: list[str]) -> int:
    """Exit status: 2 for a folder that is not there."""
    folder = Path(arguments[0]) if arguments else FOLDER
    if not folder.is_dir():
        print(f"{folder} is no folder: name the one to draw into", file=sys.stderr)
        return 2
    for diagram in diagrams().values():
        (folder / diagram.file).write_text(diagram.svg(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
