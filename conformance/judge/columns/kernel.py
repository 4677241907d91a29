"""`column_judge`: applies every packet rule to chunks of packets, in machine code."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from operator import is_not
from pathlib import Path
from typing import Any

import numpy as np

from conformance.judge.columns.outcomes import Group, OutcomeCode, Pair, outcome_code
from conformance.judge.packets.judge import ALL_RULES
from conformance.wire.columns.chunks import Chunks, Judged, chunks
from conformance.wire.columns.object_cache import remembered, stamps
from conformance.wire.columns.packets import Slow
from conformance.wire.columns.shapes import Shapes
from conformance.wire.columns.table import ColumnSet

CHUNK = 2048
"""Packets judged at a time: their rows stay in the CPU cache."""
CAPACITY = 1 << 14
"""The number of different outcomes that are distinguished; packets with further ones are judged one by one."""
_PAD = 16  # int64s added to a row of columns whose length is a power of two, so that rows do not share a place in L1


@dataclass(slots=True)
class Chunk:
    """The arrays of one chunk, reused for the next. `wire.columns.chunks.chunk_code` describes what each array holds.

    room: scratch memory of the code. own, addresses: arrays and addresses of the last call, because looking up the
    address of an array is slow.
    """

    offsets: Any
    lengths: Any
    transport: Any
    columns: Any
    results: Any
    slow: Any
    room: Any
    own: tuple[Any, ...] = (None,) * 6
    addresses: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ColumnJudge:
    """The compiled loop (chunks), and the bits of an outcome that belong to each rule (code)."""

    chunks: Chunks
    code: OutcomeCode

    def chunk(self, rows: int = CHUNK) -> Chunk:
        """Allocate arrays for `rows` packets at a time."""
        wide = self.chunks.columns.width
        return Chunk(
            np.zeros(rows, np.int64),
            np.zeros(rows, np.int32),
            np.zeros(rows, np.uint8),
            np.zeros((wide, rows + _PAD if wide else 0), np.int64),
            np.zeros(rows, np.int32),
            np.zeros(rows, np.uint8),
            self.chunks.room(),
        )

    def counts(self, capacity: int = CAPACITY) -> Any:
        """Allocate an empty table of outcomes. capacity: a power of two. Raises ValueError for another number."""
        if capacity < 2 or capacity & (capacity - 1):
            raise ValueError(f"Invalid capacity {capacity} of a table of outcomes: it must be a power of two")
        return np.zeros((capacity + 1, 2 + self.chunks.words), np.int64)

    def judge(self, buffer: Any, chunk: Chunk, n: int, counts: Any) -> int:
        """Judge the first n packets of a chunk; return how many are left to the one-by-one path.

        buffer: uint8; `chunk.offsets` count from its start. It must extend at least the length of each packet.
        """
        own, rows = (chunk.lengths, chunk.transport, chunk.columns, chunk.results, counts, chunk.slow), chunk.columns
        if any(map(is_not, own, chunk.own)):
            chunk.own, chunk.addresses = own, tuple(one.ctypes.data for one in own)
        lengths, transport, columns, results, table, slow = chunk.addresses
        return self.chunks.loop(
            buffer.ctypes.data, chunk.offsets.ctypes.data, lengths, transport, n, columns, 8 * rows.shape[1],
            rows.shape[0], results, table, len(counts) - 2, slow, chunk.room.ctypes.data,
        )  # fmt: skip

    def words(self, counts: Any, number: int) -> tuple[int, ...]:
        """Return the words of an outcome."""
        return tuple(map(int, counts[number, 2:]))

    def seen(self, counts: Any) -> dict[int, int]:
        """Return how often each outcome was seen, by its number."""
        numbers = np.flatnonzero(counts[:-1, 0])
        return dict(zip(map(int, numbers), map(int, counts[numbers, 0]), strict=True))

    def warm(self, tell: Callable[[str], object] | None = None) -> float:
        """Make sure that the machine code exists; return the seconds taken. tell: called before and after compiling."""
        say = tell if tell is not None else lambda text: print(text, file=sys.stderr)
        make = not self.chunks.wanted.is_kept()
        if make:
            say("Compiling the packet rules; this is done once.")
        start = time.perf_counter()
        self.judge(np.zeros(8, np.uint8), self.chunk(1), 0, self.counts(2))
        took = time.perf_counter() - start
        if make:
            wanted = self.chunks.wanted
            where = f"; the code is kept in {wanted.path.parent}" if wanted.is_kept() else ""
            say(f"Compiled the packet rules in {took:.1f} s{where}.")
        return took


@cache
def _column_judge(keys: tuple[str, ...]) -> ColumnJudge:
    """Return the judge emitted by another process, unless a table, rule or emitter of the two rooms changed."""
    package = Path(__file__).parents[2]
    made_from = (repr(keys), *(stamp for room in ("wire", "judge") for stamp in stamps(package / room)))
    return remembered("rules", made_from, lambda: emitted(keys), to_json, of_json)


def to_json(judge: ColumnJudge) -> dict[str, Any]:
    """Store the emitted code for `of_json` in a process with the same tables and rules; rules become numbers."""
    made, code = judge.chunks, judge.code
    number = {rule.id: at for at, rule in enumerate(ALL_RULES)}
    return {
        "chunks": [made.source, made.words, made.scratch],
        "shapes": made.shapes.to_json(),
        "columns": made.columns.to_json(),
        "code": [code.source, code.words, code.slots],
        "groups": [[one.name, sorted(one.sections), [number[rule.id] for rule in one.rules]] for one in code.groups],
        "pairs": [[number[one.rule.id], one.alternative, one.word, one.shift] for one in code.pairs],
    }


def of_json(value: Any) -> ColumnJudge:
    """Read what `to_json` wrote."""
    rules, shapes = ALL_RULES, Shapes.of_json(value["shapes"])
    source, words, scratch = value["chunks"]
    groups = tuple(
        Group(name, frozenset(sections), tuple(rules[at] for at in some)) for name, sections, some in value["groups"]
    )
    pairs = tuple(Pair(rules[at], alternative, word, shift) for at, alternative, word, shift in value["pairs"])
    code, each, slots = value["code"]
    columns = ColumnSet.of_json(value["columns"], shapes)
    return ColumnJudge(Chunks(source, shapes, columns, words, scratch), OutcomeCode(code, groups, pairs, each, slots))


def emitted(keys: tuple[str, ...]) -> ColumnJudge:
    """Emit the judge that fills the columns of these keys."""
    made: list[OutcomeCode] = []

    def judging(shapes: Shapes, first: int) -> Judged:
        made.append(outcome_code(shapes, first))
        return made[0].judged(shapes)

    return ColumnJudge(chunks(keys, judging), made[0])


def column_judge(keys: Sequence[str] = ()) -> ColumnJudge:
    """Return the judge that fills the columns of these keys; the same keys give the same object.

    Raises `UnknownShapeError` for a key that no packet has, and for a table or rule that cannot be emitted.
    """
    return _column_judge(tuple(keys))


__all__ = ["CAPACITY", "CHUNK", "Chunk", "ColumnJudge", "Slow", "column_judge"]
