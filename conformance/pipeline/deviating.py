"""Count packets with an outcome other than pass, by sender, destination queue and outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.capture.columns.places import OF_NUMBER
from conformance.capture.columns.reader import Rows as Found
from conformance.judge.sessions.senders import MANAGER
from conformance.pipeline.texts import QUEUES, Numbers, mixed, numbered, queue_text

MOST = 1 << 16
"""Combinations of sender, queue and outcome in a range; packets beyond that are counted without their queue."""


@dataclass(slots=True)
class Deviating:
    """The number of packets of a sender, to a queue, with an outcome. first: the lowest of their numbers."""

    sender: str
    queue: str | None
    outcome: int
    count: int
    first: int


class ByQueue:
    """The counts of a range. numbers: reads the columns."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self.known: dict[int | tuple[str, int], Deviating] = {}

    def add(self, found: Found, rows: Any, values: Any, outcomes: Any, senders: Any, names: Sequence[str]) -> None:
        """Count these rows of a batch.

        values: their columns. senders: for each the number of a name, or -1 for the queue manager that made the packet.
        """
        queues = self.numbers.queue(values)
        who = numbered(senders, self.numbers.of(values, MANAGER))
        whole = mixed([who, queues, outcomes], np.ones(len(rows), bool))
        keys, at, counts = np.unique(whole, return_index=True, return_counts=True)

        def name(row: int) -> str:
            return names[senders[row]] if senders[row] >= 0 else self.numbers.manager(values, row)

        firsts = found.meta[rows[at], OF_NUMBER]
        for key, row, count, first in zip(keys.tolist(), at.tolist(), counts.tolist(), firsts.tolist(), strict=True):
            known = self.known.get(key)
            if known is None:
                known = self._new(key, found, int(rows[row]), int(queues[row]), int(outcomes[row]), first, name(row))
            known.count += count
            known.first = min(known.first, first)

    def _new(self, key: int, found: Found, row: int, queue: int, outcome: int, first: int, sender: str) -> Deviating:
        if len(self.known) >= MOST:
            return self.known.setdefault((sender, outcome), Deviating(sender, None, outcome, 0, first))
        text = QUEUES.one(queue, lambda: queue_text(found.data(row)))
        return self.known.setdefault(key, Deviating(sender, text, outcome, 0, first))
