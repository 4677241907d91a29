"""The walk: records of a classic capture file to packets, as machine code.

It does what `conformance.capture` does one by one as long as a connection goes its usual way: segments in order, out of
order or repeated, packets within a segment or over several. Everything else ends the call (see `places`).
"""

from __future__ import annotations

from typing import Any

from conformance.capture.columns.moving import move
from conformance.capture.columns.places import (
    A_HIGH,
    A_LOW,
    ACKNOWLEDGED,
    ARENA_ROWS,
    ARENA_USED,
    AT,
    B_HIGH,
    B_LOW,
    BYTES,
    BYTES_AT,
    CHUNK,
    CONNECTION,
    DAMAGED,
    DEADLINE,
    ELSEWHERE,
    EMPTY,
    ENDED,
    EXPECTED,
    FAR,
    FILE_ROWS,
    FLAGS,
    FLIP,
    FOLLOWED,
    FREE,
    FREE_COUNT,
    FULL,
    HEAD,
    HEADER,
    HELD_BYTES,
    JOINED,
    KEPT,
    LAST,
    LATEST,
    LENGTH,
    LINK,
    MAX_BUFFERED,
    MAX_RECORD,
    MAX_WAITING,
    MAX_WAITING_SEGMENTS,
    NEED,
    NEITHER,
    NEXT,
    NOT_IP,
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
    OTHER_PORTS,
    OVER,
    PENDING,
    PORTS,
    POSITION,
    RECORD,
    REORDERED,
    REPEATED,
    REST,
    REST_AT,
    REST_LENGTH,
    ROWS,
    SHORT,
    SIDE,
    SIZE,
    SLACK,
    SLOT,
    SLOW,
    STATE,
    STOP,
    STREAM_AT,
    SWAPPED,
    TABLE,
    TAIL,
    TICK,
    TICKED,
    TIME,
    UNIT,
    WAITING,
    WAITING_BYTES,
    WAITING_COUNT,
)  # fmt: skip
from conformance.capture.connections import MSMQ_PORT
from conformance.wire.base_header import MAXIMUM_SIZE, SIGNATURE, VERSION
from conformance.wire.columns.jit import inner, kernel, prefetch, u8, u16, u32

BASE_SIZE = 16
PING_PORT = 3527
TELLING = 8
_BAD = 1
_FIN_RST, _SYN, _ACK = 5, 2, 16
_IN, _SH = 0x08, 0x10
_SESSION = 16
_SHORT_SESSION_ACK = 20
_MIX_A, _MIX_B, _MIX_C = -7046029254386353131, -4417276706812531889, 1609587929392839161
_LINE, _AHEAD = 64, 4096


@inner
def be16(address: int) -> int:
    word = u16(address)
    return (word & 0xFF) << 8 | word >> 8


@inner
def be32(address: int) -> int:
    return be16(address) << 16 | be16(address + 2)


@inner
def be64(address: int) -> int:
    return be32(address) << 32 | be32(address + 4)


@inner
def word32(address: int, swapped: int) -> int:
    return be32(address) if swapped else u32(address)


@inner
def distance(later: int, earlier: int) -> int:
    """As `stream.distance`."""
    return ((later - earlier + 0x80000000) & 0xFFFFFFFF) - 0x80000000


@inner
def slot_of(a_high: int, a_low: int, b_high: int, b_low: int, ports: int) -> int:
    mixed = (a_low * _MIX_A) ^ (b_low * _MIX_B) ^ (ports * _MIX_C) ^ a_high ^ (b_high << 1)
    mixed ^= mixed >> 29
    mixed *= _MIX_A
    return (mixed >> 32) & (TABLE - 1)


@kernel
def find(flows: Any, a_high: int, a_low: int, b_high: int, b_low: int, ports: int) -> int:
    """The row of a connection, -1 when it is not followed."""
    slot = slot_of(a_high, a_low, b_high, b_low, ports)
    for _ in range(TABLE):
        state = flows[slot, STATE]
        if state == EMPTY:
            return -1
        if (
            (state == FOLLOWED or state == OVER)
            and flows[slot, A_LOW] == a_low
            and flows[slot, B_LOW] == b_low
            and flows[slot, PORTS] == ports
            and flows[slot, A_HIGH] == a_high
            and flows[slot, B_HIGH] == b_high
        ):
            return slot
        slot = (slot + 1) & (TABLE - 1)
    return -1


@kernel
def place(flows: Any, a_high: int, a_low: int, b_high: int, b_low: int, ports: int) -> int:
    """A free row for a connection that is not followed yet."""
    slot = slot_of(a_high, a_low, b_high, b_low, ports)
    while flows[slot, STATE] == FOLLOWED or flows[slot, STATE] == OVER:
        slot = (slot + 1) & (TABLE - 1)
    flows[slot, STATE] = FOLLOWED
    flows[slot, A_HIGH] = a_high
    flows[slot, A_LOW] = a_low
    flows[slot, B_HIGH] = b_high
    flows[slot, B_LOW] = b_low
    flows[slot, PORTS] = ports
    return slot


@inner
def length_at(address: int) -> tuple[int, int]:
    """(length, the shorter of two or 0) of the packet whose BaseHeader is at the address; -1 when it is none.

    As `wire.framing.frame_length`, with the two of a SessionAck as the framer of the one-by-one path has them.
    """
    size = u32(address + 8)
    if u32(address + 4) != SIGNATURE or u8(address) != VERSION or size < BASE_SIZE or size > MAXIMUM_SIZE:
        return -1, 0
    flags = u16(address + 2)
    if flags & _SH and (not flags & _IN or size == _SHORT_SESSION_ACK):
        return size + _SESSION, size
    return size, 0


@inner
def begins(address: int) -> bool:
    """Whether the eight bytes at the address can begin a packet."""
    return u8(address) == VERSION and u32(address + 4) == SIGNATURE


@inner
def push(cursor: Any, flows: Any, nodes: Any, slot: int, side: int, at: int, count: int) -> None:
    """Bytes of the file behind those that wait for the rest of their packet."""
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


@inner
def copy(base: int, spare: int, at: int, count: int, arena: Any, to: int) -> None:
    move(arena.ctypes.data + to, base + at if at >= 0 else spare - 1 - at, count)


@inner
def gather(base: int, spare: int, nodes: Any, node: int, skip: int, count: int, arena: Any, to: int) -> None:
    """`count` bytes of a chain, from the one `skip` bytes on."""
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


@inner
def release(cursor: Any, flows: Any, nodes: Any, slot: int, side: int, count: int) -> None:
    """The first `count` pending bytes are done with."""
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


@inner
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


@inner
def complete(
    base: int, spare: int, cursor: Any, flows: Any, nodes: Any, arena: Any, rows: Any, meta: Any, slot: int, side: int,
    number: int, length: int, heard: int,
) -> None:  # fmt: skip
    """The first `length` pending bytes are a packet."""
    row = cursor[ARENA_ROWS]
    to = cursor[ARENA_USED]
    gather(base, spare, nodes, flows[slot, side + HEAD], 0, length, arena, to)
    rows[0, row] = to
    rows[1, row] = length
    cursor[ARENA_USED] = (to + length + 7) & -8
    start = flows[slot, side + OFFSET] - flows[slot, side + PENDING]
    describe(cursor, flows, meta, row, slot, number, start, heard)
    cursor[ARENA_ROWS] = row + 1
    cursor[JOINED] += 1
    release(cursor, flows, nodes, slot, side, length)
    flows[slot, side + NEED] = BASE_SIZE
    flows[slot, side + LENGTH] = 0
    flows[slot, side + SHORT] = 0


@inner
def take(
    base: int, spare: int, cursor: Any, flows: Any, nodes: Any, arena: Any, file_rows: Any, file_meta: Any,
    arena_rows: Any, arena_meta: Any, slot: int, number: int, side: int, at: int, count: int, heard: int,
) -> int:  # fmt: skip
    """Bytes in order: cut them into packets. Returns _BAD where one does not begin as it must; REST says what is left.

    EXPECTED and OFFSET are moved on by what was taken.
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
                    if decided and count >= length:
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
        # What is pending may now be enough to tell a length, which of two lengths it is, or to be a packet.
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
            else:
                complete(base, spare, cursor, flows, nodes, arena, arena_rows, arena_meta, slot, side, number, length,
                         heard)  # fmt: skip
        if bad:
            cursor[REST_AT] = at
            cursor[REST_LENGTH] = count
            return _BAD
    return 0


@inner
def wait(cursor: Any, flows: Any, nodes: Any, slot: int, side: int, stream_at: int, at: int, count: int) -> None:
    """Bytes behind a hole: kept in order. The longer of two that begin at the same place stays."""
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


@kernel
def walk(
    base: int, spare: int, cursor: Any, flows: Any, nodes: Any, arena: Any, file_rows: Any, file_meta: Any,
    arena_rows: Any, arena_meta: Any,
) -> int:  # fmt: skip
    """Walk on from POSITION until something ends the call (see `places`).

    base: address of the file's bytes. spare: of bytes that stand in no file any more. arena: uint8, for packets that
    are put together. file_rows, arena_rows: int64[2, ROWS], places and lengths of packets found; file_meta, arena_meta:
    int64[ROWS, 8], what belongs to each.
    """
    swapped, unit, header, link = cursor[SWAPPED], cursor[UNIT], cursor[HEADER], cursor[LINK]
    size, stop = cursor[SIZE], cursor[STOP]
    position = cursor[POSITION]
    while True:
        if position >= stop:
            return ENDED
        if cursor[FILE_ROWS] + cursor[ARENA_ROWS] >= CHUNK:
            return FULL
        if position + header > size:
            cursor[AT] = position
            return DAMAGED
        at = base + position
        kept = word32(at + 8, swapped)
        if kept > MAX_RECORD or position + header + kept > size:
            cursor[AT] = position
            return DAMAGED
        # A line is fetched long before it is needed; the next record is known only from this one.
        ahead = at + _AHEAD
        line = 0
        while line < kept + header and line < _AHEAD:
            prefetch(ahead + line)
            line += _LINE
        time = word32(at, swapped) * 1_000_000_000 + word32(at + 4, swapped) * unit
        data = position + header
        cursor[AT] = data
        cursor[KEPT] = kept
        cursor[TIME] = time
        if time >= cursor[DEADLINE] and cursor[TICKED] != position:
            cursor[TICKED] = position
            return TICK
        following = data + kept
        # The link layer.
        limit = kept
        ip = 0
        version = 0
        if link == 0 or link == 2 or link == 3:
            where = 12 if link == 0 else 14 if link == 2 else 0
            if where + 2 > limit:
                return SLOW
            kind = be16(base + data + where)
            if link == 3:
                ip = 20
            else:
                for _ in range(4):
                    if kind != 0x8100 and kind != 0x88A8 and kind != 0x9100:
                        break
                    where += 4
                    if where + 2 > limit:
                        return SLOW
                    kind = be16(base + data + where)
                ip = where + 2
            if kind == 0x0800:
                version = 4
            elif kind == 0x86DD:
                version = 6
            else:
                cursor[NOT_IP] += 1
                cursor[RECORD] += 1
                position = following
                cursor[POSITION] = position
                continue
        else:
            ip = 0 if link == 1 else 4
            if ip >= limit:
                return SLOW
            version = u8(base + data + ip) >> 4
        # IP.
        if version == 4:
            if ip + 20 > limit:
                return SLOW
            first = u8(base + data + ip)
            total = be16(base + data + ip + 2)
            internet = (first & 15) * 4
            if first >> 4 != 4 or internet < 20 or total < internet or be16(base + data + ip + 6) & 0x3FFF:
                return SLOW
            protocol = u8(base + data + ip + 9)
            source_high = 0
            target_high = 0
            source_low = 0xFFFF00000000 | be32(base + data + ip + 12)
            target_low = 0xFFFF00000000 | be32(base + data + ip + 16)
            tcp = ip + internet
            end = ip + total
        elif version == 6:
            if ip + 40 > limit:
                return SLOW
            total = be16(base + data + ip + 4)
            protocol = u8(base + data + ip + 6)
            if u8(base + data + ip) >> 4 != 6 or total == 0 or (protocol != 6 and protocol != 17):
                return SLOW
            source_high = be64(base + data + ip + 8)
            source_low = be64(base + data + ip + 16)
            target_high = be64(base + data + ip + 24)
            target_low = be64(base + data + ip + 32)
            tcp = ip + 40
            end = tcp + total
        else:
            return SLOW
        if protocol == 17 and tcp + 8 <= limit:
            length = be16(base + data + tcp + 4)
            from_port = be16(base + data + tcp)
            to_port = be16(base + data + tcp + 2)
            if from_port == PING_PORT or to_port == PING_PORT or (length and length < 8):
                return SLOW
            cursor[OTHER_PORTS] += 1
            cursor[RECORD] += 1
            position = following
            cursor[POSITION] = position
            continue
        if protocol != 6:
            if protocol == 17:
                return SLOW
            cursor[NEITHER] += 1
            cursor[RECORD] += 1
            position = following
            cursor[POSITION] = position
            continue
        # TCP.
        if tcp + 14 > limit:
            return SLOW
        from_port = be16(base + data + tcp)
        to_port = be16(base + data + tcp + 2)
        words = u8(base + data + tcp + 12) >> 4
        start = tcp + words * 4
        if words < 5 or start > end:
            return SLOW
        if from_port != MSMQ_PORT and to_port != MSMQ_PORT:
            cursor[OTHER_PORTS] += 1
            cursor[RECORD] += 1
            position = following
            cursor[POSITION] = position
            continue
        flags = u8(base + data + tcp + 13)
        count = end - start
        if flags & _SYN and (count or not flags & _ACK):
            return SLOW
        # The connection. Its smaller end stands first.
        swap = (
            source_high > target_high
            or (source_high == target_high and source_low > target_low)
            or (source_high == target_high and source_low == target_low and from_port > to_port)
        )
        if swap:
            slot = find(flows, target_high, target_low, source_high, source_low, to_port << 16 | from_port)
        else:
            slot = find(flows, source_high, source_low, target_high, target_low, from_port << 16 | to_port)
        if slot < 0:
            return SLOW
        if flows[slot, STATE] == OVER:
            if flags & _SYN and not flags & _ACK:
                return SLOW
            cursor[RECORD] += 1
            flows[slot, LAST] = cursor[RECORD]
            position = following
            cursor[POSITION] = position
            continue
        if flags & _FIN_RST or end > limit:
            return SLOW
        number = (1 if swap else 0) ^ flows[slot, FLIP]
        side = 10 + 11 * number
        other = 10 + 11 * (1 - number)
        heard = 0
        if flows[slot, other + EXPECTED] < 0 or (flows[slot, side + EXPECTED] < 0 and not flags & _SYN):
            return SLOW
        if flags & _ACK:
            acknowledged = be32(base + data + tcp + 8)
            beyond = distance(acknowledged, flows[slot, other + EXPECTED])
            if 0 < beyond <= FAR:
                return SLOW  # It has heard what is not here yet.
            heard = max(0, flows[slot, other + OFFSET] + beyond)
        if count:
            short = flows[slot, other + SHORT]
            if short and flows[slot, other + PENDING] == short:
                return SLOW  # The answer decides how long the packet before it is.
            waiting = flows[slot, side + WAITING_BYTES]
            bound = count + waiting + flows[slot, side + PENDING]
            room = cursor[ARENA_USED] + bound + 2 * SLACK + 8 * (bound // BASE_SIZE + 2)
            rows = max(cursor[FILE_ROWS], cursor[ARENA_ROWS]) + bound // BASE_SIZE + 2
            if room > len(arena) or rows > ROWS:
                return FULL if cursor[FILE_ROWS] + cursor[ARENA_ROWS] else SLOW
            if cursor[FREE_COUNT] < 16 + 8 * flows[slot, side + WAITING_COUNT]:
                return SLOW
            if cursor[HELD_BYTES] + cursor[ELSEWHERE] > MAX_BUFFERED:
                return SLOW
            sequence = be32(base + data + tcp + 4)
            ahead_by = distance(sequence, flows[slot, side + EXPECTED])
            if ahead_by > FAR or ahead_by < -FAR:
                return SLOW
            if ahead_by > 0:
                if waiting + count > MAX_WAITING or flows[slot, side + WAITING_COUNT] >= MAX_WAITING_SEGMENTS:
                    return SLOW
                stream_at = flows[slot, side + OFFSET] + ahead_by
                cursor[RECORD] += 1
                wait(cursor, flows, nodes, slot, side, stream_at, data + start, count)
            else:
                cursor[RECORD] += 1
                if ahead_by + count <= 0:
                    cursor[REPEATED] += 1
                else:
                    piece = data + start - ahead_by
                    have = count + ahead_by
                    while True:
                        bad = take(base, spare, cursor, flows, nodes, arena, file_rows, file_meta, arena_rows,
                                   arena_meta, slot, number, side, piece, have, heard)  # fmt: skip
                        node = flows[slot, side + WAITING]
                        if bad or node < 0 or nodes[node, STREAM_AT] > flows[slot, side + OFFSET]:
                            break
                        # What waited behind this is in order now; part of it may have come before.
                        known = flows[slot, side + OFFSET] - nodes[node, STREAM_AT]
                        piece = nodes[node, BYTES_AT] + known
                        have = nodes[node, BYTES] - known
                        flows[slot, side + WAITING] = nodes[node, NEXT]
                        flows[slot, side + WAITING_BYTES] -= have + known
                        flows[slot, side + WAITING_COUNT] -= 1
                        cursor[HELD_BYTES] -= have + known
                        nodes[node, NEXT] = cursor[FREE]
                        cursor[FREE] = node
                        cursor[FREE_COUNT] += 1
                    if bad:
                        cursor[SLOT] = slot
                        cursor[SIDE] = number
                        cursor[ACKNOWLEDGED] = be32(base + data + tcp + 8)
                        cursor[FLAGS] = flags
                        flows[slot, LAST] = cursor[RECORD]
                        flows[slot, LATEST] = max(flows[slot, LATEST], time)
                        cursor[POSITION] = following
                        return REST
        else:
            cursor[RECORD] += 1
            if flags & _SYN and flows[slot, side + EXPECTED] < 0:
                flows[slot, side + EXPECTED] = (be32(base + data + tcp + 4) + 1) & 0xFFFFFFFF
        flows[slot, LAST] = cursor[RECORD]
        flows[slot, LATEST] = max(flows[slot, LATEST], time)
        position = following
        cursor[POSITION] = position
