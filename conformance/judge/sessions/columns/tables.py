"""Tables of int64 rows with keys of three words, in order of entry: the same functions in Python and machine code."""

from __future__ import annotations

from typing import Any

from conformance.judge.sessions.columns.layout import (
    COUNT,
    FILLED,
    FREE,
    K0,
    K1,
    K2,
    LIMIT,
    NEWER,
    NEWEST,
    NEXT,
    OLDER,
    OLDEST,
)  # fmt: skip

_BITS = 0x7FFFFFFF


def bucket(k0: int, k1: int, k2: int, buckets: int) -> int:
    """Return the bucket of a key. buckets: a power of two. No product exceeds 62 bits, so that Python agrees."""
    mixed = ((k0 ^ (k0 >> 32)) & _BITS) * 0x2545F491
    mixed ^= ((k1 ^ (k1 >> 32)) & _BITS) * 0x1B873593
    mixed ^= ((k2 ^ (k2 >> 32)) & _BITS) * 0x165667B1
    mixed ^= mixed >> 29
    return (mixed ^ (mixed >> 15)) & (buckets - 1)


def find(heads: Any, rows: Any, k0: int, k1: int, k2: int) -> int:
    """Return the row of a key, -1 without one."""
    row: int = heads[bucket(k0, k1, k2, len(heads))]
    while row >= 0:
        if rows[row, K0] == k0 and rows[row, K1] == k1 and rows[row, K2] == k2:
            break
        row = rows[row, NEXT]
    return row


def remove(ends: Any, heads: Any, rows: Any, row: int) -> int:
    """Take a row out of its table; return it."""
    place = bucket(rows[row, K0], rows[row, K1], rows[row, K2], len(heads))
    if heads[place] == row:
        heads[place] = rows[row, NEXT]
    else:
        at = heads[place]
        while rows[at, NEXT] != row:
            at = rows[at, NEXT]
        rows[at, NEXT] = rows[row, NEXT]
    unlink(ends, rows, row)
    rows[row, NEXT] = ends[FREE]
    ends[FREE] = row
    ends[COUNT] -= 1
    return row


def unlink(ends: Any, rows: Any, row: int) -> int:
    """Take a row out of the order of entry; return it."""
    older, newer = rows[row, OLDER], rows[row, NEWER]
    if older >= 0:
        rows[older, NEWER] = newer
    else:
        ends[OLDEST] = newer
    if newer >= 0:
        rows[newer, OLDER] = older
    else:
        ends[NEWEST] = older
    return row


def link(ends: Any, rows: Any, row: int) -> int:
    """Put a row behind all others; return it."""
    last = ends[NEWEST]
    rows[row, OLDER], rows[row, NEWER] = last, -1
    if last >= 0:
        rows[last, NEWER] = row
    else:
        ends[OLDEST] = row
    ends[NEWEST] = row
    return row


def add(ends: Any, heads: Any, rows: Any, k0: int, k1: int, k2: int) -> int:
    """Add a key as the newest, and forget the oldest if there are too many; return its row, with any content."""
    if ends[COUNT] >= ends[LIMIT]:
        remove(ends, heads, rows, ends[OLDEST])
    row: int = ends[FREE]
    if row >= 0:
        ends[FREE] = rows[row, NEXT]
    else:
        row = ends[FILLED]
        ends[FILLED] = row + 1
    place = bucket(k0, k1, k2, len(heads))
    rows[row, K0], rows[row, K1], rows[row, K2], rows[row, NEXT] = k0, k1, k2, heads[place]
    heads[place] = row
    link(ends, rows, row)
    ends[COUNT] += 1
    return row


def forget(ends: Any, heads: Any, rows: Any, frame: int, oldest: int) -> int:
    """Remove the rows of packets up to the number `oldest`; return how many. frame: the word of a row with its number.

    The rows are in the order of their numbers.
    """
    count = 0
    while ends[OLDEST] >= 0 and rows[ends[OLDEST], frame] <= oldest:
        remove(ends, heads, rows, ends[OLDEST])
        count += 1
    return count


def touch(ends: Any, rows: Any, row: int) -> int:
    """Make a row the newest; return it."""
    if ends[NEWEST] != row:
        unlink(ends, rows, row)
        link(ends, rows, row)
    return row
