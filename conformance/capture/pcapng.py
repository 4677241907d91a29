"""The newer capture format: sections of typed blocks, each with its length at both ends."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from conformance.capture.records import MAX_RECORD, CutError, Record, Source

MAGIC = b"\x0a\x0d\x0d\x0a"

_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6
_OPTION_RESOLUTION, _OPTION_OFFSET = 9, 14
_MAX_BLOCK = MAX_RECORD + 65_536


@dataclass(frozen=True, slots=True)
class _Interface:
    link: int
    snap: int
    ticks: int  # Ticks a second.
    offset: int  # Seconds to add.


def records(source: Source) -> Iterator[Record]:
    """The packets after the first block's type. Raises CutError where the file stops making sense."""
    order = "<"
    interfaces: list[_Interface] = []
    number = 0
    raw_type = MAGIC
    while raw_type:
        if len(raw_type) < 4:
            raise CutError("the file ends within the type of a block")
        if raw_type == MAGIC:
            order, block = _section(source)
            interfaces = []
            kind = _SECTION
        else:
            kind = struct.unpack(f"{order}I", raw_type)[0]
            block = _block(source, order, source.exactly(4, "the length of a block"), b"")
        if kind == _INTERFACE:
            interfaces.append(_interface(block, order))
        elif kind in (_PACKET, _OLD_PACKET, _SIMPLE_PACKET):
            number += 1
            yield _packet(kind, block, order, interfaces, number)
        raw_type = source.up_to(4)


def _section(source: Source) -> tuple[str, bytes]:
    """A section header decides the byte order, its own length's included."""
    head = source.exactly(8, "a section header")
    for order in "<>":
        if struct.unpack_from(f"{order}I", head, 4)[0] == 0x1A2B3C4D:
            return order, _block(source, order, head[:4], head[4:])
    raise CutError("a section header has no byte-order mark")


def _block(source: Source, order: str, raw_length: bytes, begun: bytes) -> bytes:
    length = struct.unpack(f"{order}I", raw_length)[0]
    if length < 12 + len(begun) or length % 4 or length > _MAX_BLOCK:
        raise CutError(f"a block claims a length of {length} bytes, which cannot be")
    body = begun + source.exactly(length - 12 - len(begun), "a block")
    if source.exactly(4, "a block") != raw_length:
        raise CutError("a block's two lengths differ")
    return body


def _interface(block: bytes, order: str) -> _Interface:
    if len(block) < 8:
        raise CutError("an interface description is too short")
    link, _, snap = struct.unpack_from(f"{order}HHI", block)
    ticks, offset = 1_000_000, 0
    at = 8
    while at + 4 <= len(block):
        code, size = struct.unpack_from(f"{order}HH", block, at)
        value = block[at + 4 : at + 4 + size]
        if code == 0:
            break
        if code == _OPTION_RESOLUTION and len(value) == 1:
            power = value[0] & 0x7F
            ticks = 2 ** min(power, 62) if value[0] & 0x80 else 10 ** min(power, 18)
        elif code == _OPTION_OFFSET and len(value) == 8:
            offset = struct.unpack(f"{order}q", value)[0]
        at += 4 + (size + 3) // 4 * 4
    return _Interface(link, snap, ticks, offset)


def _packet(kind: int, block: bytes, order: str, interfaces: list[_Interface], number: int) -> Record:
    need = 4 if kind == _SIMPLE_PACKET else 20
    if len(block) < need:
        raise CutError(f"record {number} is too short")
    index, high, low = 0, 0, 0
    if kind == _SIMPLE_PACKET:
        (length,) = struct.unpack_from(f"{order}I", block)
        kept = min(length, len(block) - 4)
    elif kind == _PACKET:
        index, high, low, kept, length = struct.unpack_from(f"{order}IIIII", block)
    else:
        index, _, high, low, kept, length = struct.unpack_from(f"{order}HHIIII", block)
    if index >= len(interfaces):
        raise CutError(f"record {number} names interface {index}, which was never described")
    interface = interfaces[index]
    if kind == _SIMPLE_PACKET and interface.snap:
        kept = min(kept, interface.snap)
    if kept > len(block) - need:
        raise CutError(f"record {number} claims {kept} bytes, its block holds {len(block) - need}")
    time_ns = interface.offset * 1_000_000_000 + (high << 32 | low) * 1_000_000_000 // interface.ticks
    return Record(number, time_ns, interface.link, block[need : need + kept], max(length, kept))
