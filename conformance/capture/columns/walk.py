"""The walk: turns records of a classic capture file into packets, as machine code.

Its results equal those of `conformance.capture` while a connection goes its usual way: segments in order, out of order
or repeated, packets within a segment or over several. Everything else ends the call (see `places`).
"""

from __future__ import annotations

from typing import Any

from conformance.capture.columns import extents, fast_path, places
from conformance.capture.columns.intrinsics import prefetch, source_of, u8
from conformance.capture.columns.places import (
    ACKNOWLEDGED,
    ARENA_ROWS,
    ARENA_USED,
    AT,
    BACK,
    BACK_NS,
    BASE_SIZE,
    BYTES,
    BYTES_AT,
    CHUNK,
    CLOSES,
    DAMAGED,
    DEADLINE,
    DOUBTED,
    ELSEWHERE,
    ENDED,
    EXPECTED,
    FAR,
    FILE_ROWS,
    FINISHED,
    FIRST_END,
    FIRST_NS,
    FLAGS,
    FLIP,
    FREE,
    FREE_COUNT,
    FULL,
    HEADER,
    HELD_BYTES,
    KEPT,
    LAST,
    LATEST,
    LINK,
    MAX_BUFFERED,
    MAX_RECORD,
    MAX_WAITING,
    MAX_WAITING_SEGMENTS,
    NEITHER,
    NEWEST,
    NEXT,
    NOT_IP,
    OFFSET,
    OPENS,
    OTHER_PORTS,
    OVER,
    PENDING,
    PING_PORT,
    POSITION,
    RECORD,
    REPEATED,
    REST,
    ROOM,
    ROWS,
    SERVICES,
    SIDE,
    SIZE,
    SLACK,
    SLOT,
    SLOW,
    STATE,
    STOP,
    STREAM_AT,
    SWAPPED,
    TELLINGS,
    TICK,
    TICKED,
    TIME,
    TOLD,
    UNIT,
    WAITING,
    WAITING_BYTES,
    WAITING_COUNT,
)  # fmt: skip
from conformance.capture.columns.streams import (
    answered,
    be16,
    be32,
    be64,
    begin,
    distance,
    find,
    place,
    take,
    tell,
    wait,
    word32,
)
from conformance.capture.connections import MSMQ_PORT
from conformance.capture.encapsulation import UDP_PORTS as TUNNELS
from conformance.capture.services import TCP_PORTS, UDP_PORTS
from conformance.wire import headers
from conformance.wire.columns.jit import compiled, lowered

_FIN, _SYN, _RST, _ACK = 1, 2, 4, 16
_FIN_RST = _FIN | _RST
_LINE, _AHEAD = 64, 4096
_POST, _RPC, _BIND, _ALTER = 0x504F, 0x0500, 11, 14
_ARP, _ICMP, _IGMP = 0x0806, 1, 2
_TCP_PORTS = tuple(TCP_PORTS)
_UDP_PORTS = (PING_PORT, *UDP_PORTS, *TUNNELS)
_usual = lowered(source_of(extents, places, headers) + source_of(fast_path), "usual")


@compiled
def _row(ports: tuple[int, ...], port: int) -> int:
    """Return the place of a port among others; -1 if it is none of them."""
    for at in range(len(ports)):
        if ports[at] == port:
            return at
    return -1


@compiled
def walk(
    base: int, spare: int, cursor: Any, flows: Any, nodes: Any, arena: Any, file_rows: Any, file_meta: Any,
    arena_rows: Any, arena_meta: Any, told: Any,
) -> int:  # fmt: skip
    """Walk on from POSITION until something ends the call (see `places`).

    base: address of the file's bytes. spare: address of bytes that are no longer in a file. arena: uint8, for joined
    packets. file_rows, arena_rows: int64[2, ROWS], places and lengths of packets found; file_meta, arena_meta:
    int64[ROWS, 8], the description of each. told: int64[TELLINGS, 8], events of connections.
    """
    swapped, unit, header, link = cursor[SWAPPED], cursor[UNIT], cursor[HEADER], cursor[LINK]
    size, stop = cursor[SIZE], cursor[STOP]
    addresses = (
        base,
        cursor.ctypes.data,
        flows.ctypes.data,
        nodes.ctypes.data,
        arena.ctypes.data,
        file_rows.ctypes.data,
        file_meta.ctypes.data,
        arena_rows.ctypes.data,
        arena_meta.ctypes.data,
    )
    while True:
        _usual(addresses)
        position = cursor[POSITION]
        if position >= stop:
            return ENDED
        if cursor[FILE_ROWS] + cursor[ARENA_ROWS] >= CHUNK:
            return FULL
        if position + header > size:
            cursor[AT] = position
            return DAMAGED
        at = base + position
        kept = word32(at + 8, swapped)
        if kept > MAX_RECORD or position + header + kept > size or (kept == 0 and word32(at + 12, swapped) == 0):
            cursor[AT] = position
            return DAMAGED
        # A cache line is fetched long before it is needed; only this record determines the next.
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
        if time > cursor[NEWEST]:
            before = cursor[NEWEST]
            cursor[NEWEST] = time
            if 0 < before < FIRST_NS and time >= FIRST_NS:
                cursor[DOUBTED] = before
                return BACK
        elif time < cursor[NEWEST] - BACK_NS and cursor[NEWEST] > cursor[DOUBTED]:
            cursor[DOUBTED] = cursor[NEWEST]
            return BACK
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
            elif kind == _ARP:
                cursor[NOT_IP] += 1
                cursor[RECORD] += 1
                position = following
                cursor[POSITION] = position
                continue
            else:
                return SLOW
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
            if _row(_UDP_PORTS, from_port) >= 0 or _row(_UDP_PORTS, to_port) >= 0 or (length and length < 8):
                return SLOW
            cursor[OTHER_PORTS] += 1
            cursor[RECORD] += 1
            position = following
            cursor[POSITION] = position
            continue
        if protocol != 6:
            if protocol not in (_ICMP, _IGMP):
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
            if start + 3 <= min(end, limit):
                begins = be16(base + data + start)
                if begins == _POST or (begins == _RPC and u8(base + data + start + 2) in (_BIND, _ALTER)):
                    return SLOW
            row = _row(_TCP_PORTS, to_port)
            if row < 0:
                row = _row(_TCP_PORTS, from_port)
            if row >= 0:
                flags = u8(base + data + tcp + 13)
                if flags & _SYN and not flags & _ACK:
                    return SLOW
                cursor[SERVICES + 2 * row] += 1
                cursor[SERVICES + 2 * row + 1] += end - start
            cursor[OTHER_PORTS] += 1
            cursor[RECORD] += 1
            position = following
            cursor[POSITION] = position
            continue
        flags = u8(base + data + tcp + 13)
        count = end - start
        opens = False
        if flags & _SYN and (count or not flags & _ACK):
            opens = version == 4 and count == 0 and not flags & _FIN_RST and end <= limit
            if not opens or cursor[ROOM] <= 0 or cursor[TOLD] == TELLINGS:
                return SLOW
        # The connection. Its smaller end comes first.
        swap = (
            source_high > target_high
            or (source_high == target_high and source_low > target_low)
            or (source_high == target_high and source_low == target_low and from_port > to_port)
        )
        if swap:
            slot = find(flows, target_high, target_low, source_high, source_low, to_port << 16 | from_port)
        else:
            slot = find(flows, source_high, source_low, target_high, target_low, from_port << 16 | to_port)
        if opens:
            if slot >= 0 or (source_low == target_low and from_port == to_port):
                return SLOW
            cursor[RECORD] += 1
            if swap:
                slot = place(flows, target_high, target_low, source_high, source_low, to_port << 16 | from_port)
            else:
                slot = place(flows, source_high, source_low, target_high, target_low, from_port << 16 | to_port)
            begin(cursor, flows, slot, 1 if swap else 0)
            flows[slot, 10 + EXPECTED] = (be32(base + data + tcp + 4) + 1) & 0xFFFFFFFF
            tell(cursor, told, OPENS, slot, be32(base + data + tcp + 4))
            position = following
            cursor[POSITION] = position
            continue
        if slot < 0:
            return SLOW
        if flows[slot, STATE] == OVER:
            if (flags & _SYN and not flags & _ACK) or end > limit:
                return SLOW
            cursor[RECORD] += 1
            flows[slot, LAST] = cursor[RECORD]
            position = following
            cursor[POSITION] = position
            continue
        if flags & _RST or end > limit:
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
            if 0 < beyond <= FAR and not flows[slot, FINISHED] >> (1 - number) & 1:
                return SLOW  # It acknowledges bytes that are not here yet.
            heard = max(0, flows[slot, other + OFFSET] + beyond)
        if flows[slot, FINISHED] >> number & 1 and (count or flags & _FIN):
            return SLOW
        if flags & _FIN:
            if (
                count
                or flags & _SYN
                or flows[slot, side + PENDING]
                or flows[slot, side + WAITING] >= 0
                or be32(base + data + tcp + 4) != flows[slot, side + EXPECTED]
                or cursor[TOLD] == TELLINGS
            ):
                return SLOW
            flows[slot, FINISHED] |= 1 << number
            if flows[slot, FIRST_END] == 0:
                flows[slot, FIRST_END] = 1 + number
        if count:
            if answered(base, spare, cursor, flows, nodes, arena, slot, other):
                return SLOW
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
                        # Bytes that waited behind this are in order now; part of them may have come before.
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
            if flows[slot, FINISHED] == 3:
                flows[slot, STATE] = OVER
                tell(cursor, told, CLOSES, slot, 0)
        flows[slot, LAST] = cursor[RECORD]
        flows[slot, LATEST] = max(flows[slot, LATEST], time)
        position = following
        cursor[POSITION] = position
