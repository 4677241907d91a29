"""Tables of int64 rows with keys of three words, and objects whose attributes are the numbers of a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance.judge.sessions.columns import layout as at
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
)

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


class Rows:
    """A table, see `layout`. most: rows it may hold. width: words of a row."""

    def __init__(self, most: int, width: int) -> None:
        buckets = 1 << max(4, (2 * most - 1).bit_length())
        self.heads = np.full(buckets, -1, np.int64)
        self.rows = np.zeros((most + 1, width), np.int64)
        self.ends = np.zeros(at.ENDS, np.int64)
        self.ends[[at.LIMIT, at.OLDEST, at.NEWEST, at.FREE]] = most, -1, -1, -1

    def __len__(self) -> int:
        return int(self.ends[at.COUNT])

    def find(self, key: tuple[int, int, int]) -> int:
        """Return the row of a key, -1 without one."""
        return int(find(self.heads, self.rows, *key))

    def add(self, key: tuple[int, int, int]) -> int:
        """Add a key; return its row."""
        return int(add(self.ends, self.heads, self.rows, *key))

    def remove(self, row: int) -> None:
        """Remove a row."""
        remove(self.ends, self.heads, self.rows, row)

    def in_order(self) -> Iterator[int]:
        """Yield the rows, the oldest first."""
        row = int(self.ends[at.OLDEST])
        while row >= 0:
            yield row
            row = int(self.rows[row, at.NEWER])

    def numbers(self) -> Any:
        """Return the numbers of the rows, the oldest first."""
        return np.fromiter(self.in_order(), np.int64, len(self))

    def by(self, word: int) -> Any:
        """Return the numbers of the rows, the oldest first, of a table from which only the oldest is ever removed.

        word: one that grows from one row to the next, so that free rows have less in it than the oldest.
        """
        if not len(self):
            return np.zeros(0, np.int64)
        values = self.rows[: self.ends[at.FILLED], word]
        found = np.flatnonzero(values >= values[self.ends[at.OLDEST]])
        return found[np.argsort(values[found])]

    def fill(self, keys: Any, content: Any) -> None:
        """Add rows to an empty table, the oldest first. keys: int64[n, 3]. content: int64[n, words]."""
        count, rows = len(keys), self.rows
        assert not self.ends[at.FILLED] and count <= self.ends[at.LIMIT]
        if not count:
            return
        rows[:count, : at.K2 + 1], rows[:count, at.DATA : at.DATA + content.shape[1]] = keys, content
        place: Any = bucket(keys[:, 0], keys[:, 1], keys[:, 2], len(self.heads))
        order = np.argsort(place, kind="stable")
        same = place[order[1:]] == place[order[:-1]]
        rows[order, at.NEXT] = np.concatenate(([-1], np.where(same, order[:-1], -1)))
        self.heads[place] = -1
        np.maximum.at(self.heads, place, np.arange(count))
        rows[:count, at.OLDER], rows[:count, at.NEWER] = np.arange(-1, count - 1), np.arange(1, count + 1)
        rows[count - 1, at.NEWER] = -1
        self.ends[[at.COUNT, at.OLDEST, at.NEWEST, at.FILLED]] = count, 0, count - 1, count


class Growing(Rows):
    """A table that is enlarged when it is full. It tells nobody: arrays must be looked up again before each run."""

    def __init__(self, most: int, width: int) -> None:
        super().__init__(most, width)

    def add(self, key: tuple[int, int, int]) -> int:
        """Add a key; return its row."""
        if len(self) + 1 >= len(self.rows) - 1:
            self._grow()
        return super().add(key)

    def _grow(self) -> None:
        wider = np.zeros((2 * len(self.rows), self.rows.shape[1]), np.int64)
        wider[: len(self.rows)] = self.rows
        self.rows = wider
        self.ends[at.LIMIT] = len(wider) - 1
        self.heads = np.full(2 * len(self.heads), -1, np.int64)
        for row in self.in_order():
            place = bucket(int(wider[row, at.K0]), int(wider[row, at.K1]), int(wider[row, at.K2]), len(self.heads))
            wider[row, at.NEXT] = self.heads[place]
            self.heads[place] = row


class Index(Growing):
    """The rows found by key, or by the number of a row."""

    def __init__(self) -> None:
        super().__init__(1 << 10, at.INDEX_WIDTH)

    def row(self, key: tuple[int, int, int], content: tuple[int, ...]) -> int:
        """Add a key with this content; return its row."""
        row = self.add(key)
        self.rows[row, at.DATA :] = 0
        self.rows[row, at.DATA : at.DATA + len(content)] = content
        return row
