"""Maps pages of a mapped file before they are read: page faults for a few pages each take twice as long."""

from __future__ import annotations

import ctypes
import mmap
from contextlib import suppress
from functools import cache
from typing import Any

STEP = 8 << 20
_POPULATE_READ = 22  # MADV_POPULATE_READ of Linux 5.14
_PAGE = mmap.PAGESIZE


class Pages:
    """The pages of one file. address: of its first byte."""

    def __init__(self, mapped: mmap.mmap, address: int) -> None:
        self._map, self._address = mapped, address
        self._done = 0

    def reach(self, position: int, stop: int) -> None:
        """Map the next pages from `position` on, as far as `stop`, if they are in memory.

        Other pages are left to page faults: while one waits for the disk, the system reads ahead.
        """
        if position + STEP // 2 < self._done or stop <= position:
            return
        begin = max(position & -_PAGE, self._done if self._done <= position + STEP else 0)
        end = min(begin + 2 * STEP, stop)
        if begin >= end:
            return
        self._done = end
        if _in_memory(self._address + ((end - 1) & -_PAGE)):
            with suppress(OSError):  # Older systems lack it; errors of the file appear when it is read.
                self._map.madvise(_POPULATE_READ, begin, end - begin)


@cache
def _mincore() -> Any:
    with suppress(OSError, AttributeError):
        found = ctypes.CDLL(None).mincore
        found.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
        return found
    return None


def _in_memory(address: int) -> bool:
    """Return True when the page at this address need not be read from the disk."""
    mincore, resident = _mincore(), ctypes.c_ubyte()
    return mincore is not None and mincore(address, _PAGE, ctypes.addressof(resident)) == 0 and bool(resident.value & 1)
