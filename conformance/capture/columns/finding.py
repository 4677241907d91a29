"""Where the next record of a capture file begins, behind damage or anywhere within it."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from conformance.capture.records import MAX_RECORD

CHAIN = 8  # Records in a row that must be plausible for their beginning to be believed.
_DAY_S = 86_400
_WINDOW = 1 << 20  # Bytes looked through at a time.


def next_record(data: memoryview, start: int, stop: int, *, order: str, unit: int, header: int) -> int | None:
    """The first offset in [start, stop) from which on plausible records stand in a row, None when there is none.

    A record is plausible when it kept some bytes and no more than there were, its fraction is less than a second, and
    it is not a day or more from the one before it. order: `<` or `>`. unit: nanoseconds of a fraction. header: bytes.
    """
    while start < stop:
        end = min(start + _WINDOW, stop)
        window = np.frombuffer(data[start : min(end + 15, len(data))], np.uint8)
        for at in _plausible(window, order, 1_000_000_000 // unit):
            offset = start + int(at)
            if offset < end and _chain(data, offset, order, unit, header):
                return offset
        start = end
    return None


def _plausible(window: Any, order: str, fractions: int) -> Any:
    """The places in the window where the header of a plausible record could stand."""
    count = len(window) - 15
    if count <= 0:
        return ()

    def word(at: int) -> Any:
        places = range(3, -1, -1) if order == "<" else range(4)
        value = np.zeros(count, np.int64)
        for place in places:
            value = value << 8 | window[at + place : at + place + count]
        return value

    kept, length = word(8), word(12)
    return np.flatnonzero((kept > 0) & (kept <= length) & (length <= MAX_RECORD) & (word(4) < fractions))


def _chain(data: memoryview, at: int, order: str, unit: int, header: int) -> bool:
    """Whether enough plausible records stand in a row here, or all up to the very end of the file."""
    layout, fractions = struct.Struct(f"{order}IIII"), 1_000_000_000 // unit
    before: int | None = None
    for _ in range(CHAIN):
        if at == len(data):
            return before is not None
        if at + header > len(data):
            return False
        seconds, fraction, kept, length = layout.unpack_from(data, at)
        if not 0 < kept <= length <= MAX_RECORD or fraction >= fractions:
            return False
        if before is not None and abs(seconds - before) > _DAY_S:
            return False
        before = seconds
        at += header + kept
    return at <= len(data)
