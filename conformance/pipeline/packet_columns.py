"""Convert the packets of a batch to one Arrow table, from the columns of compiled code and without decoding packets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.capture.columns.places import OF_CONNECTION, OF_NUMBER, OF_RECORD, OF_SIDE, OF_TIME
from conformance.capture.columns.reader import Rows as Found
from conformance.captures.meanings import Meaning
from conformance.captures.senders import Ends
from conformance.judge.columns.kernel import CAPACITY as OUTCOMES
from conformance.judge.sessions.senders import MANAGER
from conformance.pipeline.schemas import PACKETS
from conformance.pipeline.texts import (
    CLASS,
    KIND,
    MANAGERS,
    NUMBER,
    QUEUES,
    TRANSACTION,
    Numbers,
    Texts,
    numbered,
    queue_text,
)
from conformance.verdict import Outcome, worst
from conformance.wire.columns.table import ColumnSet

if TYPE_CHECKING:
    import pyarrow


class Said:
    """The roll-up of each outcome, computed once."""

    def __init__(self) -> None:
        self.places: Any = np.full(2 * OUTCOMES, -1, np.int32)
        self.worst: list[str | None] = []
        self.deviating: list[list[str]] = []

    def of(self, results: Any, meanings: Mapping[int, Meaning]) -> tuple[pyarrow.Array, pyarrow.Array]:
        """Return the worst outcome of each row, and its requirements with an outcome other than pass."""
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
    """Makes tables of `packets` without `date`. capture, stream: the same in each row."""

    def __init__(self, columns: ColumnSet, capture: str, stream: str) -> None:
        self.columns, self.capture, self.stream = columns, capture, stream
        self.numbers, self.senders, self.said = Numbers(columns), Texts(), Said()
        kind = columns[KIND].place
        self.kinds = list(kind.words)

    def table(
        self,
        found: Found,
        values: Any,
        results: Any,
        senders: Any,
        ends: Ends,
        meanings: Mapping[int, Meaning],
    ) -> pyarrow.Table:
        """Return the packets of a batch that have an outcome.

        values: the columns. results: the outcome of each row, -1 for rows that are written elsewhere. senders: number
        of the sender's name, -1 for the queue manager that made the packet. ends: of the connections.
        """
        import pyarrow as pa

        names, addresses, ports = ends.names, ends.addresses, ends.ports
        rows, meta, lengths = np.arange(len(results)), found.meta, found.lengths
        if (results < 0).any():
            rows = np.flatnonzero(results >= 0)
            meta, lengths, senders = meta[rows], lengths[rows], senders[rows]
            values, results = values[:, rows], results[rows]
        whose = 2 * meta[:, OF_CONNECTION] + meta[:, OF_SIDE]
        other = whose ^ 1

        def data(row: int) -> bytes:
            return found.data(int(rows[row]))

        def manager(row: int) -> str:
            return self.numbers.manager(values, row)

        there = self.numbers.there(values, MANAGER)
        made = self.numbers.of(values, MANAGER)
        sender = numbered(senders, made)
        out = {
            "capture_id": pa.repeat(self.capture, len(rows)),
            "stream_id": pa.repeat(self.stream, len(rows)),
            "number": pa.array(meta[:, OF_NUMBER]),
            "record": pa.array(meta[:, OF_RECORD]),
            "time": pa.array(meta[:, OF_TIME] // 1000).cast(pa.timestamp("us", tz="UTC")),
            "time_ns": pa.array(meta[:, OF_TIME]),
            "transport": pa.repeat("tcp", len(rows)),
            "connection": pa.array(meta[:, OF_CONNECTION]),
            "side": pa.array(["initiator", "acceptor"]).take(pa.array(meta[:, OF_SIDE])),
            "source": _named(names, addresses[whose]),
            "source_port": pa.array(ports[whose]),
            "destination": _named(names, addresses[other]),
            "destination_port": pa.array(ports[other]),
            "kind": pa.array(self.kinds).take(pa.array(values[self.columns[KIND].at])),
            "queue": QUEUES.of(self.numbers.queue(values), lambda row: queue_text(data(row))),
            "sender": self.senders.of(sender, lambda row: names[senders[row]] if senders[row] >= 0 else manager(row)),
            "source_manager": MANAGERS.of(made, lambda row: manager(row) if there[row] else None),
            "message_id": self._number(values, NUMBER, pa.int64()),
            "message_class": self._number(values, CLASS, pa.int32()),
            "transactional": pa.array(self.numbers.there(values, TRANSACTION)),
            "length": pa.array(lengths.astype(np.int32)),
            "trouble": pa.nulls(len(rows), pa.string()),
        }
        out["worst"], out["deviating"] = self.said.of(results, meanings)
        schema = PACKETS.arrow()
        return pa.table([out[name].cast(schema.field(name).type) for name in schema.names], schema=schema)

    def _number(self, values: Any, key: str, kind: Any) -> pyarrow.Array:
        import pyarrow as pa

        column = values[self.columns[key].at].copy()  # Arrow would keep the memory, which the next batch fills anew.
        return pa.array(column, mask=~self.numbers.there(values, key)).cast(kind, safe=False)


def _named(names: Sequence[str], numbers: Any) -> pyarrow.Array:
    import pyarrow as pa

    found = pa.array(numbers).dictionary_encode()
    return pa.array([names[number] for number in found.dictionary.to_pylist()], pa.string()).take(found.indices)
