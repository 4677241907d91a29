"""Tables of int64 rows with keys of three words, which plain Python and machine code read and change in the same way.

A table is one flat array: its ends, then the rows, and behind them for each bucket the first row in it. A row is named
by the place of its first word, and -1 is none. The functions are in the language of `flow_steps`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, ClassVar, Final, TypeVar

from conformance.judge.sessions.context import MAX_HOSTS, MAX_REMEMBERED

# The ends: how many rows there are, and may be; the oldest and the newest; the first of the free rows; the place behind
# the rows used so far; the words of a row; the place of the buckets.
COUNT, LIMIT, OLDEST, NEWEST, FREE, FILLED, SIZE, BUCKETS = range(8)
ENDS: Final = 8
# A row: its key, the next row of its bucket, the rows that came just before and after, and its content.
K0, K1, K2, NEXT, OLDER, NEWER, DATA = range(7)

# The number of the last packet, in each table that forgets by it.
FRAME = DATA
# A remembered message: the place of its bytes, -1 for an object; their number; and the place and size of its body.
KNOWN_WHERE, KNOWN_SIZE, KNOWN_BODY_AT, KNOWN_BODY_SIZE = range(DATA + 1, DATA + 5)
# A transactional message.
SENT_SEQUENCE, SENT_NUMBER, SENT_PREVIOUS, SENT_CONNECTION, SENT_FINAL, SENT_AGAIN = range(DATA + 1, DATA + 7)
# A transaction.
GROUP_ENDED, GROUP_SEQUENCE, GROUP_CONNECTION = range(DATA + 1, DATA + 4)
# The sequences of a queue manager. FOLLOWED: the scope that is followed. FAILED: bits of those that are refuted. Then
# for each scope FIRST, LAST and LENGTH of a chain of its current sequences, the oldest first.
FOLLOWED, FAILED, FIRST, LAST, LENGTH = range(DATA, DATA + 5)
CHAIN: Final = 3
# A current sequence. HIGHEST: the last number given to a new message, NONE before. FOLLOWING: the next one of the
# chain. HOSTS_0, HOSTS_1: the words of its hosts.
IDENTIFIER, HIGHEST, CONNECTION, GENERATION, FOLLOWING, HOSTS_0, HOSTS_1 = range(DATA, DATA + 7)
# The one number of a table of numbers.
NUMBER = DATA

_BITS = 0x7FFFFFFF
_LEAST = 8  # Rows of a new table.


def bucket(table: Any, k0: int, k1: int, k2: int) -> int:
    """Return the place of the bucket of a key. No product exceeds 62 bits, so that Python agrees."""
    mixed = ((k0 ^ (k0 >> 32)) & _BITS) * 0x2545F491
    mixed ^= ((k1 ^ (k1 >> 32)) & _BITS) * 0x1B873593
    mixed ^= ((k2 ^ (k2 >> 32)) & _BITS) * 0x165667B1
    mixed ^= mixed >> 29
    first: int = table[BUCKETS]
    return first + ((mixed ^ (mixed >> 15)) & (len(table) - first - 1))


def find(table: Any, k0: int, k1: int, k2: int) -> int:
    """Return the row of a key, -1 without one."""
    row: int = table[bucket(table, k0, k1, k2)]
    while row >= 0:
        if table[row + K0] == k0 and table[row + K1] == k1 and table[row + K2] == k2:
            break
        row = table[row + NEXT]
    return row


def remove(table: Any, row: int) -> int:
    """Take a row out of its table; return it."""
    place = bucket(table, table[row + K0], table[row + K1], table[row + K2])
    if table[place] == row:
        table[place] = table[row + NEXT]
    else:
        at = table[place]
        while table[at + NEXT] != row:
            at = table[at + NEXT]
        table[at + NEXT] = table[row + NEXT]
    unlink(table, row)
    table[row + NEXT] = table[FREE]
    table[FREE] = row
    table[COUNT] -= 1
    return row


def unlink(table: Any, row: int) -> int:
    """Take a row out of the order of entry; return it."""
    older, newer = table[row + OLDER], table[row + NEWER]
    if older >= 0:
        table[older + NEWER] = newer
    else:
        table[OLDEST] = newer
    if newer >= 0:
        table[newer + OLDER] = older
    else:
        table[NEWEST] = older
    return row


def link(table: Any, row: int) -> int:
    """Put a row behind all others; return it."""
    last = table[NEWEST]
    table[row + OLDER], table[row + NEWER] = last, -1
    if last >= 0:
        table[last + NEWER] = row
    else:
        table[OLDEST] = row
    table[NEWEST] = row
    return row


def add(table: Any, k0: int, k1: int, k2: int) -> int:
    """Add a key as the newest, and forget the oldest if there are too many; return its row, with any content."""
    if table[COUNT] >= table[LIMIT]:
        remove(table, table[OLDEST])
    row: int = table[FREE]
    if row >= 0:
        table[FREE] = table[row + NEXT]
    else:
        row = table[FILLED]
        table[FILLED] = row + table[SIZE]
    place = bucket(table, k0, k1, k2)
    table[row + K0], table[row + K1], table[row + K2], table[row + NEXT] = k0, k1, k2, table[place]
    table[place] = row
    link(table, row)
    table[COUNT] += 1
    return row


def forget(table: Any, oldest: int) -> int:
    """Remove the rows of packets up to the number `oldest`, the first ones; return how many."""
    count = 0
    while table[OLDEST] >= 0 and table[table[OLDEST] + FRAME] <= oldest:
        remove(table, table[OLDEST])
        count += 1
    return count


def touch(table: Any, row: int) -> int:
    """Make a row the newest; return it."""
    if table[NEWEST] != row:
        unlink(table, row)
        link(table, row)
    return row


LOWERED: Final = (bucket, find, unlink, link, remove, add, forget, touch)
"""The functions that compiled code includes."""

Key = tuple[int, int, int]
T = TypeVar("T", bound="Table")


class Table:
    """A table. most: rows it may have. width: words of its content. The array is replaced by a larger one."""

    most: ClassVar[int] = MAX_HOSTS
    width: ClassVar[int] = 1

    def __init__(self) -> None:
        self.words = array("q", (0, self.most, -1, -1, -1, ENDS, DATA + self.width, ENDS))
        self._resize(_LEAST)

    def __len__(self) -> int:
        return self.words[COUNT]

    def find(self, key: Key) -> int:
        """Return the row of a key, -1 without one."""
        return find(self.words, *key)

    def row(self, key: Key) -> int:
        """Return the row of a key, a new one with any content if there is none."""
        row = find(self.words, *key)
        if row < 0:
            self.ensure(1)
            row = add(self.words, *key)
        return row

    def fill(self, row: int, content: tuple[int, ...]) -> None:
        """Write the first words of the content of a row."""
        self.words[row + DATA : row + DATA + len(content)] = array("q", content)

    def rows(self) -> Iterator[int]:
        """Yield the rows, the oldest first."""
        row = self.words[OLDEST]
        while row >= 0:
            yield row
            row = self.words[row + NEWER]

    def forget(self, oldest: int) -> None:
        """Forget the packets up to the number `oldest`."""
        forget(self.words, oldest)

    def ensure(self, count: int) -> None:
        """Make room for so many more rows, as far as there may be so many."""
        words = self.words
        wanted, room = min(words[COUNT] + count, words[LIMIT]), (words[BUCKETS] - ENDS) // words[SIZE]
        if wanted > room:
            self._resize(max(wanted, min(2 * room, words[LIMIT])))

    def trim(self) -> None:
        """Give back the room for more rows."""
        self._resize((self.words[FILLED] - ENDS) // self.words[SIZE])

    def _resize(self, room: int) -> None:
        used = self.words[: self.words[FILLED]]
        end = ENDS + room * used[SIZE]
        empty = array("q", [-1]) * (1 << (2 * room).bit_length())
        self.words = words = used + array("q", bytes(8 * (end - len(used)))) + empty  # Compiled code may have the old.
        words[BUCKETS] = end
        for row in self.rows():
            place = bucket(words, *words[row : row + NEXT])
            words[row + NEXT], words[place] = words[place], row

    def renew(self) -> dict[int, int]:
        """Begin anew with the rows of a state that was stored; return by the old row the new one.

        A stranger may have written it: keys, content and order are taken over, but no link. Raises ValueError,
        TypeError, OverflowError, AttributeError or LookupError for what is no table.
        """
        old, size = self.words, DATA + self.width
        Table.__init__(self)
        count = min(old[COUNT], self.most)
        self.ensure(min(count, len(old) // size))
        words, row, moved = self.words, old[OLDEST], dict[int, int]()
        for _ in range(count):
            k0, k1, k2 = old[row : row + NEXT]
            content = old[row + NEXT : row + size]
            if row < ENDS or len(content) != size - NEXT or find(words, k0, k1, k2) >= 0:
                raise ValueError("a table has links that lead nowhere")
            moved[row] = new = add(words, k0, k1, k2)
            words[new + DATA : new + size] = content[DATA - NEXT :]
            row = content[NEWER - NEXT]
        return moved


class Recent(Table):
    """A table of what belongs to a packet, and is forgotten after so many packets."""

    most = MAX_REMEMBERED
