"""Emits the loop over a chunk of packets, as machine code that another process finds compiled."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from conformance.wire.columns import texts
from conformance.wire.columns.frames import ZEROS
from conformance.wire.columns.llvm_module import LANES
from conformance.wire.columns.lowered import lowered
from conformance.wire.columns.machine import Wanted
from conformance.wire.columns.packet_facts import NOT_READ, Slow, seen
from conformance.wire.columns.packets import shapes_and_code
from conformance.wire.columns.shapes import Shapes, UnknownShapeError
from conformance.wire.columns.table import ColumnSet, column_set, fill_code
from conformance.wire.session_packets import PING

TCP, UDP, SIGNED_APART = 0, 1, 2
"""Values of `transport`: a stream's packet; a datagram's; a stream's packet whose signatures are judged elsewhere.

With SIGNED_APART a packet with a certificate is slow but has an outcome, in which the other rules are right.
"""
AHEAD = 6
"""Packets whose first bytes are prefetched before they are read."""
LINES = 5
"""Cache lines prefetched of each, beside the last."""
NEVER_JUDGED = frozenset({PING.name, *NOT_READ})
"""Sections that no rule is about, or none on a packet judged here."""
LOOP = "loop"
_NEAR, _TRIES, _FAR = 1 << 10, 4, 20
"""Outcomes are first searched among _NEAR rows, in _TRIES of them, then by the bits from _FAR on."""
_HEAD = 2  # int64s before the words of an outcome: its count, its hash


@dataclass(frozen=True, slots=True)
class Judged:
    """The `see_SECTION` functions, which read sections, and functions under `@wide` that derive words of bits from
    them.

    calls: mask of sections, function. slots: the number they need, words first.
    """

    source: str
    calls: Sequence[tuple[int, str]]
    words: int
    slots: int


@dataclass(frozen=True, eq=False)
class Chunks:
    """A compiled loop. source: as emitted. shapes, columns: places. words: of an outcome. scratch: its int64s."""

    source: str
    shapes: Shapes
    columns: ColumnSet
    words: int
    scratch: int

    @property
    def wanted(self) -> Wanted:
        """The machine code, which may exist already."""
        return lowered("judge", self.source, LOOP, 13)

    @cached_property
    def loop(self) -> Callable[..., int]:
        """The machine code, see `chunk_code`; compiled where it is not cached. room: see there."""
        return self.wanted.function()

    def room(self) -> Any:
        """Allocate the scratch memory of a call; it may be reused, but not by two calls at the same time."""
        return np.zeros(self.scratch, np.int64)


def chunk_code(shapes: Shapes, judged: Judged, first: int, columns: ColumnSet) -> str:
    """Emit `loop(buffer, offsets, lengths, transport, n, columns, step, rows, results, counts, mask, slow, room)`,
    which returns how many of the first n packets are slow. Its arguments are the addresses of these arrays, the bytes
    from one row of columns to the next, the number of rows, and the capacity of the counts minus one.

    buffer: uint8. offsets: int64, of each packet in it. lengths: int32, its bytes. transport: uint8, TCP or UDP.
    columns: int64 [columns, at least n], filled when it has rows. results: int32, the number of each packet's outcome,
    -1 for a slow one (see SIGNED_APART). counts: int64 [capacity + 1, 2 + words], capacity a power of two: outcome `r`
    was seen counts[r, 0] times and is the words counts[r, 2:]; the last row is the loop's own. slow: uint8, a `Slow`, 0
    for a packet that was judged.
    """
    slots = shapes.slots
    have, hashed = slots["Packet.have"], slots["Packet.hash"]
    stride = 8 * (_HEAD + judged.words)
    lines = [
        "@wide",
        "def hashed(o):",
        "    word = 0",
        # Each word has a multiplier of its own: the products do not wait for each other.
        *(f"    word += noted(o, {first + at}) * {_multiplier(at)}" for at in range(judged.words)),
        "    word ^= (word >> 29) & 0x7_FFFF_FFFF",
        "    word *= -0x6B2F_B644_ECCE_EE15",
        "    word ^= (word >> 32) & 0xFFFF_FFFF",
        f"    note(o, {hashed}, word)",
        "",
        "",
        "def number_of(o, table, mask):",
        f"    word = noted(o, {hashed})",
        # There are nearly always few outcomes: they are stored close together, others wherever there is room.
        f"    at = word & mask & {_NEAR - 1}",
        "    tried = 0",
        "    while True:",
        f"        row = table + {stride} * at",
        "        if u64(row) == 0:",
        f"            own = table + {stride} * (mask + 1)",
        "            if u64(own) * 4 > mask * 3:",
        "                return -1",
        "            put64(own, u64(own) + 1)",
        "            put64(row + 8, word)",
        *(f"            put64(row + {8 * (_HEAD + at)}, noted(o, {first + at}))" for at in range(judged.words)),
        "            return at",
        "        if u64(row + 8) == word:",
        "            same = 0",
        *(f"            same |= u64(row + {8 * (_HEAD + at)}) ^ noted(o, {first + at})" for at in range(judged.words)),
        "            if same == 0:",
        "                return at",
        "        tried += 1",
        f"        at = ((word >> {_FAR}) if tried == {_TRIES} else at + 1) & mask",
        "",
        "",
        "def loop(base, offsets, lengths, transport, n, c, s, want, results, table, mask, slow, scratch):",
        "    o = (scratch + 63) & ~63",
        f"    z = o + {8 * LANES * (first + judged.slots)}",
        "    left_out = i = 0",
        "    while i < n:",
        f"        count = min(n - i, {LANES})",
        "        some = j = 0",
        "        while j < count:",
        f"            if i + j + {AHEAD} < n:",
        f"                ahead = base + u64(offsets + 8 * (i + j + {AHEAD}))",
        *(f"                prefetch(ahead + {64 * at})" for at in range(LINES)),
        f"                prefetch(ahead + u32(lengths + 4 * (i + j + {AHEAD})) - 1)",
        "            one = o + 8 * j",
        "            p = base + u64(offsets + 8 * (i + j))",
        f"            udp = 1 if u8(transport + i + j) == {UDP} else 0",
        "            have = decode(p, u32(lengths + 4 * (i + j)), udp, one, z)",
        "            put8(slow + i + j, 0 if have >= 0 else -have)",
        "            have = max(have, 0)",
        f"            note(one, {have}, have)",
        "            some |= have",
        "            j += 1",
        f"        while j < {LANES}:",
        f"            note(o + 8 * j, {have}, 0)",
        "            j += 1",
        *(["        judge(o, some)"] if judged.words else []),
        "        hashed(o)",
        "        for j in range(count):",
        "            one = o + 8 * j",
        "            number = -1",
        "            signed = 0",
        "            why = u8(slow + i + j)",
        "            if why == 0:",
        f"                why = {Slow.LETTERS:d}",
        f"                if noted(one, {slots['Packet.odd']}) != 0:",
        f"                    why = {Slow.ODD:d}",
        f"                elif noted(one, {slots['Packet.letters']}) == 0:",
        f"                    why = {Slow.CROWDED:d}",
        f"                    signed = noted(one, {slots['Packet.signed']})",
        f"                    if signed != 0 and u8(transport + i + j) != {SIGNED_APART}:",
        f"                        why = {Slow.SIGNED:d}",
        "                    else:",
        "                        number = number_of(one, table, mask)",
        "            put32(results + 4 * (i + j), number)",
        "            if number < 0:",
        "                put8(slow + i + j, why)",
        "                left_out += 1",
        "                continue",
        f"            put8(slow + i + j, {Slow.SIGNED:d} if signed != 0 else {Slow.NOT:d})",
        "            left_out += signed",
        f"            row = table + {stride} * number",
        "            put64(row, u64(row) + 1)",
        "            if want != 0:",
        "                begin = u64(offsets + 8 * (i + j))",
        f"                fill(base + begin, one, noted(one, {have}), z, begin, c + 8 * (i + j), s)",
        f"        i += {LANES}",
        "    return left_out",
        "",
    ]
    return "\n".join([fill_code(shapes, columns), "", "", *lines])


def _multiplier(at: int) -> int:
    """Return an odd number of 64 bits, different for each word of an outcome."""
    raw = hashlib.sha256(f"word {at}".encode()).digest()
    return int.from_bytes(raw[:8], "little", signed=True) | 1


def judge_code(judged: Judged, first: int) -> str:
    """Emit `judge(o, some)`: the outcome words of decoded packets, from slot `first` on. some: their sections."""
    lines = [
        "@wide",
        "def begin(o):",
        *(f"    note(o, {first + at}, 0)" for at in range(judged.words)),
        "",
        "",
        "@apart",
        "def judge(o, some):",
        "    begin(o)",
    ]
    for sections, name in judged.calls:
        lines += [f"    if some & {sections:#x} == {sections:#x}:", f"        {name}(o)"]
    return "\n".join([judged.source, "", "", *lines, "    return 0", ""])


def chunks(keys: Sequence[str], judging: Callable[[Shapes, int], Judged]) -> Chunks:
    """Make the loop for these columns and rules; it is compiled by the first call in any process.

    judging: returns the functions that judge, given the places and the first slot of their words.
    """
    shapes, code = shapes_and_code()
    first = len(shapes.slots)
    judged = judging(shapes, first)
    columns = column_set(shapes, keys)
    unseen = [one for one in shapes.sections if one not in NEVER_JUDGED and seen(one) not in code]
    if unseen:
        raise UnknownShapeError(f"nothing looks at {', '.join(unseen)}")
    parts = [Path(texts.__file__).read_text("utf-8"), code, judge_code(judged, first)]
    parts.append(chunk_code(shapes, judged, first, columns))
    source = _without_unread("\n\n".join(parts))
    scratch = LANES * (1 + first + judged.slots) + ZEROS // 8
    return Chunks(source, shapes, columns, judged.words, scratch)


def _without_unread(code: str) -> str:
    """Remove the notes in slots that no code reads."""
    read = set(re.findall(r"noted\(o, (\d+)\)", code)) | set(re.findall(r"noted\(one, (\d+)\)", code))

    def kept(found: re.Match[str]) -> str:
        return found[0] if found["slot"] in read else f"{found['depth']}pass"

    return re.sub(r"(?P<depth>^ +)note\(o, (?P<slot>\d+), .*$", kept, code, flags=re.MULTILINE)
