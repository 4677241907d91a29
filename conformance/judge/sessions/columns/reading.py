"""Numba functions that read the columns of one packet."""

from __future__ import annotations

from typing import Any

from numba.extending import register_jitable

from conformance.capture.columns.intrinsics import prefetch, u8, u16, u64
from conformance.judge.sessions.columns import tables
from conformance.judge.sessions.columns.layout import (
    F_DIRECT,
    F_KIND,
    F_MANAGER,
    F_MESSAGE,
    F_PRIVATE,
    F_PUBLIC,
    F_SOURCE,
    K0,
    K1,
    K2,
    KNOWN_WIDTH,
    NEWER,
    NONE,
    OLDEST,
    SESSION,
    SESSION_WIDTH,
)  # fmt: skip
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
_LINE = 64  # Bytes of a line of the cache.
_LONGEST_NAME = 600  # Bytes.
# Of four UTF-16 units: bits that no ASCII has, what carries from A and what from behind Z on, and where it carries to.
_NO_ASCII, _FROM_A, _BEHIND_Z, _CARRIED = (
    -0x007F007F007F0080, 0x003F003F003F003F, 0x0025002500250025, 0x0080008000800080,
)  # fmt: skip


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
def known_bucket(columns: Any, places: Any, row: int, buckets: int) -> int:
    """Return the bucket of a message among those remembered; any for a packet that is none."""
    source = places[F_SOURCE, 2]
    return tables.bucket(columns[source, row], columns[source + 1, row], columns[places[F_MESSAGE, 2], row], buckets)


@compiled
def request(columns: Any, places: Any, row: int, base: int, slot: int, sessions: Any, heads: Any) -> int:
    """Request from memory what a packet that comes soon needs: its session, its queue and its bucket."""
    if slot >= 0:
        session = sessions.ctypes.data + 8 * SESSION_WIDTH * slot
        for line in range(0, 8 * SESSION_WIDTH, _LINE):
            prefetch(session + line)
    if columns[places[F_KIND, 2], row] != SESSION:
        name = base + columns[places[F_DIRECT, 2], row]
        prefetch(name)
        prefetch(name + _LINE)
        prefetch(heads.ctypes.data + 8 * known_bucket(columns, places, row, len(heads)))
    return 0


@compiled
def request_known(columns: Any, places: Any, row: int, heads: Any, known: Any) -> int:
    """Request the first message in the bucket of a packet that comes next."""
    if columns[places[F_KIND, 2], row] != SESSION:
        found = heads[known_bucket(columns, places, row, len(heads))]
        if found >= 0:
            prefetch(known.ctypes.data + 8 * KNOWN_WIDTH * found)
    return 0


@compiled
def request_oldest(ends: Any, heads: Any, known: Any) -> int:
    """Request what it takes to forget the next two of the remembered messages."""
    row = ends[OLDEST]
    if row < 0 or known[row, NEWER] < 0:
        return 0
    row = known[row, NEWER]
    found = heads[tables.bucket(known[row, K0], known[row, K1], known[row, K2], len(heads))]
    prefetch(known.ctypes.data + 8 * KNOWN_WIDTH * found)
    row = known[row, NEWER]
    if row >= 0:
        prefetch(heads.ctypes.data + 8 * tables.bucket(known[row, K0], known[row, K1], known[row, K2], len(heads)))
    return 0


@compiled
def four_letters(word: int) -> int:
    """Return four UTF-16 units, the first in the lowest bits, as lower-case ASCII of 7 bits each; -1 for others."""
    if word & _NO_ASCII:
        return -1
    word |= ((word + _FROM_A) & ~(word + _BEHIND_Z) & _CARRIED) >> 2
    word |= word >> 9
    return (word & 0x3FFF) | ((word >> 18) & 0xFFFC000)


@compiled
def queue_words(columns: Any, places: Any, row: int, base: int, out: Any) -> int:
    """Write the two words of a destination queue, as `words.queue_words`; return 1 for a name that Python must read."""
    a = b = c = d = 1
    for key in (F_MANAGER, F_PUBLIC):
        there = has(columns, places, key, row)
        a, b = queue_lane(a, there, 0x2545F491), queue_lane(b, there, 0x1B873593)
        c, d = queue_lane(c, there, 0x165667B1), queue_lane(d, there, 0x27D4EB2F)
        if there:
            for at in range(2):
                word = columns[places[key, 2] + at, row]
                for part in (word & 0x3FFFFF, (word >> 22) & 0x1FFFFF, (word >> 43) & 0x1FFFFF):
                    a, b = queue_lane(a, part, 0x2545F491), queue_lane(b, part, 0x1B873593)
                    c, d = queue_lane(c, part, 0x165667B1), queue_lane(d, part, 0x27D4EB2F)
    private = value(columns, places, F_PRIVATE, row)
    private = -1 if private == NONE else private
    begin, size = 0, 0
    if has(columns, places, F_DIRECT, row):
        begin, size = base + columns[places[F_DIRECT, 2], row], columns[places[F_DIRECT, 2] + 1, row]
        if size > _LONGEST_NAME:
            return 1
    for part in (private & 0xFFFF, (private >> 16) & 0x1FFFF, size >> 1):
        a, b = queue_lane(a, part, 0x2545F491), queue_lane(b, part, 0x1B873593)
        c, d = queue_lane(c, part, 0x165667B1), queue_lane(d, part, 0x27D4EB2F)
    for at in range(0, size >> 1, 4):
        word, left = 0, (size >> 1) - at
        if left >= 4:
            word = u64(begin + 2 * at)
        else:
            for one in range(left):
                word |= u16(begin + 2 * (at + one)) << 16 * one
        part = four_letters(word)
        if part < 0:
            return 1
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
