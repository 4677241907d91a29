"""Connections in the rows of the walk: finding them, and cutting the bytes of one side into packets.

The results equal those of `capture.stream` and `capture.framing`; unusual cases are left to them.
"""

from __future__ import annotations

from typing import Any

from conformance.capture.columns import extents, places
from conformance.capture.columns.intrinsics import move, source_of, u8, u16, u32
from conformance.capture.columns.places import (
    A_HIGH,
    A_LOW,
    ARENA_ROWS,
    ARENA_USED,
    ARRIVED,
    ASTRAY,
    AT_NUMBER,
    AT_RECORD,
    AT_SEQUENCE,
    AT_SLOT,
    AT_TIME,
    B_HIGH,
    B_LOW,
    BASE_SIZE,
    BYTES,
    BYTES_AT,
    CONNECTION,
    EMPTY,
    EXPECTED,
    FILE_ROWS,
    FLIP,
    FLOW,
    FOLLOWED,
    FREE,
    FREE_COUNT,
    HEAD,
    HELD_BYTES,
    JOINED,
    LAST,
    LATEST,
    LENGTH,
    NEED,
    NEXT,
    NUMBER,
    OF_CONNECTION,
    OF_HEARD,
    OF_NUMBER,
    OF_OFFSET,
    OF_RECORD,
    OF_SIDE,
    OF_SLOT,
    OF_TIME,
    OFFSET,
    OPENED,
    OVER,
    PENDING,
    PORTS,
    RECORD,
    REORDERED,
    REST_AT,
    REST_LENGTH,
    ROOM,
    SHORT,
    SIDES,
    SIZE,
    SLACK,
    STATE,
    STREAM_AT,
    TABLE,
    TAIL,
    TELLING,
    TIME,
    TOLD,
    WAITING,
    WAITING_BYTES,
    WAITING_COUNT,
    WHAT,
)  # fmt: skip
from conformance.wire import headers
from conformance.wire.columns.jit import compiled, lowered
from conformance.wire.headers import MAXIMUM_SIZE, SIGNATURE, VERSION

BAD = 1
_IN, _SH = 0x08, 0x10
_SESSION = 16
_SHORT_SESSION_ACK = 20
_MIX_A, _MIX_B, _MIX_C = -7046029254386353131, -4417276706812531889, 1609587929392839161
_EXTENTS = source_of(extents, places, headers)
_doubtful, _may_end = lowered(_EXTENTS, "doubtful"), lowered(_EXTENTS, "may_end")


@compiled
def be16(address: int) -> int:
    word: int = u16(address)
    return (word & 0xFF) << 8 | word >> 8


@compiled
def be32(address: int) -> int:
    return be16(address) << 16 | be16(address + 2)


@compiled
def be64(address: int) -> int:
    return be32(address) << 32 | be32(address + 4)


@compiled
def word32(address: int, swapped: int) -> int:
    return be32(address) if swapped else u32(address)


@compiled
def distance(later: int, earlier: int) -> int:
    """Return the distance of two sequence numbers, as `stream.distance`."""
    return ((later - earlier + 0x80000000) & 0xFFFFFFFF) - 0x80000000


@compiled
def slot_of(a_high: int, a_low: int, b_high: int, b_low: int, ports: int) -> int:
    mixed = (a_low * _MIX_A) ^ (b_low * _MIX_B) ^ (ports * _MIX_C) ^ a_high ^ (b_high << 1)
    mixed ^= mixed >> 29
    mixed *= _MIX_A
    return (mixed >> 32) & (TABLE - 1)


@compiled
def find(flows: Any, a_high: int, a_low: int, b_high: int, b_low: int, ports: int) -> int:
    """Return the row of a connection; -1 when it is not followed."""
    slot = slot_of(a_high, a_low, b_high, b_low, ports)
    for _ in range(TABLE):
        state = flows[slot, STATE]
        if state == EMPTY:
            return -1
        if (
            state in (FOLLOWED, OVER)
            and flows[slot, A_LOW] == a_low
            and flows[slot, B_LOW] == b_low
            and flows[slot, PORTS] == ports
            and flows[slot, A_HIGH] == a_high
            and flows[slot, B_HIGH] == b_high
        ):
            return slot
        slot = (slot + 1) & (TABLE - 1)
    return -1


@compiled
def place(flows: Any, a_high: int, a_low: int, b_high: int, b_low: int, ports: int) -> int:
    """Take a free row for a connection that is not yet followed, and return it."""
    slot = slot_of(a_high, a_low, b_high, b_low, ports)
    while flows[slot, STATE] in (FOLLOWED, OVER):
        slot = (slot + 1) & (TABLE - 1)
    flows[slot, STATE] = FOLLOWED
    flows[slot, A_HIGH] = a_high
    flows[slot, A_LOW] = a_low
    flows[slot, B_HIGH] = b_high
    flows[slot, B_LOW] = b_low
    flows[slot, PORTS] = ports
    return slot


@compiled
def begin(cursor: Any, flows: Any, slot: int, flip: int) -> None:
    """Initialise the row of a new connection, with the next number."""
    for at in range(PORTS + 1, FLOW):
        flows[slot, at] = 0
    cursor[OPENED] += 1
    cursor[ROOM] -= 1
    flows[slot, FLIP] = flip
    flows[slot, LAST] = cursor[RECORD]
    flows[slot, LATEST] = cursor[TIME]
    flows[slot, CONNECTION] = cursor[OPENED]
    for side in SIDES:
        flows[slot, side + EXPECTED] = -1
        flows[slot, side + HEAD] = -1
        flows[slot, side + TAIL] = -1
        flows[slot, side + NEED] = BASE_SIZE
        flows[slot, side + WAITING] = -1


@compiled
def tell(cursor: Any, told: Any, what: int, slot: int, sequence: int) -> None:
    row = cursor[TOLD]
    told[row, WHAT] = what
    told[row, AT_NUMBER] = cursor[NUMBER]
    told[row, AT_SLOT] = slot
    told[row, AT_RECORD] = cursor[RECORD]
    told[row, AT_TIME] = cursor[TIME]
    told[row, AT_SEQUENCE] = sequence
    cursor[TOLD] = row + 1


@compiled
def length_at(address: int) -> tuple[int, int]:
    """Return (length, the shorter of two or 0) of the packet whose BaseHeader is at the address; -1 for no packet.

    It agrees with `wire.framing.frame_length`, and with the framer of the one-by-one path on the two lengths of a
    SessionAck.
    """
    size = u32(address + 8)
    if u32(address + 4) != SIGNATURE or u8(address) != VERSION or size < BASE_SIZE or size > MAXIMUM_SIZE:
        return -1, 0
    flags = u16(address + 2)
    if flags & _SH and (not flags & _IN or size == _SHORT_SESSION_ACK):
        return size + _SESSION, size
    return size, 0


@compiled
def begins(address: int) -> bool:
    """Return True when the eight bytes at the address can begin a packet."""
    return u8(address) == VERSION and u32(address + 4) == SIGNATURE


@compiled
def doubtful(address: int, size: int) -> int:
    """Return 1 if the bytes behind a packet must show whether it is really as long as it announces, else 0."""
    answer: int = _doubtful((address, size))
    return answer


@compiled
def may_end(address: int, have: int, announced: int) -> int:
    """Return 1 if a packet may end within these bytes, a few before it announces; else 0."""
    answer: int = _may_end((address, have, announced))
    return answer


@compiled
def push(cursor: Any, flows: Any, nodes: Any, slot: int, side: int, at: int, count: int) -> None:
    """Append bytes of the file to those that wait for the rest of their packet."""
    node = cursor[FREE]
    cursor[FREE] = nodes[node, NEXT]
    cursor[FREE_COUNT] -= 1
    nodes[node, BYTES_AT] = at
    nodes[node, BYTES] = count
    nodes[node, NEXT] = -1
    if flows[slot, side + PENDING] == 0:
        flows[slot, side + HEAD] = node
    else:
        nodes[flows[slot, side + TAIL], NEXT] = node
    flows[slot, side + TAIL] = node
    flows[slot, side + PENDING] += count
    cursor[HELD_BYTES] += count


@compiled
def copy(base: int, spare: int, at: int, count: int, arena: Any, to: int) -> None:
    move(arena.ctypes.data + to, base + at if at >= 0 else spare - 1 - at, count)


@compiled
def gather(base: int, spare: int, nodes: Any, node: int, skip: int, count: int, arena: Any, to: int) -> None:
    """Copy `count` bytes of a chain, from byte `skip` on, to the arena."""
    while count > 0:
        here = nodes[node, BYTES]
        if skip < here:
            part = min(here - skip, count)
            at = nodes[node, BYTES_AT]
            copy(base, spare, at + skip if at >= 0 else at - skip, part, arena, to)
            to += part
            count -= part
            skip = 0
        else:
            skip -= here
        node = nodes[node, NEXT]


@compiled
def release(cursor: Any, flows: Any, nodes: Any, slot: int, side: int, count: int) -> None:
    """Release the first `count` pending bytes."""
    flows[slot, side + PENDING] -= count
    cursor[HELD_BYTES] -= count
    node = flows[slot, side + HEAD]
    while count > 0:
        here = nodes[node, BYTES]
        if here > count:
            at = nodes[node, BYTES_AT]
            nodes[node, BYTES_AT] = at + count if at >= 0 else at - count
            nodes[node, BYTES] = here - count
            break
        count -= here
        following = nodes[node, NEXT]
        nodes[node, NEXT] = cursor[FREE]
        cursor[FREE] = node
        cursor[FREE_COUNT] += 1
        node = following
    flows[slot, side + HEAD] = node


@compiled
def describe(cursor: Any, flows: Any, meta: Any, row: int, slot: int, side: int, offset: int, heard: int) -> None:
    meta[row, OF_RECORD] = cursor[RECORD]
    meta[row, OF_TIME] = cursor[TIME]
    meta[row, OF_CONNECTION] = flows[slot, CONNECTION]
    meta[row, OF_SIDE] = side
    meta[row, OF_OFFSET] = offset
    meta[row, OF_HEARD] = heard
    meta[row, OF_NUMBER] = cursor[NUMBER]
    meta[row, OF_SLOT] = slot
    cursor[NUMBER] += 1


@compiled
def answered(base: int, spare: int, cursor: Any, flows: Any, nodes: Any, arena: Any, slot: int, side: int) -> bool:
    """Return True if an answer may complete the packet that a side has pending (see `Framer.settle`)."""
    length = flows[slot, side + LENGTH]
    pending = flows[slot, side + PENDING]
    if length == 0 or length - pending > ASTRAY:
        return False
    to = cursor[ARENA_USED]
    if pending == flows[slot, side + SHORT] or to + pending + 2 * SLACK > len(arena):
        return True
    gather(base, spare, nodes, flows[slot, side + HEAD], 0, pending, arena, to)
    return may_end(arena.ctypes.data + to, pending, length) != 0


@compiled
def complete(
    base: int, spare: int, cursor: Any, flows: Any, nodes: Any, arena: Any, rows: Any, meta: Any, slot: int, side: int,
    number: int, length: int, heard: int,
) -> int:  # fmt: skip
    """Store the first `length` pending bytes as a packet. Returns BAD if it is doubtful that they are one.

    A packet that was all there before the last bytes came is as old as its own.
    """
    row = cursor[ARENA_ROWS]
    to = cursor[ARENA_USED]
    gather(base, spare, nodes, flows[slot, side + HEAD], 0, length, arena, to)
    if doubtful(arena.ctypes.data + to, length):
        return BAD
    rows[0, row] = to
    rows[1, row] = length
    cursor[ARENA_USED] = (to + length + 7) & -8
    start = flows[slot, side + OFFSET] - flows[slot, side + PENDING]
    describe(cursor, flows, meta, row, slot, number, start, heard)
    arrived = ARRIVED + 4 * number
    if start + length <= flows[slot, arrived + 3]:
        meta[row, OF_RECORD] = flows[slot, arrived]
        meta[row, OF_TIME] = flows[slot, arrived + 1]
        meta[row, OF_HEARD] = flows[slot, arrived + 2]
    cursor[ARENA_ROWS] = row + 1
    cursor[JOINED] += 1
    release(cursor, flows, nodes, slot, side, length)
    flows[slot, side + NEED] = BASE_SIZE
    flows[slot, side + LENGTH] = 0
    flows[slot, side + SHORT] = 0
    return 0


@compiled
def take(
    base: int, spare: int, cursor: Any, flows: Any, nodes: Any, arena: Any, file_rows: Any, file_meta: Any,
    arena_rows: Any, arena_meta: Any, slot: int, number: int, side: int, at: int, count: int, heard: int,
) -> int:  # fmt: skip
    """Cut bytes in order into packets. Returns BAD where one does not begin or end properly; REST gives the bytes left.

    EXPECTED and OFFSET are advanced by the bytes taken.
    """
    while count > 0:
        part = 0
        bad = False
        pending = flows[slot, side + PENDING]
        if pending == 0:
            if count < BASE_SIZE:
                flows[slot, side + NEED] = BASE_SIZE
                flows[slot, side + LENGTH] = 0
                flows[slot, side + SHORT] = 0
                part = count
                push(cursor, flows, nodes, slot, side, at, part)
            else:
                length, short = length_at(base + at)
                if length < 0:
                    bad = True
                else:
                    decided = short == 0 or count >= short + TELLING
                    if short and decided and begins(base + at + short):
                        length = short
                    if decided and count >= length and doubtful(base + at, length):
                        bad = True
                    elif decided and count >= length:
                        part = length
                        if at + length + SLACK > cursor[SIZE]:
                            push(cursor, flows, nodes, slot, side, at, part)
                            flows[slot, side + OFFSET] += part
                            complete(base, spare, cursor, flows, nodes, arena, arena_rows, arena_meta, slot, side,
                                     number, length, heard)  # fmt: skip
                            flows[slot, side + OFFSET] -= part
                        else:
                            row = cursor[FILE_ROWS]
                            file_rows[0, row] = at
                            file_rows[1, row] = length
                            describe(cursor, flows, file_meta, row, slot, number, flows[slot, side + OFFSET], heard)
                            cursor[FILE_ROWS] = row + 1
                    else:
                        part = count
                        flows[slot, side + LENGTH] = length
                        flows[slot, side + SHORT] = 0 if decided else short
                        flows[slot, side + NEED] = length if decided else short + TELLING
                        push(cursor, flows, nodes, slot, side, at, part)
        else:
            part = min(count, max(0, flows[slot, side + NEED] - pending))
            if part:
                push(cursor, flows, nodes, slot, side, at, part)
        flows[slot, side + OFFSET] += part
        flows[slot, side + EXPECTED] = (flows[slot, side + EXPECTED] + part) & 0xFFFFFFFF
        at += part
        count -= part
        # The pending bytes may now determine a length, decide between two lengths, or be a packet.
        while not bad and flows[slot, side + PENDING] and flows[slot, side + PENDING] >= flows[slot, side + NEED]:
            length = flows[slot, side + LENGTH]
            short = flows[slot, side + SHORT]
            scratch = len(arena) - SLACK
            head = flows[slot, side + HEAD]
            if length == 0:
                gather(base, spare, nodes, head, 0, BASE_SIZE, arena, scratch)
                length, short = length_at(arena.ctypes.data + scratch)
                if length < 0:
                    bad = True
                else:
                    flows[slot, side + LENGTH] = length
                    flows[slot, side + SHORT] = short
                    flows[slot, side + NEED] = short + TELLING if short else length
            elif short:
                gather(base, spare, nodes, head, short, TELLING, arena, scratch)
                length = short if begins(arena.ctypes.data + scratch) else length
                flows[slot, side + SHORT] = 0
                flows[slot, side + LENGTH] = length
                flows[slot, side + NEED] = length
            elif complete(base, spare, cursor, flows, nodes, arena, arena_rows, arena_meta, slot, side, number, length,
                          heard):  # fmt: skip
                bad = True
        if bad:
            # Give back the last bytes taken, so that there is a rest: the other code only examines new bytes.
            if part:
                nodes[flows[slot, side + TAIL], BYTES] -= part
                cursor[HELD_BYTES] -= part
                flows[slot, side + PENDING] -= part
                flows[slot, side + OFFSET] -= part
                flows[slot, side + EXPECTED] = (flows[slot, side + EXPECTED] - part) & 0xFFFFFFFF
            cursor[REST_AT] = at - part
            cursor[REST_LENGTH] = count + part
            return BAD
    if flows[slot, side + PENDING]:
        arrived = ARRIVED + 4 * number
        flows[slot, arrived] = cursor[RECORD]
        flows[slot, arrived + 1] = cursor[TIME]
        flows[slot, arrived + 2] = heard
        flows[slot, arrived + 3] = flows[slot, side + OFFSET]
    return 0


@compiled
def wait(cursor: Any, flows: Any, nodes: Any, slot: int, side: int, stream_at: int, at: int, count: int) -> None:
    """Insert bytes behind a hole, in order. The longer of two that begin at the same place stays."""
    before = -1
    node = flows[slot, side + WAITING]
    while node >= 0 and nodes[node, STREAM_AT] < stream_at:
        before = node
        node = nodes[node, NEXT]
    if node >= 0 and nodes[node, STREAM_AT] == stream_at:
        known = nodes[node, BYTES]
        if known < count:
            nodes[node, BYTES_AT] = at
            nodes[node, BYTES] = count
            flows[slot, side + WAITING_BYTES] += count - known
            cursor[HELD_BYTES] += count - known
        return
    fresh = cursor[FREE]
    cursor[FREE] = nodes[fresh, NEXT]
    cursor[FREE_COUNT] -= 1
    nodes[fresh, STREAM_AT] = stream_at
    nodes[fresh, BYTES_AT] = at
    nodes[fresh, BYTES] = count
    nodes[fresh, NEXT] = node
    if before < 0:
        flows[slot, side + WAITING] = fresh
    else:
        nodes[before, NEXT] = fresh
    flows[slot, side + WAITING_BYTES] += count
    flows[slot, side + WAITING_COUNT] += 1
    cursor[HELD_BYTES] += count
    cursor[REORDERED] += 1
