"""Judges many packets at once by all packet rules, in machine code. Needs the extra `columns`.

The code is emitted from the rules of `judge.packets` and the layout of `wire.decode`. Packets that it cannot decide
exactly as those do are left to them (`Slow` gives the cause), so that the results together equal those of the
one-by-one path::

    judge = column_judge(TABLE)                 # the columns wanted beside the rules; () for none
    chunk, counts = judge.chunk(), judge.counts()
    judge.warm()                                # compiles, once on a machine
    chunk.offsets[:n], chunk.lengths[:n], chunk.transport[:n] = ...     # where the packets are in the buffer
    judge.judge(buffer, chunk, n, counts)
    chunk.slow[:n]                              # not 0: judge that packet with `judge_packet`
    chunk.results[:n]                           # else the number of its outcome
    outcomes = Outcomes(judge.code, profile, readings, level)
    outcomes.said(judge.words(counts, number))  # requirement, outcome, readings followed, rule by rule
    judge.seen(counts)                          # outcome number to the number of its packets

Importing this package needs no extra; `column_judge` raises `MissingExtraError`, whose message is a sentence for the
user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.judge.columns.judge import Chunk, ColumnJudge, Outcomes, Said, Slow, column_judge

__all__ = ["Chunk", "ColumnJudge", "Outcomes", "Said", "Slow", "column_judge"]


def __getattr__(name: str) -> Any:
    from conformance.wire.columns.extra import need_columns

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    need_columns()
    from conformance.judge.columns import judge as module

    return getattr(module, name)
