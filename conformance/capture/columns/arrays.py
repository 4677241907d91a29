"""The arrays that a walk writes to, reused from one walk to the next: allocating and clearing them takes time."""

from __future__ import annotations

import numpy as np

from conformance.capture.columns import places as p

_MOST_KEPT = 2


class Arrays:
    """The arrays of one walk; `places` describes their content. used: the rows of connections to be cleared."""

    def __init__(self) -> None:
        self.cursor = np.zeros(p.CURSOR, np.int64)
        self.flows = np.zeros((p.TABLE, p.FLOW), np.int64)
        self.nodes = np.zeros((p.NODES, 4), np.int64)
        self.told = np.zeros((p.TELLINGS, 8), np.int64)
        self.spare = np.zeros(p.SPARE, np.uint8)
        self.spare_at = int(self.spare.ctypes.data)
        self.arena = np.zeros(p.ARENA, np.uint8)
        self.places = [np.zeros((2, p.ROWS), np.int64) for _ in range(2)]
        self.meta = [np.zeros((p.ROWS, 8), np.int64) for _ in range(2)]
        self.used: list[int] = []
        self._link()

    def _link(self) -> None:
        self.nodes[:, p.NEXT] = np.arange(1, p.NODES + 1)
        self.nodes[-1, p.NEXT] = -1
        self.cursor[p.FREE], self.cursor[p.FREE_COUNT] = 0, p.NODES

    def clear(self) -> None:
        """Reset the arrays; unreferenced parts of buffers keep their content."""
        free, count = self.cursor[[p.FREE, p.FREE_COUNT]].tolist()
        self.cursor[:] = 0
        if count == p.NODES:
            self.cursor[p.FREE], self.cursor[p.FREE_COUNT] = free, count
        else:
            self._link()
        self.flows[self.used] = 0
        self.used.clear()


_KEPT: list[Arrays] = []


def lend() -> Arrays:
    """Return arrays for one walk."""
    try:
        return _KEPT.pop()
    except IndexError:
        return Arrays()


def give_back(arrays: Arrays) -> None:
    """Take back arrays; neither they nor batches that point into them may be used any more."""
    if len(_KEPT) < _MOST_KEPT:
        arrays.clear()
        _KEPT.append(arrays)


__all__ = ["Arrays", "give_back", "lend"]
