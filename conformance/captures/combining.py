"""Numba functions that count outcomes by sender, and that find packets to be judged one by one."""

from __future__ import annotations

from typing import Any

from conformance.capture.columns import places
from conformance.capture.columns.intrinsics import source_of
from conformance.capture.columns.places import OF_CONNECTION
from conformance.captures import sender_table
from conformance.wire.columns.jit import compiled, lowered

_count = lowered(source_of(sender_table, places), "count_in")


@compiled
def combine(
    results: Any, columns: Any, flags: int, bits: int, hops: int, manager: int, begin: int, count: int, meta: Any,
    named: Any, addresses: Any, given: Any, table: Any,
) -> int:  # fmt: skip
    """Count the packets from `begin` to `count`; return the first that found the table full, `count` if none did.

    results: int32, number of the outcome, -1 for a packet that is not counted. columns: int64 rows: `flags` tells, in
    `bits`, whether hops and manager are present; hops: the row of the hop count; manager: the first of the two rows of
    SourceQueueManager. named, addresses: int32 by 2 * connection + side: the number of a name, or 0. given: int32, the
    number of the packet's sender if it is already known, else 0. table: int64[CAPACITY + 1, WIDTH]; the last row counts
    the used ones.
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
    """Put the rows to be judged one by one into `out`, and return their number.

    A row is chosen if it is slow, if `look` has its outcome (with looked_at), or if its connection is unsettled (with
    opening).
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
    """Put the first row of each unsettled connection into `out`, and return their number."""
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
