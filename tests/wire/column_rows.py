"""The rows of decoded packets as columns have them, made packet by packet: the peer of the emitted code."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from conformance.wire.columns.shapes import Sort
from conformance.wire.columns.table import ColumnSet
from conformance.wire.layout import Value
from conformance.wire.packet import Packet


def row_of(columns: ColumnSet, packet: Packet, first: int, facts: Mapping[str, Value] | None = None) -> list[int]:
    """Return the row of a packet that was decoded one by one, for packets that the emitted code leaves out.

    first: offset of the packet in the buffer. facts: fields beside the decoded ones, as `judge.packets.facts`.
    """
    row = [0] * columns.width
    fields = packet.fields if facts is None else {**packet.fields, **facts}
    for column in columns.columns.values():
        place = column.place
        value = fields.get(place.key)
        if value is None:
            continue
        row[column.flags] |= 1 << column.bit
        if place.sort is Sort.GUID:
            raw = uuid.UUID(str(value)).bytes_le
            row[column.at : column.at + 2] = [_signed(raw[:8]), _signed(raw[8:])]
        elif place.sort in (Sort.TEXT, Sort.BYTES):
            raw = value.encode("utf-16-le", "surrogatepass") if isinstance(value, str) else bytes(value)
            if column.hashed:
                row[column.at] = hash_of(raw)
            else:
                row[column.at : column.at + 2] = [first + packet.spans[place.key][0], len(raw)]
        elif place.sort is Sort.WORD:
            row[column.at] = place.words.index(str(value)) if value in place.words else -1
        else:
            row[column.at] = _signed(int(value).to_bytes(8, "little"))
    return row


def hash_of(raw: bytes) -> int:
    """Return the hash of a `#` column, as `texts.mixed` computes it."""
    word = _wrapped(len(raw) * -0x61C8_8646_80B5_83EB)
    at = 0
    while len(raw) - at >= 8:
        word = _wrapped((word ^ _signed(raw[at : at + 8])) * -0x40A7_B892_E31B_1A47)
        word ^= (word >> 29) & 0x7_FFFF_FFFF
        at += 8
    while len(raw) - at >= 2:
        word = _wrapped((word ^ int.from_bytes(raw[at : at + 2], "little")) * -0x6B2F_B644_ECCE_EE15)
        word ^= (word >> 32) & 0xFFFF_FFFF
        at += 2
    return word


def _signed(raw: bytes) -> int:
    return int.from_bytes(raw, "little", signed=True)


def _wrapped(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)
