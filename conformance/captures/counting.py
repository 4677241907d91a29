"""The compiled function that counts packets by sender, outcome and pattern, loaded on first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from conformance.capture.columns import places
from conformance.captures import counting_code
from conformance.captures.counting_code import COUNT, GUID, HIGH, LOW, NAMED, WIDTH
from conformance.wire.columns.lowered import lowered, source_of
from conformance.wire.columns.machine import Wanted

__all__ = ["CAPACITY", "COUNT", "GUID", "HIGH", "LOW", "NAMED", "WIDTH", "combine", "wanted"]
CAPACITY = 1 << 14
"""Rows of the table, a power of two. It has one more, which counts those in use."""


@cache
def wanted() -> Wanted:
    """Return the machine code, which may exist already."""
    return lowered("counting", source_of(counting_code, places), "count_in", 15)


@cache
def _function() -> Callable[..., int]:
    return wanted().function()


def combine(
    results: Any, columns: Any, whose: tuple[int, int, int, int], begin: int, count: int, meta: Any, named: Any,
    addresses: Any, given: Any, patterns: Any, table: Any,
) -> int:  # fmt: skip
    """Count the packets from `begin` to `count`; return the first that found the table full, `count` if none did.

    results: int32, number of the outcome, -1 for a packet that is not counted. columns: int64 rows. whose: the row of
    flags and the bits there that tell whether hop count and queue manager are present; the row of the hop count; the
    first of the two rows of SourceQueueManager. named, addresses: int32 by 2 * connection + side: the number of a name,
    or 0. given: int32, the number of the packet's sender if it is already known, else 0; afterwards the number of its
    sender, -1 for the queue manager that the packet names. patterns: int32, of the session rules. table:
    int64[CAPACITY + 1, WIDTH].
    """
    flags, bits, hops, manager = whose
    base, step = columns.ctypes.data, 8 * columns.shape[1]
    return _function()(
        results.ctypes.data, base + step * flags, bits, base + step * hops, base + step * manager,
        base + step * (manager + 1), begin, count, meta.ctypes.data, named.ctypes.data, addresses.ctypes.data,
        given.ctypes.data, patterns.ctypes.data, table.ctypes.data, len(table) - 1,
    )  # fmt: skip
