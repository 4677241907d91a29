"""`column_judge`: every packet rule over chunks of packets, as machine code."""

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

from conformance.judge.columns.outcomes import OutcomeCode, outcome_code
from conformance.wire.columns.chunks import Chunks, Judged, chunks
from conformance.wire.columns.keeping import remembered, stamps
from conformance.wire.columns.packets import Slow
from conformance.wire.columns.shapes import Shapes

CHUNK = 2048
"""Packets judged at a time: their rows stay in the cache."""
CAPACITY = 1 << 14
"""Different outcomes that are told apart; packets with more are judged one by one."""
_PAD = 16  # int64s by which a row of columns is longer than a power of two, so that they do not share a place in L1


@dataclass(slots=True)
class Chunk:
    """The arrays of one chunk, used again for the next. See `wire.columns.chunks.chunk_code` for what each holds; room:
    what the code needs for itself. own, addresses: those of the last call, for asking where an array is takes long."""

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
    """chunks: the compiled loop. code: which bits of an outcome are which rule's."""

    chunks: Chunks
    code: OutcomeCode

    def chunk(self, rows: int = CHUNK) -> Chunk:
        """Arrays for so many packets at a time."""
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
        """An empty table of outcomes. capacity: a power of two."""
        if capacity < 2 or capacity & (capacity - 1):
            raise ValueError(f"the capacity of a table of outcomes is a power of two, not {capacity}")
        return np.zeros((capacity + 1, 2 + self.chunks.words), np.int64)

    def judge(self, buffer: Any, chunk: Chunk, n: int, counts: Any) -> int:
        """Judge the first n packets of a chunk; how many are left to the one-by-one path.

        buffer: uint8, in which `chunk.offsets` count. It must go on for at least the length of each packet.
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
        """The words of an outcome."""
        return tuple(map(int, counts[number, 2:]))

    def seen(self, counts: Any) -> dict[int, int]:
        """How often each outcome was seen, by number."""
        numbers = np.flatnonzero(counts[:-1, 0])
        return dict(zip(map(int, numbers), map(int, counts[numbers, 0]), strict=True))

    def warm(self, tell: Callable[[str], object] | None = None) -> float:
        """Make sure the machine code is there; the seconds it took. tell: is told before it is made and after."""
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
    """As it was emitted by another process, as long as no table, rule or emitter has changed: they are in two rooms."""
    package = Path(__file__).parents[2]
    made_from = (repr(keys), *(stamp for room in ("wire", "judge") for stamp in stamps(package / room)))
    return remembered("rules", made_from, lambda: emitted(keys))


def emitted(keys: tuple[str, ...]) -> ColumnJudge:
    """Emit the judge that fills the columns of these keys."""
    made: list[OutcomeCode] = []

    def judging(shapes: Shapes, first: int) -> Judged:
        made.append(outcome_code(shapes, first))
        return made[0].judged(shapes)

    return ColumnJudge(chunks(keys, judging), made[0])


def column_judge(keys: Sequence[str] = ()) -> ColumnJudge:
    """The judge that fills the columns of these keys; the same keys give the same one.

    Raises `UnknownShapeError` for a key no packet has, and where a table or rule has no emitted code.
    """
    return _column_judge(tuple(keys))


__all__ = ["CAPACITY", "CHUNK", "Chunk", "ColumnJudge", "Slow", "column_judge"]
