"""`column_judge`: every packet rule over chunks of packets, as machine code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from conformance.judge.columns.outcomes import OutcomeCode, outcome_code
from conformance.wire.columns.chunks import Chunks, Judged, chunks
from conformance.wire.columns.shapes import Shapes


@dataclass(frozen=True, slots=True)
class ColumnJudge:
    """chunks: the compiled loop. code: which bits of an outcome are which rule's."""

    chunks: Chunks
    code: OutcomeCode


@cache
def _column_judge(keys: tuple[str, ...]) -> ColumnJudge:
    made: list[OutcomeCode] = []

    def judging(shapes: Shapes, first: int) -> Judged:
        code = outcome_code(shapes, first)
        made.append(code)
        calls = [(sum(1 << shapes.bit(one) for one in group.sections), group.name) for group in code.groups]
        return Judged(code.source, calls, code.words)

    return ColumnJudge(chunks(keys, judging), made[0])


def column_judge(keys: Sequence[str] = ()) -> ColumnJudge:
    """The judge that fills these columns. The same keys give the same one."""
    return _column_judge(tuple(keys))
