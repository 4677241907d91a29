"""Make the texts of packets from the columns of compiled code, each text once, and count what deviates by queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.capture.columns.places import OF_NUMBER
from conformance.capture.columns.reader import Rows as Found
from conformance.captures.engine import destination
from conformance.judge.packets.signatures import CERTIFICATE
from conformance.judge.sessions.senders import HOPS, MANAGER
from conformance.pipeline.rows import plain
from conformance.wire import dissect
from conformance.wire.columns.table import ColumnSet
from conformance.wire.decode import guid_text

if TYPE_CHECKING:
    import pyarrow

KIND, NUMBER, CLASS = "Packet.Kind", "UserHeader.MessageID", "MessagePropertiesHeader.MessageClass"
TRANSACTION = "TransactionHeader.Flags"
_PREFIX = "UserHeader.DestinationQueue."
_QUEUE = (
    f"{_PREFIX}DirectFormatName#",
    f"{_PREFIX}PublicQueueIdentifier",
    f"{_PREFIX}PrivateQueueIdentifier",
    "UserHeader.QueueManagerAddress",
)
KEYS = (HOPS, MANAGER, CERTIFICATE, KIND, NUMBER, CLASS, TRANSACTION, *_QUEUE)
_MOST = 1 << 18
"""Texts in the cache; when there are more, it is emptied."""
_ODD = 0x9E3779B97F4A7C15


class Texts:
    """Texts by number, each made once. make: returns the text of one row."""

    def __init__(self) -> None:
        self.known: dict[int, str | None] = {}

    def of(self, numbers: Any, make: Callable[[int], str | None]) -> pyarrow.Array:
        """Return the text of each row. numbers: int64, equal for equal texts."""
        import pyarrow as pa

        found = pa.array(numbers).dictionary_encode()
        if len(self.known) > _MOST:
            self.known.clear()
        known, different = self.known, found.dictionary.to_pylist()
        for number in different:
            if number not in known:
                known[number] = make(int((numbers == number).argmax()))
        return pa.array([known[number] for number in different], pa.string()).take(found.indices)

    def one(self, number: int, make: Callable[[], str | None]) -> str | None:
        """Return the text of one number."""
        if number not in self.known:
            if len(self.known) > _MOST:
                self.known.clear()
            self.known[number] = make()
        return self.known[number]


QUEUES, MANAGERS = Texts(), Texts()
"""Shared by all captures, because the numbers depend only on the bytes of the packets."""


class Numbers:
    """Reads such numbers from columns. columns: the place of each key."""

    def __init__(self, columns: ColumnSet) -> None:
        self.columns = columns

    def there(self, values: Any, key: str) -> Any:
        """Return which packets have the key."""
        column = self.columns[key]
        return (values[column.flags] >> column.bit & 1).astype(bool)

    def of(self, values: Any, key: str) -> Any:
        """Return a number for each row, the same for the same value; 0 if there is none."""
        return mixed(self.parts(values, key), self.there(values, key))

    def parts(self, values: Any, key: str) -> list[Any]:
        """Return the columns of a value."""
        column = self.columns[key]
        return [values[column.at + at] for at in range(column.width)]

    def queue(self, values: Any) -> Any:
        """Return a number for each row, the same for the same destination queue."""
        total = np.zeros(values.shape[1], np.int64)
        for number, key in enumerate(_QUEUE):
            there = self.there(values, key)
            total ^= mixed([*self.parts(values, key), np.full(len(total), number + 1)], there)
        return total

    def manager(self, values: Any, row: int) -> str:
        """Return the SourceQueueManager of a row."""
        column = self.columns[MANAGER]
        return guid_text(values[column.at : column.at + 2, row].tobytes())


def mixed(parts: Sequence[Any], there: Any) -> Any:
    """Mix several numbers into one; 0 for rows where they are absent."""
    with np.errstate(over="ignore"):
        total = np.full(len(there), _ODD, np.uint64)  # So that a value of zeros is not 0.
        for part in parts:
            total = (total ^ part.astype(np.uint64)) * np.uint64(_ODD)
            total ^= total >> np.uint64(29)
    return np.where(there, total.astype(np.int64), 0)


def numbered(senders: Any, managers: Any) -> Any:
    """Return a number for each sender.

    senders: the number of its name, or -1 for the queue manager that made the packet. managers: the number of
    that queue manager.
    """
    return np.where(senders >= 0, senders, managers | np.int64(-1 << 63))  # Numbers of names are below 2**31.


def queue_text(data: bytes) -> str | None:
    """Return the destination queue of a packet."""
    found = destination(dissect(data, transport="tcp"))
    return None if found is None else plain(found)


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
