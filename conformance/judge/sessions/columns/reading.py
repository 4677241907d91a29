"""Numba functions that read the columns of one packet."""

from __future__ import annotations

from typing import Any

from numba.extending import register_jitable

from conformance.capture.columns.intrinsics import u8, u16
from conformance.judge.sessions.columns import tables
from conformance.judge.sessions.columns.layout import F_DIRECT, F_MANAGER, F_PRIVATE, F_PUBLIC, NONE
from conformance.judge.sessions.flow import TICK_MS
from conformance.judge.sessions.lifetimes import AHEAD, BEHIND, RIGHT
from conformance.judge.sessions.words import queue_lane
from conformance.wire.columns.jit import compiled

for _function in (
    tables.bucket, tables.find, tables.unlink, tables.link, tables.remove, tables.add, tables.forget,
    tables.touch, queue_lane,
):  # fmt: skip
    register_jitable(_function)

_MIX = -7046029254386353131
_LONGEST_NAME = 600  # Bytes.


@compiled
def has(columns: Any, places: Any, key: int, row: int) -> int:
    there: int = (columns[places[key, 0], row] >> places[key, 1]) & 1
    return there


@compiled
def value(columns: Any, places: Any, key: int, row: int) -> int:
    """Return a number, NONE for an absent one."""
    found: int = columns[places[key, 2], row]
    return found if has(columns, places, key, row) else NONE


@compiled
def after(later: int, earlier: int) -> int:
    return ((later - earlier + 0x8000) & 0xFFFF) - 0x8000


@compiled
def bits_of(number: int) -> int:
    count = 0
    while number > 0:
        number >>= 1
        count += 1
    return count


@compiled
def mixed(before: int, word: int) -> int:
    made = (before ^ word) * _MIX
    return made ^ ((made >> 29) & 0x7FFFFFFFF)


@compiled
def queue_words(columns: Any, places: Any, row: int, base: int, out: Any) -> int:
    """Write the two words of a destination queue, as `words.queue_words`; return 1 for a name that Python must read."""
    a = b = c = d = 1
    for key in (F_MANAGER, F_PUBLIC):
        there = has(columns, places, key, row)
        a, b = queue_lane(a, there, 0x2545F491), queue_lane(b, there, 0x1B873593)
        c, d = queue_lane(c, there, 0x165667B1), queue_lane(d, there, 0x27D4EB2F)
        for at in range(2):
            word = columns[places[key, 2] + at, row] if there else 0
            for _ in range(4):
                part = word & 0xFFFF
                a, b = queue_lane(a, part, 0x2545F491), queue_lane(b, part, 0x1B873593)
                c, d = queue_lane(c, part, 0x165667B1), queue_lane(d, part, 0x27D4EB2F)
                word >>= 16
    private = value(columns, places, F_PRIVATE, row)
    private = -1 if private == NONE else private
    for part in (private & 0xFFFF, (private >> 16) & 0xFFFF, (private >> 32) & 1):
        a, b = queue_lane(a, part, 0x2545F491), queue_lane(b, part, 0x1B873593)
        c, d = queue_lane(c, part, 0x165667B1), queue_lane(d, part, 0x27D4EB2F)
    if has(columns, places, F_DIRECT, row):
        begin, size = base + columns[places[F_DIRECT, 2], row], columns[places[F_DIRECT, 2] + 1, row]
        if size > _LONGEST_NAME:
            return 1
        for at in range(begin, begin + size, 2):
            part = u16(at)
            if part >= 128:
                return 1
            if 65 <= part <= 90:
                part += 32
            a, b = queue_lane(a, part, 0x2545F491), queue_lane(b, part, 0x1B873593)
            c, d = queue_lane(c, part, 0x165667B1), queue_lane(d, part, 0x27D4EB2F)
    out[0], out[1] = a << 31 | b, c << 31 | d
    return 0


@compiled
def text_word(columns: Any, first: int, row: int, base: int, word: int) -> int:
    """Return a word for a text or bytes and all before it. first: the column of its place."""
    begin, size = base + columns[first, row], columns[first + 1, row]
    for at in range(begin, begin + size):
        word = mixed(word, u8(at))
    return mixed(word, size)


@compiled
def is_early(time: int, begun: int, whole: int) -> int:
    """Tell whether three quarters of a time in ms, which began then, are not gone. See `Flow._is_early`."""
    return 1 if (time - begun) // 1_000_000 + TICK_MS < whole * 3 // 4 else 0


@compiled
def is_time(age: int, smallest: int) -> int:
    """Tell what is said of SentTime: 1 for that it is right, 0 for nothing, -1 where the rules decide themselves.

    smallest: the smallest age of a message of this queue manager. See `Lifetimes._is_time`.
    """
    if -RIGHT <= smallest <= RIGHT:
        return 1 if -AHEAD <= age <= BEHIND else -1
    return -1 if -RIGHT <= age <= RIGHT else 0
