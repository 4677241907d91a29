"""The fast path, to be lowered: Ethernet, IPv4, and a TCP segment in order, or one that only acknowledges.

`usual` processes as many such records as follow each other; `walk`, with the same results, processes all others. These
functions are never run as Python: see `conformance.wire.columns.lowering`. An address is a number; a connection is the
address of its row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.capture.columns.places import (
        A_HIGH,
        A_LOW,
        ARENA,
        ARENA_ROWS,
        ARENA_USED,
        ARRIVED,
        ASTRAY,
        B_HIGH,
        B_LOW,
        BACK_NS,
        BASE_SIZE,
        BYTES,
        BYTES_AT,
        CHUNK,
        CONNECTION,
        DEADLINE,
        DOUBTED,
        ELSEWHERE,
        EMPTY,
        EXPECTED,
        FILE_ROWS,
        FINISHED,
        FIRST_NS,
        FLIP,
        FLOW,
        FOLLOWED,
        FREE,
        FREE_COUNT,
        HEAD,
        HEADER,
        HELD_BYTES,
        JOINED,
        LAST,
        LATEST,
        LENGTH,
        LINK,
        MAX_BUFFERED,
        NEED,
        NEWEST,
        NEXT,
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
        TAIL,
        TELLING,
        TIME,
        UNIT,
        WAITING,
    )
    from conformance.wire.headers import MAXIMUM_SIZE, SIGNATURE, VERSION

    def u8(at: int) -> int: ...
    def u16(at: int) -> int: ...
    def u32(at: int) -> int: ...
    def u64(at: int) -> int: ...
    def get(base: int, index: int) -> int: ...
    def put(base: int, index: int, value: int) -> int: ...
    def select(condition: int, one: int, other: int) -> int: ...
    def prefetch(at: int) -> int: ...
    def doubtful(at: int, size: int) -> int: ...  # of extents


_RECORD = 16  # bytes of a record's header
_HEADERS = 54  # the least size of the Ethernet, IPv4 and TCP headers
_FIRST = 80  # offset of the first side in the row of a connection, then of the second
_SECOND = 168
_WIDE = 88
_IN = 0x08
_SH = 0x10
_SESSION = 16
_NODE = 32
_SHORT_SESSION_ACK = 20
_MIX_A = -7046029254386353131
_MIX_B = -4417276706812531889
_MIX_C = 1609587929392839161
_LINE = 64
_AHEAD = 4096


def swap16(word: int) -> int:
    """Reverse two bytes."""
    return (word & 0xFF) << 8 | word >> 8


def swap32(word: int) -> int:
    """Reverse four bytes."""
    return (word & 0xFF) << 24 | (word & 0xFF00) << 8 | (word >> 8) & 0xFF00 | word >> 24


def slot_at(a_low: int, b_low: int, ports: int) -> int:
    """Return the slot of IPv4 addresses, as `streams.slot_of`."""
    mixed = (a_low * _MIX_A) ^ (b_low * _MIX_B) ^ (ports * _MIX_C)
    mixed = mixed ^ mixed >> 29
    return (mixed * _MIX_A >> 32) & (TABLE - 1)


def followed(flows: int, a_low: int, b_low: int, ports: int) -> int:
    """Return the row of an open connection; 0 when there is none."""
    slot = slot_at(a_low, b_low, ports)
    while True:
        row = flows + slot * (8 * FLOW)
        state = get(row, STATE)
        if state == FOLLOWED and get(row, A_LOW) == a_low and get(row, B_LOW) == b_low and get(row, PORTS) == ports:
            return select(get(row, A_HIGH) | get(row, B_HIGH) == 0, row, 0)
        if state == EMPTY:
            return 0
        slot = (slot + 1) & (TABLE - 1)


def long(at: int) -> int:
    """Return the length of the packet at an address by its BaseHeader; -1 when there is no packet."""
    size = u32(at + 8)
    if u32(at + 4) != SIGNATURE or u8(at) != VERSION or size < BASE_SIZE or size > MAXIMUM_SIZE:
        return -1
    return size


def behind(at: int, size: int) -> int:
    """Return the size of the SessionHeader that may follow these bytes."""
    flags = u16(at + 2)
    return _SESSION if flags & _SH != 0 and (flags & _IN == 0 or size == _SHORT_SESSION_ACK) else 0


def begins(at: int) -> int:
    """Return 1 when a packet can begin here, else 0."""
    return 1 if u8(at) == VERSION and u32(at + 4) == SIGNATURE else 0


def push(c: int, nodes: int, here: int, at: int, count: int) -> int:
    """Append bytes to those pending, as `streams.push`."""
    free = get(c, FREE)
    node = nodes + free * _NODE
    put(c, FREE, get(node, NEXT))
    put(c, FREE_COUNT, get(c, FREE_COUNT) - 1)
    put(node, BYTES_AT, at)
    put(node, BYTES, count)
    put(node, NEXT, -1)
    pending = get(here, PENDING)
    if pending == 0:
        put(here, HEAD, free)
    else:
        put(nodes + get(here, TAIL) * _NODE, NEXT, free)
    put(here, TAIL, free)
    put(here, PENDING, pending + count)
    put(c, HELD_BYTES, get(c, HELD_BYTES) + count)
    return 0


def copy(to: int, source: int, count: int) -> int:
    """Copy eight bytes at a time: up to seven more than `count`."""
    for at in range((count + 7) >> 3):
        put(to, at, u64(source + 8 * at))
    return 0


def join(base: int, c: int, nodes: int, here: int, to: int, at: int, count: int) -> int:
    """Join the pending bytes and `count` more to one packet in the arena; 0 if this is left to `streams.take`."""
    first = node = get(here, HEAD)
    begin = to
    freed = 0
    while node >= 0:
        row = nodes + node * _NODE
        if get(row, BYTES_AT) < 0:
            return 0
        copy(to, base + get(row, BYTES_AT), get(row, BYTES))
        to += get(row, BYTES)
        freed += 1
        node = get(row, NEXT)
    copy(to, base + at, count)
    if doubtful(begin, to + count - begin) != 0:
        return 0
    put(nodes + get(here, TAIL) * _NODE, NEXT, get(c, FREE))
    put(c, FREE, first)
    put(c, FREE_COUNT, get(c, FREE_COUNT) + freed)
    put(c, HELD_BYTES, get(c, HELD_BYTES) - get(here, PENDING))
    put(here, HEAD, -1)
    return 1


def arrived(c: int, flow: int, side: int, record: int, heard: int, upto: int) -> int:
    """Record when the pending bytes of a side have come."""
    at = ARRIVED + 4 * side
    put(flow, at, record)
    put(flow, at + 1, get(c, TIME))
    put(flow, at + 2, heard)
    put(flow, at + 3, upto)
    return 0


def forward(here: int, count: int) -> int:
    """Advance a side by `count` bytes."""
    put(here, OFFSET, get(here, OFFSET) + count)
    put(here, EXPECTED, (get(here, EXPECTED) + count) & 0xFFFFFFFF)
    return 0


def describe(c: int, of: int, record: int, flow: int, side: int, offset: int, heard: int) -> int:
    """Describe a packet, as `streams.describe`. of: address of the row."""
    put(of, OF_RECORD, record)
    put(of, OF_TIME, get(c, TIME))
    put(of, OF_CONNECTION, get(flow, CONNECTION))
    put(of, OF_SIDE, side)
    put(of, OF_OFFSET, offset)
    put(of, OF_HEARD, heard)
    put(of, OF_NUMBER, get(c, NUMBER))
    put(c, NUMBER, get(c, NUMBER) + 1)
    return 0


def parts(
    base: int, c: int, nodes: int, arena: int, rows: int, meta: int, arena_rows: int, arena_meta: int, flow: int,
    side: int, at: int, count: int, record: int, heard: int,
) -> int:  # fmt: skip
    """Cut bytes in order into packets, as `streams.take`; return how many are left to it."""
    here = flow + _FIRST + side * _WIDE
    while count > 0:
        if get(c, FREE_COUNT) < 2 or get(c, HELD_BYTES) + get(c, ELSEWHERE) > MAX_BUFFERED:
            return count
        pending = get(here, PENDING)
        part = count
        if pending != 0:
            length = get(here, LENGTH)
            if length == 0 or get(here, SHORT) != 0:
                return count
            part = min(count, length - pending)
            if part < length - pending:
                push(c, nodes, here, at, part)
                arrived(c, flow, side, record, heard, get(here, OFFSET) + part)
            else:
                row = get(c, ARENA_ROWS)
                to = get(c, ARENA_USED)
                if row >= ROWS or to + length + 3 * SLACK > ARENA:
                    return count
                if join(base, c, nodes, here, arena + to, at, part) == 0:
                    return count
                put(arena_rows, row, to)
                put(arena_rows, ROWS + row, length)
                put(c, ARENA_ROWS, row + 1)
                put(c, ARENA_USED, (to + length + 7) & -8)
                put(c, JOINED, get(c, JOINED) + 1)
                describe(c, arena_meta + 64 * row, record, flow, side, get(here, OFFSET) - pending, heard)
                put(here, PENDING, 0)
                put(here, NEED, BASE_SIZE)
                put(here, LENGTH, 0)
        elif count < BASE_SIZE:
            put(here, NEED, BASE_SIZE)
            put(here, LENGTH, 0)
            put(here, SHORT, 0)
            push(c, nodes, here, at, count)
            arrived(c, flow, side, record, heard, get(here, OFFSET) + part)
        else:
            size = long(base + at)
            if size < 0:
                return count
            more = behind(base + at, size)
            length = size + more
            undecided = 1 if more != 0 and count < size + TELLING else 0
            if more != 0 and undecided == 0 and begins(base + at + size) != 0:
                length = size
            if undecided != 0 or count < length:
                put(here, LENGTH, length)
                put(here, SHORT, size if undecided != 0 else 0)
                put(here, NEED, size + TELLING if undecided != 0 else length)
                push(c, nodes, here, at, count)
                arrived(c, flow, side, record, heard, get(here, OFFSET) + part)
            elif doubtful(base + at, length) != 0:
                return count
            else:
                part = length
                row = get(c, FILE_ROWS)
                if row >= ROWS:
                    return count
                put(rows, row, at)
                put(rows, ROWS + row, length)
                put(c, FILE_ROWS, row + 1)
                describe(c, meta + 64 * row, record, flow, side, get(here, OFFSET), heard)
        forward(here, part)
        at += part
        count -= part
    return 0


def usual(
    base: int, c: int, flows: int, nodes: int, arena: int, rows: int, meta: int, arena_rows: int, arena_meta: int
) -> int:
    """Walk on while records fit the fast path; return how many did.

    base: address of the file's bytes. c: of the cursor. The others are addresses of the arrays of `walk`.
    """
    if get(c, LINK) != 0 or get(c, SWAPPED) != 0 or get(c, HEADER) != _RECORD:
        return 0
    if get(c, HELD_BYTES) + get(c, ELSEWHERE) > MAX_BUFFERED:
        return 0
    unit = get(c, UNIT)
    deadline = get(c, DEADLINE)
    position = get(c, POSITION)
    first = record = get(c, RECORD)
    # Everything loaded with a record lies within the file.
    limit = get(c, SIZE) - SLACK
    stop = min(get(c, STOP), limit - _RECORD - _HEADERS)
    latest = get(c, TIME)
    newest = get(c, NEWEST)
    doubted = get(c, DOUBTED)
    while position < stop and get(c, FILE_ROWS) + get(c, ARENA_ROWS) < CHUNK:
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
        # Ethernet's type with IP's version and header length; the fragment with the protocol; then the TCP flags.
        if u32(frame + 12) & 0xFFFFFF != 0x450008 or u32(frame + 20) & 0xFF00FF3F != 0x06000000:
            break
        if u8(frame + 47) & 0x17 != 0x10 or time >= deadline:
            break
        if newest < FIRST_NS or (time < newest - BACK_NS and newest > doubted):
            break
        start = 34 + (u8(frame + 46) >> 4) * 4
        end = 14 + swap16(u16(frame + 16))
        count = end - start
        if start < _HEADERS or count < 0 or end > kept:
            break
        # The smaller end comes first: addresses with ports behind them compare as pairs do.
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
            if swap32(sequence) != get(here, EXPECTED) or get(here, WAITING) >= 0:
                break
            if get(there, LENGTH) != 0 and get(there, LENGTH) - get(there, PENDING) <= ASTRAY:
                break
            heard = max(0, get(there, OFFSET) + acknowledged)
            put(c, TIME, time)
            if parts(base, c, nodes, arena, rows, meta, arena_rows, arena_meta, flow, side, position + _RECORD + start,
                     count, record + 1, heard) != 0:  # fmt: skip
                break
        record += 1
        put(flow, LAST, record)
        put(flow, LATEST, max(get(flow, LATEST), time))
        latest = time
        newest = max(newest, time)
        position = following
    put(c, POSITION, position)
    put(c, RECORD, record)
    put(c, TIME, latest)
    put(c, NEWEST, newest)
    return record - first
