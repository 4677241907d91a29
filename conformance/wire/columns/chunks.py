"""The emitted loop over a chunk of packets, as machine code that another process finds compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from conformance.wire.columns import lowering, machine, texts
from conformance.wire.columns.frames import ZEROS
from conformance.wire.columns.packets import Slow, shapes_and_code
from conformance.wire.columns.shapes import Shapes
from conformance.wire.columns.table import ColumnSet, column_set, fill_code

TCP, UDP, SIGNED_APART = 0, 1, 2
"""What `transport` holds of a packet: a stream's, or a datagram's, or a stream's where somebody else judges what a
certificate signs: a packet with one is slow, but has an outcome, of which what the other rules say is right."""
AHEAD = 6
"""Packets whose first bytes are asked for before they are looked at."""
LINES = 4
"""Cache lines asked for of each."""
LOOP = "loop"
_HEAD = 2  # int64s before the words of an outcome: how often it was seen, its hash


@dataclass(frozen=True, slots=True)
class Judged:
    """Functions that look at each decoded packet and leave words of bits. calls: mask of sections, function."""

    source: str
    calls: Sequence[tuple[int, str]]
    words: int


@dataclass(frozen=True, eq=False)
class Chunks:
    """A compiled loop. source: it, as it is emitted. shapes, columns: where things are. words: of an outcome. scratch:
    int64s the loop needs."""

    source: str
    shapes: Shapes
    columns: ColumnSet
    words: int
    scratch: int

    @property
    def wanted(self) -> machine.Wanted:
        """The machine code, which may be there already."""
        made_from = (self.source, *machine.texts_of(Path(str(one.__file__)) for one in (machine, lowering)))
        return machine.Wanted(
            "judge", made_from, lowering.PREFIX + LOOP, 14, lambda: lowering.text_of(self.source, LOOP)
        )

    @cached_property
    def loop(self) -> Callable[..., int]:
        """The machine code, see `chunk_code`; compiled where it is not kept."""
        return self.wanted.function()

    def run(
        self,
        buffer: Any,
        offsets: Any,
        lengths: Any,
        transport: Any,
        n: int,
        columns: Any,
        results: Any,
        counts: Any,
        slow: Any,
    ) -> int:
        """Judge the first n packets; how many are slow. What the arrays are: see `chunk_code`."""
        scratch = np.zeros(self.scratch, np.int64)
        return self.loop(
            buffer.ctypes.data,
            offsets.ctypes.data,
            lengths.ctypes.data,
            transport.ctypes.data,
            n,
            columns.ctypes.data,
            8 * columns.shape[1],
            columns.shape[0],
            results.ctypes.data,
            counts.ctypes.data,
            counts.shape[0] - 2,
            counts.shape[1],
            slow.ctypes.data,
            scratch.ctypes.data,
        )


def chunk_code(shapes: Shapes, judged: Judged, first: int, columns: ColumnSet) -> str:
    """`loop` over the addresses of these arrays: how many packets are slow.

    buffer: uint8. offsets: int64, of each packet in it. lengths: int32, its bytes. transport: uint8, TCP or UDP.
    columns: int64 [columns, at least n], filled when it has rows. results: int32, the number of each packet's outcome,
    -1 for a slow one (see SIGNED_APART). counts: int64 [capacity + 1, 2 + words], capacity a power of two: outcome `r`
    was seen counts[r, 0] times and is the words counts[r, 2:]; the last row is the loop's own. slow: uint8, a `Slow`,
    0 for a packet that was judged.
    """
    slots = shapes.slots
    lines = [
        "def number_of(o, table, mask, stride):",
        "    word = 0",
        # Each word by a multiplier of its own: the products do not wait for each other.
        *(f"    word += get(o, {first + at}) * {_multiplier(at)}" for at in range(judged.words)),
        "    word ^= (word >> 29) & 0x7_FFFF_FFFF",
        "    word *= -0x6B2F_B644_ECCE_EE15",
        "    word ^= (word >> 32) & 0xFFFF_FFFF",
        "    at = word & mask",
        "    while True:",
        "        row = table + 8 * stride * at",
        "        if get(row, 0) == 0:",
        "            own = table + 8 * stride * (mask + 1)",
        "            if get(own, 0) * 4 > mask * 3:",
        "                return -1",
        "            put(own, 0, get(own, 0) + 1)",
        "            put(row, 1, word)",
        *(f"            put(row, {_HEAD + at}, get(o, {first + at}))" for at in range(judged.words)),
        "            return at",
        "        if get(row, 1) == word:",
        "            same = 0",
        *(f"            same |= get(row, {_HEAD + at}) ^ get(o, {first + at})" for at in range(judged.words)),
        "            if same == 0:",
        "                return at",
        "        at = (at + 1) & mask",
        "",
        "",
        "def loop(base, offsets, lengths, transport, n, c, s, want, results, table, mask, stride, slow, o):",
        f"    z = o + {8 * (first + judged.words)}",
        "    left_out = 0",
        "    for i in range(n):",
        f"        if i + {AHEAD} < n:",
        f"            ahead = base + get(offsets, i + {AHEAD})",
        *(f"            prefetch(ahead + {64 * at})" for at in range(LINES)),
        "        first = get(offsets, i)",
        "        p = base + first",
        "        number = -1",
        "        signed = 0",
        f"        have = decode(p, u32(lengths + 4 * i), 1 if u8(transport + i) == {UDP} else 0, o)",
        "        why = -have",
        "        if have >= 0:",
        *(["            judge(p, o, have, z)"] if judged.words else []),
        f"            why = {Slow.LETTERS:d}",
        f"            if get(o, {slots['Packet.letters']}) == 0:",
        f"                why = {Slow.CROWDED:d}",
        f"                signed = get(o, {slots['Packet.signed']})",
        f"                if signed != 0 and u8(transport + i) != {SIGNED_APART}:",
        f"                    why = {Slow.SIGNED:d}",
        "                else:",
        "                    number = number_of(o, table, mask, stride)",
        "        put32(results + 4 * i, number)",
        "        if number < 0:",
        "            put8(slow + i, why)",
        "            left_out += 1",
        "            continue",
        f"        put8(slow + i, {Slow.SIGNED:d} if signed != 0 else {Slow.NOT:d})",
        "        left_out += signed",
        "        row = table + 8 * stride * number",
        "        put(row, 0, get(row, 0) + 1)",
        "        if want != 0:",
        "            fill(p, o, have, z, first, c + 8 * i, s)",
        "    return left_out",
        "",
    ]
    return "\n".join([fill_code(shapes, columns), "", "", *lines])


def _multiplier(at: int) -> int:
    """An odd number of 64 bits, another for each word of an outcome."""
    raw = hashlib.sha256(f"word {at}".encode()).digest()
    return int.from_bytes(raw[:8], "little", signed=True) | 1


def judge_code(judged: Judged, first: int) -> str:
    """`judge(p, o, have, z)`: the words of the outcome of a decoded packet, from `first` on."""
    lines = [
        "def judge(p, o, have, z):",
        *(f"    put(o, {first + at}, 0)" for at in range(judged.words)),
    ]
    for sections, name in judged.calls:
        lines += [f"    if have & {sections:#x} == {sections:#x}:", f"        {name}(p, o, have, z)"]
    return "\n".join([judged.source, "", "", *lines, "    return 0", ""])


def chunks(keys: Sequence[str], judging: Callable[[Shapes, int], Judged]) -> Chunks:
    """The compiled loop for these columns and these judges; compiled at the first call of `run` of any process.

    judging: of the places and the slot its words begin at, the functions that judge.
    """
    shapes, code = shapes_and_code()
    first = len(shapes.slots)
    judged = judging(shapes, first)
    columns = column_set(shapes, keys)
    parts = [Path(texts.__file__).read_text("utf-8"), code, judge_code(judged, first)]
    parts.append(chunk_code(shapes, judged, first, columns))
    source = "\n\n".join(parts)
    return Chunks(source, shapes, columns, judged.words, first + judged.words + ZEROS // 8)
