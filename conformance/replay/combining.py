"""Counting which sender had which outcome how often, as numba compiles it. What the numbers mean: see `senders`."""

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
