"""Which sender had which outcome how often, and which packets are to be looked at, as numba compiles it."""

from __future__ import annotations

from typing import Any

from conformance.capture.columns import places
from conformance.capture.columns.places import OF_CONNECTION
from conformance.capture.columns.words import source_of
from conformance.replay import tallying
from conformance.wire.columns.jit import compiled, lowered

_count = lowered(source_of(tallying, places), "count_in")


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
    return int(
        _count(
            (
                results.ctypes.data,
                columns.ctypes.data + 8 * columns.shape[1] * flags,
                bits,
                columns.ctypes.data + 8 * columns.shape[1] * hops,
                columns.ctypes.data + 8 * columns.shape[1] * manager,
                columns.ctypes.data + 8 * columns.shape[1] * (manager + 1),
                begin,
                count,
                meta.ctypes.data,
                named.ctypes.data,
                addresses.ctypes.data,
                given.ctypes.data,
                table.ctypes.data,
                table.shape[0] - 1,
            )
        )
    )


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
