"""Which sender had which outcome how often, and which packets are to be looked at, as numba compiles it: all are asked.

What the numbers mean: see `senders`.
"""

from __future__ import annotations

from typing import Any

from conformance.capture.columns.places import OF_CONNECTION, OF_NUMBER, OF_SIDE
from conformance.replay.senders import COUNT, FIRST, GUID, HIGH, LAST, LOW, NAMED, OUTCOME, USED
from conformance.wire.columns.jit import compiled


@compiled
def combine(
    results: Any, columns: Any, flags: int, bits: int, hops: int, manager: int, begin: int, count: int, meta: Any,
    named: Any, addresses: Any, given: Any, table: Any,
) -> int:  # fmt: skip
    """Count the packets from `begin` to `count` in; returns the first that found the table full, `count` if none did.

    results: int32, number of the outcome, -1 for a packet that is not counted. columns: int64 rows: `flags` has, under
    `bits`, whether hops and manager are there; hops: the row of the hop count; manager: the first of the two of
    SourceQueueManager. named, addresses: int32 by 2 * connection + side: the number of a name, or 0. given: int32, that
    of the packet's sender where it is known already. table: int64[CAPACITY + 1, WIDTH]; the last row counts the others.
    """
    capacity = table.shape[0] - 1
    for row in range(begin, count):
        outcome = results[row]
        if outcome < 0:
            continue
        whose = 2 * meta[row, OF_CONNECTION] + meta[row, OF_SIDE]
        low = named[whose]
        if given[row]:
            low = given[row]
        high = 0
        kind = NAMED
        if low == 0:
            low = addresses[whose]
            if columns[flags, row] & bits == bits and columns[hops, row] == 0:
                one, other = columns[manager, row], columns[manager + 1, row]
                if one or other:
                    kind, high, low = GUID, one, other
        code = outcome << 2 | kind
        mixed = (low ^ high * 31 ^ code * 0x9E3779B9) * -7046029254386353131
        at = (mixed >> 33) & (capacity - 1)
        while table[at, USED] and (table[at, OUTCOME] != code or table[at, HIGH] != high or table[at, LOW] != low):
            at = (at + 1) & (capacity - 1)
        number = meta[row, OF_NUMBER]
        if not table[at, USED]:
            if table[capacity, USED] * 4 > capacity * 3:
                return row
            table[capacity, USED] += 1
            table[at, USED] = 1
            table[at, HIGH] = high
            table[at, LOW] = low
            table[at, OUTCOME] = code
            table[at, COUNT] = 0
            table[at, FIRST] = number
            table[at, LAST] = number
        table[at, COUNT] += 1
        table[at, FIRST] = min(table[at, FIRST], number)
        table[at, LAST] = max(table[at, LAST], number)
    return count


@compiled
def marked(
    slow: Any, results: Any, look: Any, looked_at: bool, meta: Any, unsettled: Any, opening: bool, count: int, out: Any
) -> int:
    """Put the rows that are to be looked at one by one into `out`; how many.

    They are slow, or `look` has their outcome (with looked_at), or (with opening) their connection is unsettled.
    """
    found = 0
    for row in range(count):
        wanted = slow[row] != 0
        if looked_at and look[results[row]] != 0:
            wanted = True
        if opening and unsettled[meta[row, OF_CONNECTION]] != 0:
            wanted = True
        if wanted:
            out[found] = row
            found += 1
    return found


@compiled
def firsts(meta: Any, unsettled: Any, count: int, out: Any) -> int:
    """Put the first row of each unsettled connection into `out`; how many."""
    found = 0
    for row in range(count):
        connection = meta[row, OF_CONNECTION]
        if unsettled[connection] == 1:
            unsettled[connection] = 2
            out[found] = row
            found += 1
    for at in range(found):
        unsettled[meta[out[at], OF_CONNECTION]] = 1
    return found
