"""Connections in the rows of the walk: finding them, and cutting the bytes of one side into packets, to be lowered.

The results equal those of `capture.framing`; unusual cases are left to it. These functions are never run as Python (see
`conformance.wire.columns.lowering`). `c` is the address of the cursor; a connection is the address of its row, `here`
and `there` of a side in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.capture.columns import places as p
from conformance.capture.framing import FAR, MAX_WAITING, MAX_WAITING_SEGMENTS, SHORT_SESSION_ACK, TELLING
from conformance.wire.columns.calls import apart
from conformance.wire.extents import ASTRAY
from conformance.wire.framing import BASE_SIZE, INTERNAL, SESSION
from conformance.wire.headers import MAXIMUM_SIZE, SESSION_HEADER_SIZE, SIGNATURE, VERSION

if TYPE_CHECKING:
    from conformance.wire.columns.calls import add, get, move, put, u8, u16, u32

    # Of `conformance.wire.extents`: bytes are an address here.
    def extent(data: int, have: int) -> int: ...
    def doubtful(data: int, size: int) -> bool: ...


_ROW = 8 * p.FLOW
_SIDE_AT, _SIDE_SIZE = 8 * p.SIDES[0], 8 * (p.SIDES[1] - p.SIDES[0])
_NODE = 32
_META = 64
_MIX_A, _MIX_B, _MIX_C = -7046029254386353131, -4417276706812531889, 1609587929392839161


def slot_of(ends: int) -> int:
    """Return the slot in which the search for a connection begins. ends: address of a row with A_HIGH to PORTS."""
    mixed = (get(ends, p.A_LOW) * _MIX_A) ^ (get(ends, p.B_LOW) * _MIX_B) ^ (get(ends, p.PORTS) * _MIX_C)
    mixed ^= get(ends, p.A_HIGH) ^ (get(ends, p.B_HIGH) << 1)
    mixed ^= mixed >> 29
    return (mixed * _MIX_A >> 32) & (p.TABLE - 1)


def find(c: int, ends: int) -> int:
    """Return the slot of a connection; -1 when it is not followed."""
    slot = slot_of(ends)
    while True:
        row = get(c, p.FLOWS) + slot * _ROW
        state = get(row, p.STATE)
        if state == p.EMPTY:
            return -1
        if get(row, p.A_LOW) == get(ends, p.A_LOW) and get(row, p.B_LOW) == get(ends, p.B_LOW):
            other = get(row, p.A_HIGH) ^ get(ends, p.A_HIGH) | get(row, p.B_HIGH) ^ get(ends, p.B_HIGH)
            if other | get(row, p.PORTS) ^ get(ends, p.PORTS) == 0 and state != p.GONE:
                return slot
        slot = (slot + 1) & (p.TABLE - 1)


def place(c: int, ends: int) -> int:
    """Take a free slot for a connection that is not yet followed, and return it."""
    slot = slot_of(ends)
    row = get(c, p.FLOWS) + slot * _ROW
    while get(row, p.STATE) == p.FOLLOWED or get(row, p.STATE) == p.OVER:
        slot = (slot + 1) & (p.TABLE - 1)
        row = get(c, p.FLOWS) + slot * _ROW
    put(row, p.STATE, p.FOLLOWED)
    move(row + 8 * p.A_HIGH, ends + 8 * p.A_HIGH, 8 * (p.FLIP - p.A_HIGH))
    return slot


@apart
def tell(c: int, what: int, slot: int, sequence: int) -> int:
    """Leave an event of a connection."""
    told = get(c, p.TOLD_AT) + 64 * get(c, p.TOLD)
    put(told, p.WHAT, what, get(c, p.NUMBER), slot, get(c, p.RECORD), get(c, p.TIME), sequence)
    return add(c, p.TOLD, 1)


def side_of(row: int, number: int) -> int:
    """Return the address of a side."""
    return row + _SIDE_AT + number * _SIDE_SIZE


def announced(at: int) -> int:
    """Return the PacketSize of the packet at an address; -1 when there is no packet."""
    size = u32(at + 8)
    if u32(at + 4) != SIGNATURE or u8(at) != VERSION or size < BASE_SIZE or size > MAXIMUM_SIZE:
        return -1
    return size


def behind(at: int, size: int) -> int:
    """Return the size of the SessionHeader that may follow these bytes."""
    flags = u16(at + 2)
    return SESSION_HEADER_SIZE if flags & SESSION != 0 and (flags & INTERNAL == 0 or size == SHORT_SESSION_ACK) else 0


def begins(at: int) -> bool:
    """Return True when the eight bytes at an address can begin a packet."""
    return u8(at) == VERSION and u32(at + 4) == SIGNATURE


def free(c: int, node: int) -> int:
    """Free a node; return the one behind it."""
    row = get(c, p.NODES_AT) + node * _NODE
    following = get(row, p.NEXT)
    put(row, p.NEXT, get(c, p.FREE))
    put(c, p.FREE, node)
    add(c, p.FREE_COUNT, 1)
    return following


def node_for(c: int, at: int, count: int, following: int) -> int:
    """Take a free node for bytes, with this one behind it, and return it."""
    node = get(c, p.FREE)
    row = get(c, p.NODES_AT) + node * _NODE
    put(c, p.FREE, get(row, p.NEXT))
    add(c, p.FREE_COUNT, -1)
    put(row, p.BYTES_AT, at, count, following)
    add(c, p.HELD_BYTES, count)
    return node


def push(c: int, here: int, at: int, count: int) -> int:
    """Append bytes of the file to those that wait for the rest of their packet."""
    node = node_for(c, at, count, -1)
    if get(here, p.PENDING) == 0:
        put(here, p.HEAD, node)
    else:
        put(get(c, p.NODES_AT) + get(here, p.TAIL) * _NODE, p.NEXT, node)
    put(here, p.TAIL, node)
    return add(here, p.PENDING, count)


@apart
def gather(c: int, node: int, skip: int, count: int, to: int) -> int:
    """Copy `count` bytes of a chain, from byte `skip` on, to an address."""
    while count > 0:
        row = get(c, p.NODES_AT) + node * _NODE
        part = min(get(row, p.BYTES) - skip, count)
        if part > 0:
            at = get(row, p.BYTES_AT)
            move(to, skip + (get(c, p.BASE) + at if at >= 0 else get(c, p.SPARE_AT) - 1 - at), part)
            to += part
            count -= part
            skip = 0
        else:
            skip -= get(row, p.BYTES)
        node = get(row, p.NEXT)
    return 0


def release(c: int, here: int, count: int) -> int:
    """Release the first `count` pending bytes."""
    add(here, p.PENDING, -count)
    add(c, p.HELD_BYTES, -count)
    node = get(here, p.HEAD)
    while count > 0:
        row = get(c, p.NODES_AT) + node * _NODE
        if get(row, p.BYTES) > count:
            add(row, p.BYTES_AT, count if get(row, p.BYTES_AT) >= 0 else -count)
            add(row, p.BYTES, -count)
            break
        count -= get(row, p.BYTES)
        node = free(c, node)
    return put(here, p.HEAD, node)


def found(c: int, buffer: int, at: int, length: int, row: int, number: int, offset: int, heard: int) -> int:
    """Describe a packet; return the address of its description. buffer: 0 for the file, 1 for the arena."""
    count = get(c, p.FILE_ROWS + buffer)
    rows = get(c, p.ROWS_AT + buffer)
    put(rows, count, at)
    put(rows, p.ROWS + count, length)
    put(c, p.FILE_ROWS + buffer, count + 1)
    meta = get(c, p.META_AT + buffer) + _META * count
    put(meta, p.OF_RECORD, get(c, p.RECORD), get(c, p.TIME), get(row, p.CONNECTION), number, offset, heard)
    put(meta, p.OF_NUMBER, get(c, p.NUMBER))
    add(c, p.NUMBER, 1)
    return meta


@apart
def answered(c: int, there: int, length: int) -> bool:
    """Return True if an answer may complete the packet of `length` bytes that a side has pending (`Framer.settle`)."""
    pending = get(there, p.PENDING)
    used = get(c, p.ARENA_USED)
    if pending == get(there, p.SHORT) or used + pending + 2 * p.SLACK > p.ARENA:
        return True
    to = get(c, p.ARENA_AT) + used
    gather(c, get(there, p.HEAD), 0, pending, to)
    own = extent(to, pending)
    return own > 0 and own <= pending and length <= own + ASTRAY


def forward(here: int, count: int) -> int:
    """Advance a side by `count` bytes."""
    add(here, p.OFFSET, count)
    return put(here, p.EXPECTED, (get(here, p.EXPECTED) + count) & 0xFFFFFFFF)


def complete(c: int, row: int, number: int, length: int, heard: int) -> bool:
    """Store the first `length` pending bytes as a packet. Returns False if it is doubtful that they are one.

    A packet that was all there before the last bytes came is as old as its own.
    """
    here = side_of(row, number)
    used = get(c, p.ARENA_USED)
    to = get(c, p.ARENA_AT) + used
    gather(c, get(here, p.HEAD), 0, length, to)
    if doubtful(to, length):
        return False
    start = get(here, p.OFFSET) - get(here, p.PENDING)
    meta = found(c, 1, used, length, row, number, start, heard)
    arrived = row + 8 * (p.ARRIVED + 4 * number)
    if start + length <= get(arrived, 3):
        put(meta, p.OF_RECORD, get(arrived, 0), get(arrived, 1))
        put(meta, p.OF_HEARD, get(arrived, 2))
    put(c, p.ARENA_USED, (used + length + 7) & -8)
    add(c, p.JOINED, 1)
    release(c, here, length)
    put(here, p.NEED, BASE_SIZE, 0, 0)
    return True


def settled(c: int, row: int, number: int, heard: int) -> bool:
    """Decide what the pending bytes tell: a length, which of two, or packets. Returns False where this is doubtful."""
    here = side_of(row, number)
    scratch = get(c, p.ARENA_AT) + p.ARENA - p.SLACK
    while get(here, p.PENDING) != 0 and get(here, p.PENDING) >= get(here, p.NEED):
        length = get(here, p.LENGTH)
        short = get(here, p.SHORT)
        if length == 0:
            gather(c, get(here, p.HEAD), 0, BASE_SIZE, scratch)
            size = announced(scratch)
            if size < 0:
                return False
            more = behind(scratch, size)
            put(here, p.NEED, size + (TELLING if more != 0 else 0), size + more, size if more != 0 else 0)
        elif short != 0:
            gather(c, get(here, p.HEAD), short, TELLING, scratch)
            length = short if begins(scratch) else length
            put(here, p.NEED, length, length, 0)
        elif not complete(c, row, number, length, heard):
            return False
    return True


def first(c: int, row: int, number: int, at: int, count: int, heard: int) -> int:
    """Take one packet, or its beginning, where none is pending; return the bytes taken, -1 where it begins none."""
    here = side_of(row, number)
    address = get(c, p.BASE) + at
    need, length, short = BASE_SIZE, 0, 0
    if count >= BASE_SIZE:
        size = announced(address)
        if size < 0:
            return -1
        more = behind(address, size)
        need = length = size + more
        if more != 0 and count < size + TELLING:
            need, short = size + TELLING, size
        elif more != 0 and begins(address + size):
            need = length = size
        if count >= need:
            if doubtful(address, length):
                return -1
            if at + length + p.SLACK <= get(c, p.SIZE):
                found(c, 0, at, length, row, number, get(here, p.OFFSET), heard)
                return length
            count = length
    put(here, p.NEED, need, length, short)
    push(c, here, at, count)
    return count


def take(c: int, row: int, number: int, at: int, count: int, heard: int) -> bool:
    """Cut bytes in order into packets. Returns False where one does not begin or end properly; REST_AT says where.

    EXPECTED and OFFSET are advanced by the bytes taken.
    """
    here = side_of(row, number)
    while count > 0:
        pending = get(here, p.PENDING)
        if pending == 0:
            part = first(c, row, number, at, count, heard)
        else:
            part = min(count, max(0, get(here, p.NEED) - pending))
            if part != 0:
                push(c, here, at, part)
        good = part >= 0
        if good:
            forward(here, part)
            good = get(here, p.PENDING) == 0 or settled(c, row, number, heard)
            if not good:
                # Give back the last bytes taken, so that there is a rest: the other code only examines new bytes.
                forward(here, -part)
                add(here, p.PENDING, -part)
                add(c, p.HELD_BYTES, -part)
                add(get(c, p.NODES_AT) + get(here, p.TAIL) * _NODE, p.BYTES, -part)
        if not good:
            put(c, p.REST_AT, at, count)
            return False
        at += part
        count -= part
    if get(here, p.PENDING) != 0:
        arrived = row + 8 * (p.ARRIVED + 4 * number)
        put(arrived, 0, get(c, p.RECORD), get(c, p.TIME), heard, get(here, p.OFFSET))
    return True


@apart
def wait(c: int, here: int, ahead: int, at: int, count: int) -> bool:
    """Keep bytes behind a hole, in order, unless they are too far or too many. Of two at one place the longer stays."""
    waiting = get(here, p.WAITING_BYTES)
    if waiting + count > MAX_WAITING or get(here, p.WAITING_COUNT) >= MAX_WAITING_SEGMENTS or ahead > FAR:
        return False
    stream_at = get(here, p.OFFSET) + ahead
    link = here + 8 * p.WAITING
    node = get(link, 0)
    row = get(c, p.NODES_AT) + node * _NODE
    while node >= 0 and get(row, p.STREAM_AT) < stream_at:
        link = row + 8 * p.NEXT
        node = get(link, 0)
        row = get(c, p.NODES_AT) + node * _NODE
    if node >= 0 and get(row, p.STREAM_AT) == stream_at:
        known = get(row, p.BYTES)
        if known < count:
            put(row, p.BYTES_AT, at, count)
            add(here, p.WAITING_BYTES, count - known)
            add(c, p.HELD_BYTES, count - known)
        return True
    fresh = node_for(c, at, count, node)
    put(get(c, p.NODES_AT) + fresh * _NODE, p.STREAM_AT, stream_at)
    put(link, 0, fresh)
    add(here, p.WAITING_BYTES, count)
    add(here, p.WAITING_COUNT, 1)
    add(c, p.REORDERED, 1)
    return True
