"""Packets decoded by compiled code, in the form that the rules of connections read: values by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from conformance.capture import Frame, Opened, Side
from conformance.capture.columns.places import (
    OF_CONNECTION,
    OF_HEARD,
    OF_NUMBER,
    OF_OFFSET,
    OF_RECORD,
    OF_SIDE,
    OF_TIME,
)
from conformance.capture.columns.reader import Rows
from conformance.captures.batches import SIDES
from conformance.judge.sessions.context import BODY, QUEUE, Kept, Seen, digest_of, one_name
from conformance.judge.sessions.keys import ASKED, NEVER
from conformance.wire import Packet, dissect
from conformance.wire.columns.shapes import Sort
from conformance.wire.columns.table import Column, ColumnSet
from conformance.wire.decode import guid_text
from conformance.wire.layout import Value

KIND = "Packet.Kind"
_MOST = 1 << 16  # Texts in the cache.
_LONG = 512  # Bytes of the longest text that is cached.


class Texts:
    """Texts and GUIDs by their bytes, cached because a capture repeats the same few."""

    def __init__(self) -> None:
        self._guids: dict[bytes, str] = {}
        self._texts: dict[bytes, str] = {}

    def guid(self, raw: bytes) -> str:
        """Return a GUID."""
        found = self._guids.get(raw)
        if found is None:
            if len(self._guids) >= _MOST:
                self._guids.clear()
            found = self._guids[raw] = guid_text(raw)
        return found

    def text(self, raw: bytes) -> str:
        """Return a text without its NUL."""
        found = self._texts.get(raw)
        if found is None:
            found = raw.decode("utf-16-le", "surrogatepass")
            if len(raw) <= _LONG:
                if len(self._texts) >= _MOST:
                    self._texts.clear()
                self._texts[raw] = found
        return found


class Table(dict[str, list[Any]]):
    """The packets of a batch in one buffer. By key: its value in each packet, None for a packet without it.

    A list is made on first access; a key without a column raises KeyError. results: of the judge; packets below 0 are
    left out.
    """

    def __init__(
        self, rows: Rows, columns: Any, results: Any, known: ColumnSet, texts: Texts, opened: Mapping[int, Opened]
    ) -> None:
        super().__init__()
        self.rows, self.opened, self.count = rows, opened, len(rows)
        self.columns, self._known, self._texts = columns, known, texts
        self._judged = results[: self.count] >= 0
        self._buffer = memoryview(rows.buffer)
        self._tuples: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}

    def __missing__(self, key: str) -> list[Any]:
        made = self[key] = [None] * self.count if key in NEVER else self._made(self._known[key])
        return made

    def tuples(self, keys: tuple[str, ...]) -> list[tuple[Any, ...]]:
        """Return the values of several keys side by side."""
        found = self._tuples.get(keys)
        if found is None:
            found = self._tuples[keys] = list(zip(*map(self.__getitem__, keys), strict=True))
        return found

    @cached_property
    def queues(self) -> list[str]:
        """`Seen.queue` of each packet."""
        return list(map(one_name, self.tuples(QUEUE)))

    @cached_property
    def bodies(self) -> list[bytes]:
        """`Seen.body` of each packet."""
        column, count, buffer = self._known[BODY], self.count, self._buffer
        there = (self.columns[column.flags, :count] >> column.bit & 1 != 0) & self._judged
        first = self.columns[column.at, :count]
        ends = np.where(there, first + self.columns[column.at + 1, :count], 0)
        first = np.where(there, first, 0)
        return [digest_of(buffer[at:end]) for at, end in zip(first.tolist(), ends.tolist(), strict=True)]

    def packets(self, rows: Any) -> list[PacketRow]:
        """Return packets; one that no compiled code has judged has an empty kind, and only its frame.

        rows: their places, an array. A table without KIND gives every packet an empty kind.
        """
        places = rows.tolist()
        found = [self.rows.meta[rows, at].tolist() for at in (OF_NUMBER, OF_TIME, OF_CONNECTION, OF_SIDE)]
        kinds = self[KIND] if KIND in self._known.columns else [None] * self.count
        return [
            PacketRow(self, row, kinds[row] or "", number, time_ns, connection, SIDES[side])
            for row, number, time_ns, connection, side in zip(places, *found, strict=True)
        ]

    def _made(self, column: Column) -> list[Any]:
        count, place = self.count, column.place
        there = np.flatnonzero((self.columns[column.flags, :count] >> column.bit & 1 != 0) & self._judged)
        first = self.columns[column.at]
        if place.sort is Sort.GUID:
            raw = np.ascontiguousarray(self.columns[column.at : column.at + 2, there].T).tobytes()
            guid = self._texts.guid
            values: Sequence[Any] = [guid(raw[at : at + 16]) for at in range(0, len(raw), 16)]
        elif place.sort in (Sort.TEXT, Sort.BYTES):
            begins, ends = first[there], first[there] + self.columns[column.at + 1, there]
            buffer = self._buffer
            values = [bytes(buffer[at:end]) for at, end in zip(begins.tolist(), ends.tolist(), strict=True)]
            if place.sort is Sort.TEXT:
                values = list(map(self._texts.text, values))
        elif place.sort is Sort.WORD:
            values = [place.words[at] for at in first[there].tolist()]
        else:
            wide = place.width == 8 and not place.mask
            values = first[there].view(np.uint64).tolist() if wide else first[there].tolist()
        if len(there) == count:
            return list(values)
        out = np.full(count, None, object)
        out[there] = values
        made: list[Any] = out.tolist()
        return made


class PacketRow(Seen):
    """One packet of a table, valid as long as its batch."""

    __slots__ = ("connection", "frame_number", "index", "kind", "side", "table", "time_ns")

    kind: str
    frame_number: int
    time_ns: int
    connection: int
    side: Side
    gap_before = 0
    trouble = None
    whole = True

    def __init__(
        self, table: Table, row: int, kind: str, number: int, time_ns: int, connection: int, side: Side
    ) -> None:
        self.table, self.index, self.kind = table, row, kind
        self.frame_number, self.time_ns, self.connection, self.side = number, time_ns, connection, side
        self._frame, self._packet = None, None

    @property
    def hosts(self) -> tuple[str, str]:
        """See `Seen.hosts`."""
        opened = self.table.opened[self.connection]
        one, other = opened.initiator.address, opened.acceptor.address
        return (one, other) if self.side == "initiator" else (other, one)

    @property
    def opened(self) -> Opened:
        """Its connection."""
        return self.table.opened[self.connection]

    @property
    def length(self) -> int:
        """Its length in bytes."""
        return int(self.table.rows.lengths[self.index])

    @property
    def record(self) -> int:
        """See `Frame.record`."""
        return int(self.table.rows.meta[self.index, OF_RECORD])

    @property
    def frame(self) -> Frame:
        """The frame, with its bytes."""
        if self._frame is None:
            rows = self.table.rows
            meta = rows.meta[self.index]
            opened, side = self.table.opened[self.connection], int(meta[OF_SIDE])
            ends = (opened.initiator, opened.acceptor)
            self._frame = Frame(
                self.frame_number, int(meta[OF_RECORD]), self.time_ns, ends[side], ends[1 - side], "tcp",
                rows.data(self.index), self.connection, self.side, int(meta[OF_OFFSET]), int(meta[OF_HEARD]),
            )  # fmt: skip
        return self._frame

    @property
    def packet(self) -> Packet:
        """The whole packet, decoded on first access."""
        if self._packet is None:
            self._packet = dissect(self.frame.data, transport="tcp")
        return self._packet

    def kept(self) -> Seen:
        """Return the bytes alone, to be decoded on demand."""
        return Kept(self.frame)

    def number(self, key: str) -> int | None:
        """See `Seen.number`."""
        try:
            found: int | None = self.table[key][self.index]
        except KeyError:
            return super().number(key)
        return found

    def text(self, key: str) -> str | None:
        """See `Seen.text`."""
        try:
            found: str | None = self.table[key][self.index]
        except KeyError:
            return super().text(key)
        return found

    def raw(self, key: str) -> bytes | None:
        """See `Seen.raw`."""
        try:
            found: bytes | None = self.table[key][self.index]
        except KeyError:
            return super().raw(key)
        return found

    def queue(self) -> str:
        """See `Seen.queue`."""
        return self.table.queues[self.index]

    def body(self) -> bytes:
        """See `Seen.body`."""
        return self.table.bodies[self.index]

    def values(self, keys: tuple[str, ...]) -> tuple[Value | None, ...]:
        """See `Seen.values`."""
        return self.table.tuples(keys)[self.index]


KEYS = (*ASKED, KIND)
"""The columns that a table needs."""
