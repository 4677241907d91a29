"""The table of what is counted of packets, written to be lowered: the loop of `counting.combine`.

These functions are never run as Python (see `conformance.wire.columns.lowering`). An array is its address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.capture.columns.places import OF_CONNECTION, OF_NUMBER, OF_SIDE, OF_TIME

if TYPE_CHECKING:
    from conformance.wire.columns.calls import get, put, put32, select, u32


# A row of the table.
CODE = 0
HIGH = 1
LOW = 2
COUNT = 3
FIRST = 4
LAST = 5
FIRST_NS = 6
LAST_NS = 7
WIDTH = 8
# The content of HIGH and LOW of a row: a queue manager's identifier as the packet has it, or the number of a name.
GUID = 1
NAMED = 2
_META = 64
_NONE = 0xFFFF_FFFF
_MIX = -7046029254386353131
_SPREAD = 0x1E37_79B9_7F4A_7C15


def row_at(table: int, capacity: int, code: int, high: int, low: int) -> int:
    """Return the row of a sender, outcome and pattern, or a free one for them."""
    mixed = (low ^ high * 31 ^ code * _SPREAD) * _MIX
    at = (mixed >> 33) & (capacity - 1)
    while True:
        row = table + at * (8 * WIDTH)
        if get(row, COUNT) == 0:
            return row
        if (get(row, CODE) ^ code) | (get(row, HIGH) ^ high) | (get(row, LOW) ^ low) == 0:
            return row
        at = (at + 1) & (capacity - 1)


def count_in(
    results: int, flags: int, bits: int, hops: int, one: int, other: int, begin: int, count: int, meta: int,
    named: int, addresses: int, given: int, patterns: int, table: int, capacity: int,
) -> int:  # fmt: skip
    """Count the packets from `begin` to `count`; return the first that found the table full, `count` if none did."""
    own = table + capacity * (8 * WIDTH)
    at = begin
    while at < count:
        outcome = u32(results + 4 * at)
        if outcome != _NONE:
            of = meta + _META * at
            whose = 8 * get(of, OF_CONNECTION) + 4 * get(of, OF_SIDE)
            low = u32(given + 4 * at)
            low = select(low, low, u32(named + whose))
            high = 0
            kind = NAMED
            who = low
            if low == 0:
                # If nothing else identifies the sender: the queue manager that the packet names, or its address.
                low = u32(addresses + whose)
                who = low
                if get(flags, at) & bits == bits and get(hops, at) == 0 and get(one, at) | get(other, at) != 0:
                    kind = GUID
                    high = get(one, at)
                    low = get(other, at)
                    who = _NONE
            code = u32(patterns + 4 * at) << 32 | outcome << 2 | kind
            row = row_at(table, capacity, code, high, low)
            number = get(of, OF_NUMBER)
            time = get(of, OF_TIME)
            if get(row, COUNT) == 0:
                if get(own, COUNT) * 4 > capacity * 3:
                    return at
                put(own, COUNT, get(own, COUNT) + 1)
                put(row, CODE, code)
                put(row, HIGH, high)
                put(row, LOW, low)
                put(row, FIRST, number)
                put(row, LAST, number)
                put(row, FIRST_NS, time)
                put(row, LAST_NS, time)
            put32(given + 4 * at, who)
            put(row, COUNT, get(row, COUNT) + 1)
            put(row, FIRST, min(get(row, FIRST), number))
            put(row, LAST, max(get(row, LAST), number))
            put(row, FIRST_NS, min(get(row, FIRST_NS), time))
            put(row, LAST_NS, max(get(row, LAST_NS), time))
        at += 1
    return count
