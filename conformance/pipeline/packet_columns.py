"""The packets of a batch as one Arrow table, from the columns that compiled code has filled: no packet by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.capture.columns.places import OF_CONNECTION, OF_NUMBER, OF_RECORD, OF_SIDE, OF_TIME
from conformance.capture.columns.reader import Rows as Found
from conformance.judge.columns.kernel import CAPACITY as OUTCOMES
from conformance.pipeline.rows import plain
from conformance.pipeline.schemas import PACKETS
from conformance.replay.columns import HOPS, MANAGER
from conformance.replay.engine import destination
from conformance.replay.sums import Meaning
from conformance.verdict import Outcome, worst
from conformance.wire import dissect
from conformance.wire.columns.table import Column, ColumnSet
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
KEYS = (HOPS, MANAGER, KIND, NUMBER, CLASS, TRANSACTION, *_QUEUE)
_MOST = 1 << 18
"""Texts remembered; more different ones than this are worked out again."""
_ODD = 0x9E3779B97F4A7C15


class Texts:
    """Texts by a number that stands for them, worked out once each. make: the text of one row."""

    def __init__(self) -> None:
        self.known: dict[int, str | None] = {}

    def of(self, numbers: Any, make: Callable[[int], str | None]) -> pyarrow.Array:
        """The text of each row. numbers: int64, equal for equal texts."""
        import pyarrow as pa

        found = pa.array(numbers).dictionary_encode()
        if len(self.known) > _MOST:
            self.known.clear()
        known, different = self.known, found.dictionary.to_pylist()
        for number in different:
            if number not in known:
                known[number] = make(int((numbers == number).argmax()))
        return pa.array([known[number] for number in different], pa.string()).take(found.indices)


class Said:
    """What outcomes come to, worked out once each."""

    def __init__(self) -> None:
        self.places: Any = np.full(2 * OUTCOMES, -1, np.int32)
        self.worst: list[str | None] = []
        self.deviating: list[list[str]] = []

    def of(self, results: Any, meanings: Mapping[int, Meaning]) -> tuple[pyarrow.Array, pyarrow.Array]:
        """The worst outcome of each row, and the requirements whose outcome is not pass."""
        import pyarrow as pa

        where = self.places[results]
        if (where < 0).any():
            for outcome in np.unique(results[where < 0]).tolist():
                keys = meanings[outcome].keys
                rolled = worst(key[1] for key in keys)
                self.places[outcome] = len(self.worst)
                self.worst.append(rolled and rolled.value)
                self.deviating.append(list(dict.fromkeys(key[0] for key in keys if key[1] is not Outcome.PASS)))
            where = self.places[results]
        at = pa.array(where)
        return pa.array(self.worst, pa.string()).take(at), pa.array(self.deviating, pa.list_(pa.string())).take(at)


class PacketColumns:
    """Makes tables of `packets` without `date`. capture, stream: what is the same in each row."""

    def __init__(self, columns: ColumnSet, capture: str, stream: str) -> None:
        self.columns, self.capture, self.stream = columns, capture, stream
        self.queues, self.managers, self.senders, self.said = Texts(), Texts(), Texts(), Said()
        kind = columns[KIND].place
        self.kinds = list(kind.words)

    def table(
        self,
        found: Found,
        values: Any,
        results: Any,
        senders: Any,
        names: Sequence[str],
        addresses: Any,
        ports: Any,
        meanings: Mapping[int, Meaning],
    ) -> pyarrow.Table:
        """The packets of a batch with an outcome.

        values: the columns. results: the outcome of each row, -1 for those that are told otherwise. senders: number of
        its sender's name, -1 for the queue manager that made it. addresses, ports: by 2 * connection + side.
        """
        import pyarrow as pa

        rows = np.flatnonzero(results >= 0)
        meta = found.meta[rows]
        values, results = values[:, rows], results[rows]
        whose = 2 * meta[:, OF_CONNECTION] + meta[:, OF_SIDE]
        other = whose ^ 1

        def data(row: int) -> bytes:
            return found.data(int(rows[row]))

        def manager(row: int) -> str:
            column = self.columns[MANAGER]
            return guid_text(values[column.at : column.at + 2, row].tobytes())

        there = self._there(values, MANAGER)
        made = _mixed(self._values(values, MANAGER), there)
        sent = senders[rows]
        sender = np.where(sent >= 0, sent, made | np.int64(-1 << 63))  # Numbers of names are below 2**31.
        out = {
            "capture_id": pa.repeat(self.capture, len(rows)),
            "stream_id": pa.repeat(self.stream, len(rows)),
            "number": pa.array(meta[:, OF_NUMBER]),
            "record": pa.array(meta[:, OF_RECORD]),
            "time": pa.array(meta[:, OF_TIME] // 1000).cast(pa.timestamp("us", tz="UTC")),
            "transport": pa.repeat("tcp", len(rows)),
            "connection": pa.array(meta[:, OF_CONNECTION]),
            "side": pa.array(["initiator", "acceptor"]).take(pa.array(meta[:, OF_SIDE])),
            "source": _named(names, addresses[whose]),
            "source_port": pa.array(ports[whose]),
            "destination": _named(names, addresses[other]),
            "destination_port": pa.array(ports[other]),
            "kind": pa.array(self.kinds).take(pa.array(values[self.columns[KIND].at])),
            "queue": self.queues.of(self._queue(values), lambda row: _queue(data(row))),
            "sender": self.senders.of(sender, lambda row: names[sent[row]] if sent[row] >= 0 else manager(row)),
            "source_manager": self.managers.of(
                np.where(there, made, 0), lambda row: manager(row) if there[row] else None
            ),
            "message_id": self._number(values, NUMBER, pa.int64()),
            "message_class": self._number(values, CLASS, pa.int32()),
            "transactional": pa.array(self._there(values, TRANSACTION)),
            "length": pa.array(found.lengths[rows].astype(np.int32)),
            "trouble": pa.nulls(len(rows), pa.string()),
        }
        out["worst"], out["deviating"] = self.said.of(results, meanings)
        schema = PACKETS.arrow()
        return pa.table([out[name].cast(schema.field(name).type) for name in schema.names], schema=schema)

    def _there(self, values: Any, key: str) -> Any:
        column = self.columns[key]
        return (values[column.flags] >> column.bit & 1).astype(bool)

    def _values(self, values: Any, key: str) -> list[Any]:
        column: Column = self.columns[key]
        return [values[column.at + at] for at in range(column.width)]

    def _number(self, values: Any, key: str, kind: Any) -> pyarrow.Array:
        import pyarrow as pa

        return pa.array(values[self.columns[key].at], mask=~self._there(values, key)).cast(kind, safe=False)

    def _queue(self, values: Any) -> Any:
        """A number for each row that is the same for the same queue."""
        total = np.zeros(values.shape[1], np.int64)
        for number, key in enumerate(_QUEUE):
            there = self._there(values, key)
            total ^= _mixed([*self._values(values, key), np.full(len(total), number + 1)], there)
        return total


def _mixed(parts: Sequence[Any], there: Any) -> Any:
    """One number of several; 0 where they are not there."""
    with np.errstate(over="ignore"):
        total = np.zeros(len(there), np.uint64)
        for part in parts:
            total = (total ^ part.astype(np.uint64)) * np.uint64(_ODD)
            total ^= total >> np.uint64(29)
    return np.where(there, total.astype(np.int64), 0)


def _named(names: Sequence[str], numbers: Any) -> pyarrow.Array:
    import pyarrow as pa

    found = pa.array(numbers).dictionary_encode()
    return pa.array([names[number] for number in found.dictionary.to_pylist()], pa.string()).take(found.indices)


def _queue(data: bytes) -> str | None:
    found = destination(dissect(data, transport="tcp"))
    return None if found is None else plain(found)
