"""The state of one connection in arrays, in the form in which the rules read and change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from conformance.judge.sessions.columns import layout as at
from conformance.judge.sessions.columns.rows import View, flag, optional, register
from conformance.judge.sessions.counts import Acknowledged
from conformance.judge.sessions.flow import KEPT, Covered


class DirectionView(View):
    """See `counts.Direction`."""

    known = flag(at.KNOWN)
    sent = register(at.SENT)
    recoverable = register(at.RECOVERABLE)
    ahead = recoverable_ahead = 0  # Only the rules read it.


class AcknowledgedView(View):
    """See `counts.Acknowledged`."""

    count = optional(at.ACK_COUNT)
    recoverable = optional(at.ACK_RECOVERABLE)
    missing: set[int] | None = None  # Only the rules read it: usual numbers follow each other.
    take, skip = Acknowledged.take, Acknowledged.skip


class TimersView(View):
    """See `flow.Timers`."""

    recoverable_ms = optional(at.RECOVERABLE_MS)
    express_ms = optional(at.EXPRESS_MS)


class Nodes:
    """The messages under way of all connections."""

    def __init__(self, count: int) -> None:
        self.nodes = np.zeros((count, 3), np.int64)
        self.cursor = np.zeros(at.CURSOR, np.int64)
        self.cursor[[at.KEPT, at.DUE, at.CLASS]] = KEPT, (1 << 63) - 1, -1
        self._free(0, count)

    def _free(self, first: int, count: int) -> None:
        self.nodes[first : first + count, at.NODE_NEXT] = np.arange(first + 1, first + count + 1)
        self.nodes[first + count - 1, at.NODE_NEXT] = self.cursor[at.FREE_NODE] if first else -1
        self.cursor[at.FREE_NODE] = first
        self.cursor[at.FREE_NODES] += count

    def ensure(self, count: int) -> None:
        """Make room for this many more messages."""
        while self.cursor[at.FREE_NODES] < count:
            before = len(self.nodes)
            self.nodes = np.concatenate([self.nodes, np.zeros_like(self.nodes)])
            self._free(before, before)

    def new(self) -> int:
        """Return a node."""
        self.ensure(1)
        node = int(self.cursor[at.FREE_NODE])
        self.cursor[at.FREE_NODE] = self.nodes[node, at.NODE_NEXT]
        self.cursor[at.FREE_NODES] -= 1
        return node

    def give_back(self, first: int, last: int, count: int) -> None:
        """Take back a chain of nodes."""
        self.nodes[last, at.NODE_NEXT] = self.cursor[at.FREE_NODE]
        self.cursor[at.FREE_NODE] = first
        self.cursor[at.FREE_NODES] += count


class UnderWayView(View):
    """See `flow.UnderWay`."""

    head, tail, length = register(at.HEAD), register(at.TAIL), register(at.LENGTH)

    def __init__(self, store: Callable[[], Any], row: int, first: int, nodes: Nodes) -> None:
        super().__init__(store, row, first)
        self.nodes = nodes

    def add(self, time_ns: int, *, recoverable: bool) -> None:
        """See `UnderWay.add`."""
        if self.length >= KEPT:
            self.take(1)
        node = self.nodes.new()
        self.nodes.nodes[node] = -1, time_ns, recoverable
        if self.length:
            self.nodes.nodes[self.tail, at.NODE_NEXT] = node
        else:
            self.head = node
        self.tail = node
        self.length += 1

    def messages(self) -> Iterator[tuple[int, bool]]:
        """See `UnderWay.messages`."""
        node = self.head
        for _ in range(self.length):
            node, time_ns, recoverable = self.nodes.nodes[node].tolist()
            yield time_ns, bool(recoverable)

    def take(self, count: int) -> Covered | None:
        """See `UnderWay.take`."""
        count = min(count, self.length)
        if not count:
            return None
        nodes, node, last = self.nodes.nodes, self.head, -1
        first_ns, recoverable_ns, recoverable = int(nodes[node, at.NODE_TIME]), None, 0
        for _ in range(count):
            if nodes[node, at.NODE_RECOVERABLE]:
                recoverable_ns = int(nodes[node, at.NODE_TIME]) if recoverable_ns is None else recoverable_ns
                recoverable += 1
            last, node = node, int(nodes[node, at.NODE_NEXT])
        self.nodes.give_back(self.head, last, count)
        self.head, self.length = node, self.length - count
        return Covered(first_ns, recoverable_ns, recoverable)


class FlowSideView(View):
    """See `flow.FlowSide`."""

    window = optional(at.WINDOW)
    before = register(at.BEFORE)
    named = optional(at.NAMED)

    def __init__(self, store: Callable[[], Any], row: int, first: int, nodes: Nodes) -> None:
        super().__init__(store, row, first)
        self.under_way = UnderWayView(store, row, first, nodes)
        self._pending: Any = None

    @property
    def pending(self) -> Any:
        """See `FlowSide.pending`."""
        return self._pending

    @pending.setter
    def pending(self, pending: Any) -> None:
        self._pending = pending
        self.store()[self.row, self.first + at.PENDING] = pending is not None
