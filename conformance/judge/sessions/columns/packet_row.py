"""Packets decoded by compiled code, in the form that the rules of connections read: values by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from typing import Any, Final

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
from conformance.judge.sessions.context import Kept, Seen
from conformance.judge.sessions.keys import FREQUENT
from conformance.judge.sessions.messages import REMEMBERED
from conformance.judge.sessions.packets import RULES
from conformance.wire import Packet, dissect
from conformance.wire.columns.shapes import Sort
from conformance.wire.columns.table import Column, ColumnSet
from conformance.wire.layout import Value, guid_text

_SESSION = (
    "WindowSize", "AckSequenceNumber", "RecoverableMsgAckSeqNumber", "RecoverableMsgAckFlags", "UserMsgSequenceNumber",
    "RecoverableMsgSeqNumber",
)  # fmt: skip
_TRANSACTION = (
    "TxSequenceID", "TxSequenceNumber", "PreviousTxSequenceNumber", "Flags.ID", "Flags.FM", "Flags.LM", "Flags.FA",
)  # fmt: skip
_ORDER_ACK = ("TxSequenceID", "TxSequenceNumber", "TxPreviousSequenceNumber", "Reserved")

ASKED: Final[tuple[str, ...]] = tuple(
    dict.fromkeys(
        (
            "BaseHeader.Flags",
            "BaseHeader.Flags.PR", "BaseHeader.TimeToReachQueue", "UserHeader.SentTime", "UserHeader.MessageID",
            "UserHeader.Flags.RC", "UserHeader.Flags.DM", "UserHeader.Flags.DQ", "UserHeader.Flags.JN",
            "UserHeader.Flags.JP", "UserHeader.Flags.TH", "MessagePropertiesHeader.MessageBody",
            *(f"SessionHeader.{name}" for name in _SESSION),
            *(f"TransactionHeader.{name}" for name in _TRANSACTION),
            *(f"OrderAckBody.{name}" for name in _ORDER_ACK),
            *(rule.field for kind in sorted(FREQUENT) for rule in RULES.get(kind, ())),
            *(key for key in REMEMBERED if key != "UserHeader.DestinationQueue.SourceQueueManager"),
        )
    )
)  # fmt: skip
"""The keys read from nearly every packet, or from whole kinds of packets."""

NEVER: Final[frozenset[str]] = frozenset(
    {"ConnectionParametersHeader.WindowSize", "UserHeader.DestinationQueue.SourceQueueManager"}
)
"""Keys that are read but that none of these packets has."""

KIND = "Packet.Kind"
SIDES: tuple[Side, Side] = ("initiator", "acceptor")
_MOST = 1 << 16  # Texts in the cache.
_TWO = Struct("<qq")
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


@dataclass(frozen=True, slots=True)
class Table:
    """The packets of a batch in one buffer.

    columns: of the decoded values. results: below 0 for a packet that was not decoded, whose kind is empty. known:
    which column holds which key.
    """

    rows: Rows
    columns: Any
    results: Any
    known: ColumnSet
    texts: Texts
    opened: Mapping[int, Opened]

    @property
    def count(self) -> int:
        """Return the number of packets."""
        return len(self.rows)

    def packet(self, row: int) -> PacketRow:
        """Return a packet. One that was not decoded has only its frame."""
        return PacketRow(self, row)

    def frame(self, row: int) -> Frame:
        """Return a packet's frame."""
        rows = self.rows
        meta = rows.meta[row].tolist()
        opened, side = self.opened[meta[OF_CONNECTION]], meta[OF_SIDE]
        ends = (opened.initiator, opened.acceptor)
        return Frame(
            meta[OF_NUMBER], meta[OF_RECORD], meta[OF_TIME], ends[side], ends[1 - side], "tcp", rows.data(row),
            meta[OF_CONNECTION], SIDES[side], meta[OF_OFFSET], meta[OF_HEARD],
        )  # fmt: skip


class PacketRow(Seen):
    """One packet of a table, valid as long as its batch."""

    __slots__ = ("_found", "_values", "connection", "frame_number", "index", "side", "table", "time_ns")

    frame_number: int
    time_ns: int
    connection: int
    side: Side
    gap_before = 0
    trouble = None
    whole = True

    def __init__(self, table: Table, row: int) -> None:
        self.table, self.index = table, row
        self._values: list[int] | None = None
        self._found: dict[str, Value | None] = {}
        meta = table.rows.meta[row].tolist()
        self.frame_number, self.time_ns, self.connection = meta[OF_NUMBER], meta[OF_TIME], meta[OF_CONNECTION]
        self.side = SIDES[meta[OF_SIDE]]
        self._frame, self._packet = None, None

    @property
    def kind(self) -> str:
        """See `Seen.kind`; empty where it has no column."""
        table = self.table
        if table.results[self.index] < 0 or KIND not in table.known.columns:
            return ""
        return str(self._value(KIND) or "")

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
    def heard(self) -> int:
        """See `Seen.heard`."""
        return int(self.table.rows.meta[self.index, OF_HEARD])

    @property
    def end(self) -> int:
        """See `Seen.end`."""
        return int(self.table.rows.meta[self.index, OF_OFFSET]) + self.length

    @property
    def record(self) -> int:
        """See `Frame.record`."""
        return int(self.table.rows.meta[self.index, OF_RECORD])

    @property
    def frame(self) -> Frame:
        """The frame, with its bytes."""
        if self._frame is None:
            self._frame = self.table.frame(self.index)
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

    def _value(self, key: str) -> Value | None:
        """Return a value. Raises KeyError for one without a column."""
        try:
            return self._found[key]
        except KeyError:
            found = self._found[key] = None if key in NEVER else self._read(self.table.known.columns[key])
            return found

    def _read(self, column: Column) -> Value | None:
        values = self._values
        if values is None:
            values = self._values = self.table.columns[:, self.index].tolist()
        if not values[column.flags] >> column.bit & 1:
            return None
        place, first = column.place, values[column.at]
        sort = place.sort
        if sort is Sort.NUMBER or sort is Sort.FLAG:
            return first & 0xFFFFFFFF_FFFFFFFF if place.width == 8 and not place.mask else first
        if sort is Sort.GUID:
            return self.table.texts.guid(_TWO.pack(first, values[column.at + 1]))
        if sort is Sort.WORD:
            return place.words[first]
        raw = bytes(self.table.rows.buffer[first : first + values[column.at + 1]])
        return self.table.texts.text(raw) if sort is Sort.TEXT else raw

    def number(self, key: str) -> int | None:
        """See `Seen.number`."""
        try:
            found: int | None = self._value(key)  # type: ignore[assignment]
        except KeyError:
            return super().number(key)
        return found

    def text(self, key: str) -> str | None:
        """See `Seen.text`."""
        try:
            found: str | None = self._value(key)  # type: ignore[assignment]
        except KeyError:
            return super().text(key)
        return found

    def raw(self, key: str) -> bytes | None:
        """See `Seen.raw`."""
        try:
            found: bytes | None = self._value(key)  # type: ignore[assignment]
        except KeyError:
            return super().raw(key)
        return found

    def values(self, keys: tuple[str, ...]) -> tuple[Value | None, ...]:
        """See `Seen.values`."""
        return tuple(map(self._value, keys))


KEYS = (*ASKED, KIND)
"""The columns that a table needs."""
