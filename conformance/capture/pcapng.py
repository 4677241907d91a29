"""Reads the pcapng format: sections of typed blocks, each with its length at both ends."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from conformance.capture.records import MAX_RECORD, NO_PACKET, Record, RecordWalk, Source
from conformance.capture.resync import BlockRule, search

MAGIC = b"\x0a\x0d\x0d\x0a"

_INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET, _SECRETS = 1, 2, 3, 6, 10
# Journal entries, custom blocks and system calls: Wireshark gives each of them a frame number.
_COUNTED = frozenset({9, 0xBAD, 0x40000BAD, 0x204, 0x216, 0x221})
SECRETS = "decryption secrets, which are not used"
_OPTION_COMMENT, _OPTION_RESOLUTION, _OPTION_OFFSET = 1, 9, 14
_MAX_TIME = (1 << 63) - (1 << 60)  # In ns: the year 2225. No clock is there, so that a time beyond it is none.
_SECTION_HEAD = 16  # Bytes of a section header before its options.
_MAX_BLOCK = MAX_RECORD + 65_536
_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}


class _DamageError(Exception):
    """Raised for bytes that make no sense; the text gives the cause. ends: the file ends there."""

    def __init__(self, text: str, *, ends: bool = False) -> None:
        super().__init__(text)
        self.ends = ends


@dataclass(frozen=True, slots=True)
class _Interface:
    link: int
    snap: int
    ticks: int  # Ticks per second.
    offset: int  # Seconds to add.


def records(source: Source, walk: RecordWalk) -> Iterator[Record]:
    """Yield the packets of a file from its first byte on, resynchronising behind bytes that make no sense.

    A block that is whole but cannot be understood is passed over alone.
    """
    order = "<"
    interfaces: list[_Interface | None] = []
    last_ns = 0
    while True:
        try:
            found = _block(source, order)
        except _DamageError as problem:
            source.skip(source.reach(1))
            passed, again = search(source, BlockRule(order))
            if not again:
                walk.cut = source.problem or str(problem)
                walk.damaged += 0 if problem.ends else passed + 1
                return
            walk.damaged += passed + 1
            continue
        if found is None:
            walk.cut = source.problem or walk.cut
            return
        order, kind, body = found
        record = None
        try:
            if kind == _SECTION:
                interfaces = []
                walk.comment = _comment(body, order)
            elif kind == _INTERFACE:
                interfaces.append(None)
                interfaces[-1] = _interface(body, order)
            elif kind in (_PACKET, _OLD_PACKET, _SIMPLE_PACKET):
                record = _packet(kind, body, order, interfaces, walk.records + 1)
                last_ns = record.time_ns
            elif kind in _COUNTED:
                record = Record(walk.records + 1, last_ns, NO_PACKET, b"", 0)
            elif kind == _SECRETS:
                walk.unused[SECRETS] += 1
        except _DamageError as problem:
            walk.damaged += 12 + len(body)
            walk.cut = str(problem) if not source.reach(1) else None
            continue
        if record is not None:
            walk.records += 1
            yield record


_SECTION = struct.unpack("<I", MAGIC)[0]  # The same number in either byte order.


def _block(source: Source, order: str) -> tuple[str, int, bytes] | None:
    """Return the next block: byte order, type, body; None at the end. Raises _DamageError and then takes nothing."""
    have = source.reach(12)
    if not have:
        return None
    head = source.take(12)
    if head is None:
        raise _DamageError(f"the file ends within the head of a block ({have} of 12 bytes)", ends=True)
    try:
        if head[:4] == MAGIC:
            if head[8:] not in _ORDERS:
                raise _DamageError("a section header has no byte-order mark")
            order = _ORDERS[head[8:]]
        kind, length = struct.unpack_from(f"{order}II", head)
        if length < 12 or length % 4 or length > _MAX_BLOCK:
            raise _DamageError(f"a block claims a length of {length} bytes, which cannot be")
    except _DamageError:
        source.untake(head)
        raise
    have = 12 + source.reach(length - 12)
    data, at = source.held
    problem = None
    if have < length:
        problem = _DamageError(f"the file ends within a block ({have} of {length} bytes)", ends=True)
    elif length > 12 and data[at + length - 16 : at + length - 12] != head[4:8]:
        problem = _DamageError("a block's two lengths differ")
    if problem is not None:
        source.untake(head)
        raise problem
    body = source.take(length - 12) if length > 12 else b""
    assert body is not None
    return order, kind, (head[8:] + body)[:-4]


def _interface(block: bytes, order: str) -> _Interface:
    if len(block) < 8:
        raise _DamageError("an interface description is too short")
    link, _, snap = struct.unpack_from(f"{order}HHI", block)
    ticks, offset = 1_000_000, 0
    for code, value in _options(block, 8, order):
        if code == _OPTION_RESOLUTION and len(value) == 1:
            power = value[0] & 0x7F
            ticks = 2 ** min(power, 62) if value[0] & 0x80 else 10 ** min(power, 18)
        elif code == _OPTION_OFFSET and len(value) == 8:
            offset = struct.unpack(f"{order}q", value)[0]
    return _Interface(link, snap, ticks, offset)


def _comment(block: bytes, order: str) -> str | None:
    """Return the first comment of a section header."""
    found = (value for code, value in _options(block, _SECTION_HEAD, order) if code == _OPTION_COMMENT)
    value = next(found, None)
    return None if value is None else value.decode("utf-8", "replace")


def _options(block: bytes, at: int, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield code and value of each option of a block, from this offset on."""
    while at + 4 <= len(block):
        code, size = struct.unpack_from(f"{order}HH", block, at)
        if code == 0:
            return
        yield code, block[at + 4 : at + 4 + size]
        at += 4 + (size + 3) // 4 * 4


def _packet(kind: int, block: bytes, order: str, interfaces: list[_Interface | None], number: int) -> Record:
    need = 4 if kind == _SIMPLE_PACKET else 20
    if len(block) < need:
        raise _DamageError(f"record {number} is too short")
    index, high, low = 0, 0, 0
    if kind == _SIMPLE_PACKET:
        (length,) = struct.unpack_from(f"{order}I", block)
        kept = min(length, len(block) - 4)
    elif kind == _PACKET:
        index, high, low, kept, length = struct.unpack_from(f"{order}IIIII", block)
    else:
        index, _, high, low, kept, length = struct.unpack_from(f"{order}HHIIII", block)
    interface = interfaces[index] if index < len(interfaces) else None
    if interface is None:
        raise _DamageError(f"record {number} names interface {index}, which was never described")
    if kind == _SIMPLE_PACKET and interface.snap:
        kept = min(kept, interface.snap)
    if kept > len(block) - need:
        raise _DamageError(f"record {number} claims {kept} bytes, its block holds {len(block) - need}")
    if kind == _SIMPLE_PACKET:  # It has no time, and an offset of its interface does not make one.
        return Record(number, 0, interface.link, block[need : need + kept], max(length, kept))
    time_ns = interface.offset * 1_000_000_000 + (high << 32 | low) * 1_000_000_000 // interface.ticks
    if abs(time_ns) > _MAX_TIME:
        time_ns = 0
    return Record(number, time_ns, interface.link, block[need : need + kept], max(length, kept))
