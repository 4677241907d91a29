"""Convert packets of a batch to Arrow columns, from the columns of compiled code and without decoding packets.

Each column is made by itself, so that those that nobody asked for cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from conformance.capture.columns.places import OF_CONNECTION, OF_NUMBER, OF_RECORD, OF_SIDE, OF_TIME
from conformance.capture.columns.reader import Rows as Found
from conformance.captures.meanings import Meaning
from conformance.captures.senders import Ends
from conformance.judge.columns.judge import CAPACITY as OUTCOMES
from conformance.judge.sessions.keys import MANAGER
from conformance.pipeline.counted import (
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
from conformance.pipeline.schemas import BATCH, PACKETS
from conformance.verdict import Outcome, worst
from conformance.wire.columns.table import ColumnSet

if TYPE_CHECKING:
    import pyarrow


class Said:
    """The roll-up of each outcome, computed once."""

    def __init__(self) -> None:
        self.places: Any = np.full(2 * OUTCOMES, -1, np.int32)
        self.worsts: list[str | None] = []
        self.names: list[list[str]] = []

    def worst(self, results: Any, meanings: Mapping[int, Meaning]) -> pyarrow.Array:
        """Return the worst outcome of each row."""
        import pyarrow as pa

        at = self._at(results, meanings)
        return pa.array(self.worsts, pa.string()).take(at)

    def deviating(self, results: Any, meanings: Mapping[int, Meaning]) -> pyarrow.Array:
        """Return the requirements of each row that have an outcome other than pass."""
        import pyarrow as pa

        at = self._at(results, meanings)
        return pa.array(self.names, pa.list_(pa.string())).take(at)

    def _at(self, results: Any, meanings: Mapping[int, Meaning]) -> pyarrow.Array:
        import pyarrow as pa

        where = self.places[results]
        if (where < 0).any():
            for outcome in np.unique(results[where < 0]).tolist():
                keys = meanings[outcome].keys
                rolled = worst(key[1] for key in keys)
                self.places[outcome] = len(self.worsts)
                self.worsts.append(rolled and rolled.value)
                self.names.append(list(dict.fromkeys(key[0] for key in keys if key[1] is not Outcome.PASS)))
            where = self.places[results]
        return pa.array(where)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Rows of a batch. maker: what made them. rows: their places in the batch, None for all of it.

    meta, lengths, values, results, senders: of these rows, as `PacketColumns.rows` takes them.
    """

    maker: PacketColumns
    found: Found
    rows: Any
    meta: Any
    lengths: Any
    values: Any
    results: Any
    senders: Any
    ends: Ends
    meanings: Mapping[int, Meaning]

    def __len__(self) -> int:
        return len(self.results)

    @property
    def numbers(self) -> Any:
        """The number of each packet."""
        return self.meta[:, OF_NUMBER]

    def column(self, name: str) -> pyarrow.Array:
        """Return one column of `packets`, with the type of the table."""
        return _MAKE[name](self).cast(_types()[name])

    def take(self, places: Any) -> Chosen:
        """Return some of these rows. places: an index for each."""
        return replace(
            self,
            rows=places if self.rows is None else self.rows[places],
            meta=self.meta[places],
            lengths=self.lengths[places],
            values=self.values[:, places],
            results=self.results[places],
            senders=self.senders[places],
        )

    def data(self, row: int) -> bytes:
        """Return the bytes of a packet."""
        return self.found.data(row if self.rows is None else int(self.rows[row]))

    def whose(self) -> Any:
        """Return for each row 2 * connection + side."""
        return 2 * self.meta[:, OF_CONNECTION] + self.meta[:, OF_SIDE]


class PacketColumns:
    """Makes columns of `packets` without `date`. capture, stream: the same in each row."""

    def __init__(self, columns: ColumnSet, capture: str = "", stream: str = "") -> None:
        self.columns, self.capture, self.stream = columns, capture, stream
        self.numbers, self.senders, self.said = Numbers(columns), Texts(), Said()
        kind = columns[KIND].place
        self.kinds = list(kind.words)

    def rows(
        self,
        found: Found,
        values: Any,
        results: Any,
        senders: Any,
        ends: Ends,
        meanings: Mapping[int, Meaning],
    ) -> Chosen:
        """Return the packets of a batch that have an outcome.

        values: the columns. results: the outcome of each row, -1 for rows that are written elsewhere. senders: number
        of the sender's name, -1 for the queue manager that made the packet. ends: of the connections.
        """
        whole = Chosen(self, found, None, found.meta, found.lengths, values, results, senders, ends, meanings)
        return whole.take(np.flatnonzero(results >= 0)) if (results < 0).any() else whole

    def table(
        self,
        found: Found,
        values: Any,
        results: Any,
        senders: Any,
        ends: Ends,
        meanings: Mapping[int, Meaning],
    ) -> pyarrow.Table:
        """Return the same packets with all columns but the batch."""
        import pyarrow as pa

        chosen, whole = self.rows(found, values, results, senders, ends, meanings), PACKETS.arrow()
        schema = whole.remove(whole.get_field_index(BATCH))
        return pa.table([chosen.column(name) for name in schema.names], schema=schema)


@cache
def _types() -> Mapping[str, Any]:
    return {field.name: field.type for field in PACKETS.arrow()}


def _time(one: Chosen) -> pyarrow.Array:
    import pyarrow as pa

    return pa.array(one.meta[:, OF_TIME] // 1000).cast(pa.timestamp("us", tz="UTC"))


def _side(one: Chosen) -> pyarrow.Array:
    import pyarrow as pa

    return pa.array(["initiator", "acceptor"]).take(pa.array(one.meta[:, OF_SIDE]))


def _kind(one: Chosen) -> pyarrow.Array:
    import pyarrow as pa

    return pa.array(one.maker.kinds).take(pa.array(one.values[one.maker.columns[KIND].at]))


def _queue(one: Chosen) -> pyarrow.Array:
    return QUEUES.of(one.maker.numbers.queue(one.values), lambda row: queue_text(one.data(row)))


def _sender(one: Chosen) -> pyarrow.Array:
    names, senders, numbers = one.ends.names, one.senders, one.maker.numbers

    def name(row: int) -> str:
        return names[senders[row]] if senders[row] >= 0 else numbers.manager(one.values, row)

    return one.maker.senders.of(numbered(senders, numbers.of(one.values, MANAGER)), name)


def _source_manager(one: Chosen) -> pyarrow.Array:
    numbers = one.maker.numbers
    there = numbers.there(one.values, MANAGER)
    return MANAGERS.of(
        numbers.of(one.values, MANAGER), lambda row: numbers.manager(one.values, row) if there[row] else None
    )


def _number(one: Chosen, key: str, kind: Any) -> pyarrow.Array:
    import pyarrow as pa

    column = one.values[one.maker.columns[key].at].copy()  # Arrow would keep the memory, which is filled anew.
    return pa.array(column, mask=~one.maker.numbers.there(one.values, key)).cast(kind, safe=False)


def _message_id(one: Chosen) -> pyarrow.Array:
    import pyarrow as pa

    return _number(one, NUMBER, pa.int64())


def _message_class(one: Chosen) -> pyarrow.Array:
    import pyarrow as pa

    return _number(one, CLASS, pa.int32())


def _named(names: Sequence[str], numbers: Any) -> pyarrow.Array:
    import pyarrow as pa

    found = pa.array(numbers).dictionary_encode()
    return pa.array([names[number] for number in found.dictionary.to_pylist()], pa.string()).take(found.indices)


def _array(values: Any) -> pyarrow.Array:
    import pyarrow as pa

    return pa.array(values)


def _same(one: Chosen, text: str) -> pyarrow.Array:
    import pyarrow as pa

    return pa.repeat(text, len(one))


def _nothing(one: Chosen) -> pyarrow.Array:
    import pyarrow as pa

    return pa.nulls(len(one), pa.string())


_MAKE: Final[Mapping[str, Callable[[Chosen], Any]]] = {
    "capture_id": lambda one: _same(one, one.maker.capture),
    "stream_id": lambda one: _same(one, one.maker.stream),
    "number": lambda one: _array(one.meta[:, OF_NUMBER]),
    "record": lambda one: _array(one.meta[:, OF_RECORD]),
    "time": _time,
    "time_ns": lambda one: _array(one.meta[:, OF_TIME]),
    "transport": lambda one: _same(one, "tcp"),
    "connection": lambda one: _array(one.meta[:, OF_CONNECTION]),
    "side": _side,
    "source": lambda one: _named(one.ends.names, one.ends.addresses[one.whose()]),
    "source_port": lambda one: _array(one.ends.ports[one.whose()]),
    "destination": lambda one: _named(one.ends.names, one.ends.addresses[one.whose() ^ 1]),
    "destination_port": lambda one: _array(one.ends.ports[one.whose() ^ 1]),
    "kind": _kind,
    "queue": _queue,
    "sender": _sender,
    "source_manager": _source_manager,
    "message_id": _message_id,
    "message_class": _message_class,
    "transactional": lambda one: _array(one.maker.numbers.there(one.values, TRANSACTION)),
    "length": lambda one: _array(one.lengths.astype(np.int32)),
    "trouble": _nothing,
    "worst": lambda one: one.maker.said.worst(one.results, one.meanings),
    "deviating": lambda one: one.maker.said.deviating(one.results, one.meanings),
}
"""How each column is made."""
