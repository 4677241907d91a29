"""The messages in transactions of a queue manager that several parts meet (`conformance.judge.sessions.columns.parts`).

A part that judges the first message of a sequence asks for the message before it, which another part may remember: it
is told. Transactions must each be in one part, as far as one is remembered while the next of the same name comes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from conformance.capture import Frame
from conformance.capture.columns.places import ROWS
from conformance.captures.in_place import code_for
from conformance.judge.columns.kernel import CAPACITY
from conformance.judge.sessions.context import MAX_REMEMBERED
from conformance.judge.sessions.overheard import Recalled
from conformance.pipeline.connections_openings import Told
from conformance.pipeline.texts import KEYS
from conformance.wire import dissect
from conformance.wire.columns.chunks import SIGNED_APART

NUMBER, TRANSACTION = "TransactionHeader.TxSequenceNumber", "TransactionHeader.Flags.ID"
NONE: Final = -1
BUCKETS: Final = 20
"""The bits of a bucket."""


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages in order: int64 each. transactions, places: identifiers, and numbers in their sequence; NONE without.

    frames: returns the frame of one, as long as `owner` keeps the bytes in their place.
    """

    identifiers: Any
    numbers: Any
    buckets: Any
    transactions: Any
    places: Any
    frames: Callable[[int], Frame]
    owner: object = None

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(slots=True)
class Sent:
    """The messages of one queue manager so far. apart: False if parts of one of its transactions are in two buckets.

    sends: the buckets of its messages in transactions. met: identifiers with their buckets, by batch.
    """

    apart: bool = True
    sends: set[int] = field(default_factory=set)
    met: list[Any] = field(default_factory=list)
    _recent: deque[Messages] = field(default_factory=deque)
    _transactions: Any = field(default_factory=lambda: np.zeros((0, 3), np.int64))

    def batch(self, found: Messages) -> list[Told]:
        """Take the messages of a batch; return those that other parts must know of."""
        if not len(found):
            return []
        self.met.append(np.unique(found.identifiers << BUCKETS | found.buckets))
        self._recent.append(found)
        last = int(found.numbers[-1])
        while self._recent[0].numbers[-1] <= last - 2 * MAX_REMEMBERED:
            self._recent.popleft()
        named = np.flatnonzero(found.transactions != NONE)
        if len(named):
            self._grouped(np.column_stack((found.transactions, found.numbers, found.buckets))[named])
        asking = np.flatnonzero((found.places != NONE) & (found.places <= 1))
        return self._recalls(found, asking.tolist()) if len(asking) else []

    def identifiers(self) -> Any:
        """Return all identifiers, each with its bucket as `joined`; int64, in order."""
        return np.unique(np.concatenate([np.zeros(0, np.int64), *self.met]))

    def _grouped(self, rows: Any) -> None:
        """Take messages in transactions. rows: int64[n, 3], transaction, number and bucket."""
        self.sends.update(np.unique(rows[:, 2]).tolist())
        rows = np.concatenate((self._transactions, rows))
        found = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        before, after = found[:-1], found[1:]
        near = (before[:, 0] == after[:, 0]) & (after[:, 1] - before[:, 1] < MAX_REMEMBERED)
        self.apart = self.apart and not bool((near & (before[:, 2] != after[:, 2])).any())
        self._transactions = rows[rows[:, 1] > int(rows[-1, 1]) - MAX_REMEMBERED]

    def _recalls(self, found: Messages, asking: Sequence[int]) -> list[Told]:
        """Return what is remembered by others of the messages just before these."""
        identifiers = np.concatenate([one.identifiers for one in self._recent])
        numbers = np.concatenate([one.numbers for one in self._recent])
        order = np.argsort(identifiers, kind="stable")
        ordered = identifiers[order]
        wanted = found.identifiers[asking] - 1
        begins, ends = np.searchsorted(ordered, wanted, "left"), np.searchsorted(ordered, wanted, "right")
        out = []
        for at, begin, end in zip(asking, begins.tolist(), ends.tolist(), strict=True):
            number, bucket = int(found.numbers[at]), int(found.buckets[at])
            meant = [one for one in order[begin:end].tolist() if numbers[one] < number]
            if len(meant) != 1 or numbers[meant[0]] <= number - MAX_REMEMBERED:
                continue  # Of one that came several times, it is not seen here which is remembered.
            one, row = self._at(meant[0])
            if int(one.buckets[row]) != bucket:
                out.append(Told(number, bucket, Recalled(one.frames(row)), alone=True))
        return out

    def _at(self, row: int) -> tuple[Messages, int]:
        for one in self._recent:
            if row < len(one):
                return one, row
            row -= len(one)
        raise IndexError(row)


def joined(identifier: int, bucket: int) -> int:
    """Return a message and the bucket in which it is judged as one number."""
    return identifier << BUCKETS | bucket


def elsewhere(met: Any, identifier: int, bucket: int) -> bool:
    """Tell whether another bucket has a message with this identifier. met: of `Sent.identifiers`."""
    begin, end = np.searchsorted(met, [joined(identifier, 0), joined(identifier + 1, 0)]).tolist()
    return any(one != joined(identifier, bucket) for one in met[begin:end].tolist())


class Decoding:
    """Reads the transactions of messages with the code that decodes packets for the rules."""

    def __init__(self) -> None:
        self._code = code_for(sessions=True, keys=KEYS)
        self._chunk, self._counts = self._code.chunk(ROWS), self._code.counts(CAPACITY)
        self._chunk.transport[:] = SIGNED_APART

    def rows(self, buffer: Any, offsets: Any, lengths: Any) -> tuple[Any, Any]:
        """Return the transactions and the numbers in their sequence of some packets, NONE where there is none."""
        transactions, places = np.full(len(offsets), NONE), np.full(len(offsets), NONE)
        for begin in range(0, len(offsets), ROWS):
            part = slice(begin, min(begin + ROWS, len(offsets)))
            count, chunk = part.stop - begin, self._chunk
            chunk.offsets, chunk.lengths[:count] = np.ascontiguousarray(offsets[part]), lengths[part]
            self._code.judge(buffer, chunk, count, self._counts)
            for key, into in ((TRANSACTION, transactions), (NUMBER, places)):
                column = self._code.chunks.columns[key]
                there = chunk.columns[column.flags, :count] >> column.bit & 1
                into[part] = np.where(there == 1, chunk.columns[column.at, :count], NONE)
            for row in np.flatnonzero(chunk.results[:count] < 0).tolist():
                at = int(chunk.offsets[row])
                data = bytes(buffer[at : at + int(chunk.lengths[row])])
                found = of_packet(dissect(data, transport="tcp").fields)
                transactions[begin + row], places[begin + row] = found
        return transactions, places


def of_packet(fields: Mapping[str, Any]) -> tuple[int, int]:
    """Return the transaction and the number in its sequence of a packet, NONE where there is none."""
    transaction, place = (fields.get(key) for key in (TRANSACTION, NUMBER))
    return (
        transaction if isinstance(transaction, int) else NONE,
        place if isinstance(place, int) else NONE,
    )  # fmt: skip
