"""Convert packets of a batch to Arrow columns, from the columns of compiled code and without decoding packets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from conformance.capture.columns.places import OF_CONNECTION, OF_NUMBER, OF_RECORD, OF_SIDE, OF_TIME
from conformance.capture.columns.reader import Rows as Found
from conformance.captures.engine import destination
from conformance.captures.meanings import Meaning
from conformance.captures.senders import Ends
from conformance.judge.columns.judge import CAPACITY as OUTCOMES
from conformance.judge.packets.signatures import CERTIFICATE
from conformance.judge.sessions.keys import HOPS, MANAGER
from conformance.pipeline.rows import plain
from conformance.pipeline.schemas import BATCH, PACKETS
from conformance.verdict import Outcome, worst
from conformance.wire import dissect
from conformance.wire.columns.table import ColumnSet
from conformance.wire.layout import guid_text

_KIND, _NUMBER, _CLASS = "Packet.Kind", "UserHeader.MessageID", "MessagePropertiesHeader.MessageClass"
_TRANSACTION = "TransactionHeader.Flags"
_PREFIX = "UserHeader.DestinationQueue."
_QUEUE = (
    f"{_PREFIX}DirectFormatName#",
    f"{_PREFIX}PublicQueueIdentifier",
    f"{_PREFIX}PrivateQueueIdentifier",
    "UserHeader.QueueManagerAddress",
)
KEYS = (HOPS, MANAGER, CERTIFICATE, _KIND, _NUMBER, _CLASS, _TRANSACTION, *_QUEUE)
_MOST = 1 << 18
"""Texts in a cache; when there are more, it is emptied."""
_ODD = 0x9E3779B97F4A7C15
_QUEUES: Final[dict[int, str | None]] = {}
_MANAGERS: Final[dict[int, str | None]] = {}
"""Texts by number. All captures share them, because the numbers depend only on the bytes of the packets."""


class PacketColumns:
    """Makes columns of `packets` without `date`. capture, stream: the same in each row."""

    def __init__(self, columns: ColumnSet, capture: str = "", stream: str = "") -> None:
        self.columns, self.capture, self.stream = columns, capture, stream
        self.senders: dict[int, str | None] = {}
        self.places: Any = np.full(2 * OUTCOMES, -1, np.int32)
        self.worsts: list[str | None] = []
        self.deviating: list[list[str]] = []
        """The roll-up of each outcome, computed once."""

    def table(
        self, found: Found, values: Any, results: Any, senders: Any, ends: Ends, meanings: Mapping[int, Meaning]
    ) -> pa.Table:
        """Return the packets of a batch that have an outcome, with all columns but the batch.

        values: the columns. results: the outcome of each row, -1 for rows that are written elsewhere. senders: number
        of the sender's name, -1 for the queue manager that made the packet. ends: of the connections.
        """
        rows = np.flatnonzero(results >= 0) if (results < 0).any() else slice(None)
        meta, values, results, senders = found.meta[rows], values[:, rows], results[rows], senders[rows]
        places = np.arange(len(found.meta))[rows]
        managers, named = self._mixed(values, MANAGER), self._there(values, MANAGER)
        whose = 2 * meta[:, OF_CONNECTION] + meta[:, OF_SIDE]
        at = self._outcomes(results, meanings)

        def manager(row: int) -> str:
            place = self.columns[MANAGER].at
            return guid_text(values[place : place + 2, row].tobytes())

        def sender(row: int) -> str:
            return ends.names[senders[row]] if senders[row] >= 0 else manager(row)

        def queue(row: int) -> str | None:
            text = destination(dissect(found.data(int(places[row])), transport="tcp"))
            return None if text is None else plain(text)

        columns = {
            "capture_id": pa.repeat(self.capture, len(meta)),
            "stream_id": pa.repeat(self.stream, len(meta)),
            "number": pa.array(meta[:, OF_NUMBER]),
            "record": pa.array(meta[:, OF_RECORD]),
            "time": pa.array(meta[:, OF_TIME] // 1000),
            "time_ns": pa.array(meta[:, OF_TIME]),
            "transport": pa.repeat("tcp", len(meta)),
            "connection": pa.array(meta[:, OF_CONNECTION]),
            "side": pa.array(["initiator", "acceptor"]).take(pa.array(meta[:, OF_SIDE])),
            "source": _named(ends.names, ends.addresses[whose]),
            "source_port": pa.array(ends.ports[whose]),
            "destination": _named(ends.names, ends.addresses[whose ^ 1]),
            "destination_port": pa.array(ends.ports[whose ^ 1]),
            "kind": pa.array(list(self.columns[_KIND].place.words)).take(pa.array(values[self.columns[_KIND].at])),
            "queue": _texts(_QUEUES, self._mixed(values, *_QUEUE), queue),
            # Numbers of names are below 2**31.
            "sender": _texts(self.senders, np.where(senders >= 0, senders, managers | np.int64(-1 << 63)), sender),
            "source_manager": _texts(_MANAGERS, managers, lambda row: manager(row) if named[row] else None),
            "message_id": self._number(values, _NUMBER),
            "message_class": self._number(values, _CLASS),
            "transactional": pa.array(self._there(values, _TRANSACTION)),
            "length": pa.array(found.lengths[rows].astype(np.int32)),
            "trouble": pa.nulls(len(meta)),
            "worst": pa.array(self.worsts, pa.string()).take(at),
            "deviating": pa.array(self.deviating, pa.list_(pa.string())).take(at),
        }
        whole = PACKETS.arrow()
        schema = whole.remove(whole.get_field_index(BATCH))
        return pa.table([columns[one.name].cast(one.type, safe=False) for one in schema], schema=schema)

    def _outcomes(self, results: Any, meanings: Mapping[int, Meaning]) -> pa.Array:
        """Return the place of the roll-up of each row."""
        for outcome in np.unique(results[self.places[results] < 0]).tolist():
            keys = meanings[outcome].keys
            rolled = worst(key[1] for key in keys)
            self.places[outcome] = len(self.worsts)
            self.worsts.append(rolled and rolled.value)
            self.deviating.append(list(dict.fromkeys(key[0] for key in keys if key[1] is not Outcome.PASS)))
        return pa.array(self.places[results])

    def _there(self, values: Any, key: str) -> Any:
        """Return which packets have the key."""
        column = self.columns[key]
        return (values[column.flags] >> column.bit & 1).astype(bool)

    def _number(self, values: Any, key: str) -> pa.Array:
        numbers = values[self.columns[key].at].copy()  # Arrow would keep the memory, which is filled anew.
        return pa.array(numbers, mask=~self._there(values, key))

    def _mixed(self, values: Any, *keys: str) -> Any:
        """Return a number for each row, the same for the same values of the keys; 0 if there are none."""
        total = np.zeros(values.shape[1], np.int64)
        for number, key in enumerate(keys, 1):
            column = self.columns[key]
            with np.errstate(over="ignore"):
                mix = np.full(len(total), _ODD * number & (1 << 64) - 1, np.uint64)  # A value of zeros is not 0.
                for part in values[column.at : column.at + column.width]:
                    mix = (mix ^ part.astype(np.uint64)) * np.uint64(_ODD)
                    mix ^= mix >> np.uint64(29)
            total ^= np.where(self._there(values, key), mix.astype(np.int64), 0)
        return total


def _texts(known: dict[int, str | None], numbers: Any, make: Callable[[int], str | None]) -> pa.Array:
    """Return the text of each row. numbers: int64, equal for equal texts. make: returns the text of one row."""
    found = pa.array(numbers).dictionary_encode()
    if len(known) > _MOST:
        known.clear()
    different = found.dictionary.to_pylist()
    for number in different:
        if number not in known:
            known[number] = make(int((numbers == number).argmax()))
    return pa.array([known[number] for number in different], pa.string()).take(found.indices)


def _named(names: Sequence[str], numbers: Any) -> pa.Array:
    found = pa.array(numbers).dictionary_encode()
    return pa.array([names[number] for number in found.dictionary.to_pylist()], pa.string()).take(found.indices)
