"""The usual record, to be lowered: Ethernet, IPv4, a TCP segment in order that holds exactly one packet, or none.

`usual` takes in as many such records as follow each other; all else is left to `walk`, which it agrees with. These
functions are never run as they stand: see `conformance.wire.columns.lowering`. An address is a number; a connection is
the address of its row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.capture.columns.places import (
        A_HIGH,
        A_LOW,
        ARENA_ROWS,
        B_HIGH,
        B_LOW,
        BASE_SIZE,
        CHUNK,
        CONNECTION,
        DEADLINE,
        ELSEWHERE,
        EMPTY,
        EXPECTED,
        FILE_ROWS,
        FINISHED,
        FLIP,
        FLOW,
        FOLLOWED,
        HEADER,
        HELD_BYTES,
        LAST,
        LATEST,
        LINK,
        MAX_BUFFERED,
        NUMBER,
        OF_CONNECTION,
        OF_HEARD,
        OF_NUMBER,
        OF_OFFSET,
        OF_RECORD,
        OF_SIDE,
        OF_TIME,
        OFFSET,
        PENDING,
        PORTS,
        POSITION,
        RECORD,
        ROWS,
        SHORT,
        SIZE,
        SLACK,
        STATE,
        STOP,
        SWAPPED,
        TABLE,
        TIME,
        UNIT,
        WAITING,
    )
    from conformance.wire.base_header import MAXIMUM_SIZE, SIGNATURE, VERSION

    def u8(at: int) -> int: ...
    def u16(at: int) -> int: ...
    def u32(at: int) -> int: ...
    def u64(at: int) -> int: ...
    def get(base: int, index: int) -> int: ...
    def put(base: int, index: int, value: int) -> int: ...
    def select(condition: int, one: int, other: int) -> int: ...
    def prefetch(at: int) -> int: ...


_RECORD = 16  # bytes of a record's header
_HEADERS = 54  # the least that Ethernet, IPv4 and TCP take
_FIRST = 80  # bytes of a connection before its first side, and before its second
_SECOND = 168
_WIDE = 88
_IN = 0x08
_SH = 0x10
_SESSION = 16
_SHORT_SESSION_ACK = 20
_MIX_A = -7046029254386353131
_MIX_B = -4417276706812531889
_MIX_C = 1609587929392839161
_LINE = 64
_AHEAD = 4096


def swap16(word: int) -> int:
    """Two bytes the other way round."""
    return (word & 0xFF) << 8 | word >> 8


def swap32(word: int) -> int:
    """Four bytes the other way round."""
    return (word & 0xFF) << 24 | (word & 0xFF00) << 8 | (word >> 8) & 0xFF00 | word >> 24


def slot_at(a_low: int, b_low: int, ports: int) -> int:
    """As `streams.slot_of`, of IPv4 addresses."""
    mixed = (a_low * _MIX_A) ^ (b_low * _MIX_B) ^ (ports * _MIX_C)
    mixed = mixed ^ mixed >> 29
    return (mixed * _MIX_A >> 32) & (TABLE - 1)


def followed(flows: int, a_low: int, b_low: int, ports: int) -> int:
    """The row of a connection that is open, 0 when there is none."""
    slot = slot_at(a_low, b_low, ports)
    while True:
        row = flows + slot * (8 * FLOW)
        state = get(row, STATE)
        if state == FOLLOWED and get(row, A_LOW) == a_low and get(row, B_LOW) == b_low and get(row, PORTS) == ports:
            return select(get(row, A_HIGH) | get(row, B_HIGH) == 0, row, 0)
        if state == EMPTY:
            return 0
        slot = (slot + 1) & (TABLE - 1)


def whole(at: int, count: int) -> int:
    """Whether these bytes are one packet, and nobody needs to see more to tell."""
    if count < BASE_SIZE or u32(at + 4) != SIGNATURE or u8(at) != VERSION:
        return 0
    size = u32(at + 8)
    if size < BASE_SIZE or size > MAXIMUM_SIZE:
        return 0
    flags = u16(at + 2)
    if flags & _SH != 0 and (flags & _IN == 0 or size == _SHORT_SESSION_ACK):
        if count != size + _SESSION:
            return 0
        # What stands behind the shorter of the two lengths may be the next packet.
        return 0 if u8(at + size) == VERSION and u32(at + size + 4) == SIGNATURE else 1
    return 1 if count == size else 0


def usual(base: int, c: int, flows: int, rows: int, meta: int) -> int:
    """Walk on for as long as records are usual; how many were.

    base: address of the file's bytes. c: of the cursor. flows: of the connections. rows, meta: of the places of packets
    in the file, and of what belongs to each.
    """
    if get(c, LINK) != 0 or get(c, SWAPPED) != 0 or get(c, HEADER) != _RECORD:
        return 0
    if get(c, HELD_BYTES) + get(c, ELSEWHERE) > MAX_BUFFERED:
        return 0
    unit = get(c, UNIT)
    deadline = get(c, DEADLINE)
    position = get(c, POSITION)
    first = record = get(c, RECORD)
    number = get(c, NUMBER)
    row = get(c, FILE_ROWS)
    most = CHUNK - get(c, ARENA_ROWS)
    # What is loaded with a record lies within the file.
    limit = get(c, SIZE) - SLACK
    stop = min(get(c, STOP), limit - _RECORD - _HEADERS)
    latest = get(c, TIME)
    while position < stop and row < most:
        at = base + position
        kept = u32(at + 8)
        following = position + _RECORD + kept
        if kept < _HEADERS or following > limit:
            break
        ahead = at + _AHEAD
        beyond = ahead + min(kept + _RECORD, _AHEAD)
        while ahead < beyond:
            prefetch(ahead)
            ahead += _LINE
        time = u32(at) * 1_000_000_000 + u32(at + 4) * unit
        frame = at + _RECORD
        # Ethernet's type with IP's version and length, the fragment with the protocol, then what TCP flags.
        if u32(frame + 12) & 0xFFFFFF != 0x450008 or u32(frame + 20) & 0xFF00FF3F != 0x06000000:
            break
        if u8(frame + 47) & 0x17 != 0x10 or time >= deadline:
            break
        start = 34 + (u8(frame + 46) >> 4) * 4
        end = 14 + swap16(u16(frame + 16))
        count = end - start
        if start < _HEADERS or count < 0 or end > kept:
            break
        # The smaller end stands first: addresses with ports behind them compare as pairs do.
        ports = u32(frame + 34)
        source = swap32(u32(frame + 26)) << 16 | swap16(ports & 0xFFFF)
        target = swap32(u32(frame + 30)) << 16 | swap16(ports >> 16)
        one = min(source, target)
        other = max(source, target)
        flow = followed(
            flows, 0xFFFF_0000_0000 | one >> 16, 0xFFFF_0000_0000 | other >> 16, (one & 0xFFFF) << 16 | other & 0xFFFF
        )
        if flow == 0 or get(flow, FINISHED) != 0:
            break
        side = (source > target) ^ get(flow, FLIP)
        here = flow + _FIRST + side * _WIDE
        there = flow + _SECOND - side * _WIDE
        expected = get(there, EXPECTED)
        sequence = u32(frame + 38)
        acknowledged = swap32(u32(frame + 42)) - expected
        acknowledged = ((acknowledged + 0x80000000) & 0xFFFFFFFF) - 0x80000000
        if expected < 0 or acknowledged > 0 or get(here, EXPECTED) < 0:
            break
        if count != 0:
            if swap32(sequence) != get(here, EXPECTED) or get(here, PENDING) != 0 or get(here, WAITING) >= 0:
                break
            if get(there, SHORT) != 0 and get(there, PENDING) == get(there, SHORT):
                break
            if whole(frame + start, count) == 0:
                break
            offset = get(here, OFFSET)
            put(rows, row, position + _RECORD + start)
            put(rows, ROWS + row, count)
            of = meta + 64 * row
            put(of, OF_RECORD, record + 1)
            put(of, OF_TIME, time)
            put(of, OF_CONNECTION, get(flow, CONNECTION))
            put(of, OF_SIDE, side)
            put(of, OF_OFFSET, offset)
            put(of, OF_HEARD, max(0, get(there, OFFSET) + acknowledged))
            put(of, OF_NUMBER, number)
            put(here, OFFSET, offset + count)
            put(here, EXPECTED, (get(here, EXPECTED) + count) & 0xFFFFFFFF)
            row += 1
            number += 1
        record += 1
        put(flow, LAST, record)
        put(flow, LATEST, max(get(flow, LATEST), time))
        latest = time
        position = following
    put(c, POSITION, position)
    put(c, RECORD, record)
    put(c, NUMBER, number)
    put(c, FILE_ROWS, row)
    put(c, TIME, latest)
    return record - first
