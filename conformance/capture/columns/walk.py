"""The walk: turns records of a classic capture file into packets, to be lowered.

Its results equal those of `conformance.capture` while a connection goes its usual way: segments in order, out of order
or repeated, packets within a segment or over several. Everything else ends the call (see `places`). These functions are
never run as Python (see `conformance.wire.columns.lowering`). `c` is the address of the cursor, `at` of a record's
first header; other headers are offsets from there, below `limit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.capture.columns import places as p
from conformance.capture.columns import streams
from conformance.capture.connections import MAX_BUFFERED, MSMQ_PORT
from conformance.capture.encapsulation import UDP_PORTS as TUNNELS
from conformance.capture.events import BACK_NS, FIRST_NS, REPEAT_NS
from conformance.capture.framing import FAR
from conformance.capture.network import ACK, FIN, PING_PORT, RST, SYN
from conformance.capture.records import MAX_RECORD
from conformance.capture.services import TCP_PORTS, UDP_PORTS
from conformance.wire.columns.calls import apart
from conformance.wire.extents import ASTRAY
from conformance.wire.framing import BASE_SIZE

if TYPE_CHECKING:
    from conformance.wire.columns.calls import add, be16, be32, be64, get, prefetch, put, select, u8, u32

_LINE, _AHEAD = 64, 4096
_NODE, _ROW = 32, 8 * p.FLOW
_POST, _RPC = 0x504F, 0x0500
_IP, _IPV6, _ARP = 0x0800, 0x86DD, 0x0806
_VLAN, _SERVICE_VLAN, _OLD_VLAN, _MOST_TAGS = 0x8100, 0x88A8, 0x9100, 4
_ICMP, _IGMP, _TCP, _UDP = 1, 2, 6, 17
_MAPPED = 0xFFFF_0000_0000  # the lower half of an IPv6 address that stands for an IPv4 address, without it
_UNUSUAL, _OTHER = -1, -2  # the other code has to look; this is no IP
_PORTS = (*TCP_PORTS, PING_PORT, *UDP_PORTS, *TUNNELS)
_TCP_END, _UDP_END = len(TCP_PORTS), len(_PORTS)


def distance(later: int, earlier: int) -> int:
    """Return the distance of two sequence numbers, as `framing.distance`."""
    return ((later - earlier + 0x80000000) & 0xFFFFFFFF) - 0x80000000


def port_at(port: int, begin: int, end: int) -> int:
    """Return the place of a port in a part of _PORTS; -1 if it is not there."""
    while begin < end:
        if _PORTS[begin] == port:
            return begin
        begin += 1
    return -1


def internet(link: int, at: int, limit: int) -> int:
    """Return where the IP header is; _OTHER in front of ARP; _UNUSUAL elsewhere."""
    if link == 1 or link == 4:
        return select(link == 1, 0, 4)
    where = select(link == 0, 12, select(link == 2, 14, 0))
    if where + 2 > limit:
        return _UNUSUAL
    kind = be16(at + where)
    ip = 20
    if link != 3:
        tags = 0
        while tags < _MOST_TAGS and kind in (_VLAN, _SERVICE_VLAN, _OLD_VLAN):
            tags += 1
            where += 4
            if where + 2 > limit:
                return _UNUSUAL
            kind = be16(at + where)
        ip = where + 2
    if kind == _ARP:
        return _OTHER
    version = select(kind == _IP, 4, select(kind == _IPV6, 6, 0))
    return ip if ip < limit and u8(at + ip) >> 4 == version else _UNUSUAL


def transport(c: int, at: int, limit: int, ip: int) -> int:
    """Return the protocol in an IP packet, and note the packet's ends; _UNUSUAL where the other code has to look."""
    ends = c + 8 * p.ENDS
    if ip < 0 or ip >= limit:
        return min(ip, _UNUSUAL)
    version = u8(at + ip) >> 4
    put(c, p.INTERNET, version)
    if version == 4:
        if ip + 20 > limit:
            return _UNUSUAL
        size = (u8(at + ip) & 15) * 4
        total = be16(at + ip + 2)
        if size < 20 or total < size or be16(at + ip + 6) & 0x3FFF != 0:
            return _UNUSUAL
        put(ends, p.A_HIGH, 0, _MAPPED | be32(at + ip + 12), 0, _MAPPED | be32(at + ip + 16))
        put(c, p.TRANSPORT, ip + size, ip + total)
        return u8(at + ip + 9)
    if version != 6 or ip + 40 > limit:
        return _UNUSUAL
    total = be16(at + ip + 4)
    protocol = u8(at + ip + 6)
    put(ends, p.A_HIGH, be64(at + ip + 8), be64(at + ip + 16), be64(at + ip + 24), be64(at + ip + 32))
    put(c, p.TRANSPORT, ip + 40, ip + 40 + total)
    return protocol if total != 0 and protocol in (_TCP, _UDP) else _UNUSUAL


@apart
def without(c: int, at: int, limit: int, protocol: int) -> int:
    """Count a record of another protocol than TCP."""
    udp = get(c, p.TRANSPORT)
    if protocol == _OTHER:
        add(c, p.NOT_IP, 1)
        return p.PASSED
    if protocol == _UDP and udp + 8 <= limit:
        known = port_at(be16(at + udp), _TCP_END, _UDP_END) & port_at(be16(at + udp + 2), _TCP_END, _UDP_END)
        length = be16(at + udp + 4)
        if known != -1 or (length != 0 and length < 8):
            return p.SLOW
        add(c, p.OTHER_PORTS, 1)
        return p.PASSED
    if protocol != _ICMP and protocol != _IGMP:
        return p.SLOW
    add(c, p.NEITHER, 1)
    return p.PASSED


@apart
def beside(c: int, at: int, limit: int, tcp: int, start: int, end: int) -> int:
    """Count a segment of other ports, whose payload is from `start` to `end`."""
    if start + 3 <= min(end, limit) and be16(at + start) in (_POST, _RPC):
        return p.SLOW
    row = port_at(be16(at + tcp + 2), 0, _TCP_END)
    if row < 0:
        row = port_at(be16(at + tcp), 0, _TCP_END)
    if row >= 0:
        if u8(at + tcp + 13) & (SYN | ACK) == SYN:
            return p.SLOW
        add(c, p.SERVICES + 2 * row, 1)
        add(c, p.SERVICES + 2 * row + 1, end - start)
    add(c, p.OTHER_PORTS, 1)
    return p.PASSED


def ordered(ends: int, source: int, target: int) -> int:
    """Order the ends of a connection, which are the source and the target; return 1 if the target is the smaller."""
    a_high, a_low = get(ends, p.A_HIGH), get(ends, p.A_LOW)
    b_high, b_low = get(ends, p.B_HIGH), get(ends, p.B_LOW)
    swap = a_high > b_high or (a_high == b_high and (a_low > b_low or (a_low == b_low and source > target)))
    ports = source << 16 | target
    if swap:
        put(ends, p.A_HIGH, b_high, b_low, a_high, a_low)
        ports = target << 16 | source
    put(ends, p.PORTS, ports)
    return swap


@apart
def opened(c: int, tcp: int, slot: int, swap: int) -> int:
    """Open a connection by a SYN alone, over IPv4. tcp: the address of its header."""
    ends = c + 8 * p.ENDS
    usual = u8(tcp + 13) & (FIN | RST) == 0 and get(c, p.INTERNET) == 4
    if not usual or slot >= 0 or get(c, p.ROOM) <= 0 or get(c, p.TOLD) == p.TELLINGS:
        return p.SLOW
    ports = get(ends, p.PORTS)
    if get(ends, p.A_LOW) == get(ends, p.B_LOW) and ports >> 16 == ports & 0xFFFF:
        return p.SLOW
    slot = streams.place(c, ends)
    row = get(c, p.FLOWS) + slot * _ROW
    for at in range(p.FLOW - p.FLIP):
        put(row, p.FLIP + at, 0)
    put(row, p.FLIP, swap, get(c, p.RECORD), get(c, p.TIME), add(c, p.OPENED, 1))
    add(c, p.ROOM, -1)
    for number in range(2):
        side = streams.side_of(row, number)
        put(side, p.EXPECTED, -1)
        put(side, p.HEAD, -1, -1, BASE_SIZE)
        put(side, p.WAITING, -1)
    put(streams.side_of(row, 0), p.EXPECTED, (be32(tcp + 4) + 1) & 0xFFFFFFFF)
    streams.tell(c, p.OPENS, slot, be32(tcp + 4))
    return p.PASSED


@apart
def ended(c: int, row: int, number: int, tcp: int) -> bool:
    """Take in a FIN without bytes that comes in order; return False for another."""
    here = streams.side_of(row, number)
    if u8(tcp + 13) & SYN != 0 or get(here, p.PENDING) != 0 or get(here, p.WAITING) >= 0:
        return False
    if be32(tcp + 4) != get(here, p.EXPECTED) or get(c, p.TOLD) == p.TELLINGS:
        return False
    put(row, p.FINISHED, get(row, p.FINISHED) | 1 << number)
    if get(row, p.FIRST_END) == 0:
        put(row, p.FIRST_END, 1 + number)
    return True


def room(c: int, here: int, count: int) -> int:
    """Return PASSED if the packets of `count` more bytes have room, and else why they do not."""
    bound = count + get(here, p.WAITING_BYTES) + get(here, p.PENDING)
    packets = (bound >> 4) + 2  # each of 16 bytes at least
    rows = max(get(c, p.FILE_ROWS), get(c, p.ARENA_ROWS)) + packets
    if get(c, p.ARENA_USED) + bound + 2 * p.SLACK + 8 * packets > p.ARENA or rows > p.ROWS:
        return p.SLOW if get(c, p.FILE_ROWS) + get(c, p.ARENA_ROWS) == 0 else p.FULL
    few = get(c, p.FREE_COUNT) < 16 + 8 * get(here, p.WAITING_COUNT)
    return p.SLOW if few or get(c, p.HELD_BYTES) + get(c, p.ELSEWHERE) > MAX_BUFFERED else p.PASSED


def payload(c: int, row: int, number: int, sequence: int, data: int, count: int, heard: int) -> int:
    """Take in the bytes of a segment. data: their place in the file."""
    here = streams.side_of(row, number)
    there = streams.side_of(row, 1 - number)
    length = get(there, p.LENGTH)
    if length != 0 and length - get(there, p.PENDING) <= ASTRAY and streams.answered(c, there, length):
        return p.SLOW
    reason = room(c, here, count)
    if reason != p.PASSED:
        return reason
    ahead = distance(sequence, get(here, p.EXPECTED))
    if ahead > 0:
        return p.PASSED if streams.wait(c, here, ahead, data, count) else p.SLOW
    fresh = row + 8 * (p.FRESH + number)
    if ahead < -FAR or (ahead < 0 and count > 1 and get(c, p.TIME) - get(fresh, 0) > REPEAT_NS):
        return p.SLOW
    if ahead + count <= 0:
        add(c, p.REPEATED, 1)
        return p.PASSED
    put(fresh, 0, get(c, p.TIME))
    good = streams.take(c, row, number, data - ahead, count + ahead, heard)
    while good and get(here, p.WAITING) >= 0:
        # Bytes that waited behind this are in order now; part of them may have come before.
        piece = get(c, p.NODES_AT) + get(here, p.WAITING) * _NODE
        known = get(here, p.OFFSET) - get(piece, p.STREAM_AT)
        if known < 0:
            break
        add(here, p.WAITING_BYTES, -get(piece, p.BYTES))
        add(here, p.WAITING_COUNT, -1)
        add(c, p.HELD_BYTES, -get(piece, p.BYTES))
        put(here, p.WAITING, streams.free(c, get(here, p.WAITING)))
        good = streams.take(c, row, number, get(piece, p.BYTES_AT) + known, get(piece, p.BYTES) - known, heard)
    return p.PASSED if good else p.REST


def segment(c: int, at: int, limit: int) -> int:
    """Take in a record's TCP segment."""
    tcp = get(c, p.TRANSPORT)
    end = get(c, p.END)
    if tcp + 14 > limit:
        return p.SLOW
    start = tcp + (u8(at + tcp + 12) >> 4) * 4
    if start < tcp + 20 or start > end:
        return p.SLOW
    ends = c + 8 * p.ENDS
    source = be16(at + tcp)
    target = be16(at + tcp + 2)
    if source != MSMQ_PORT and target != MSMQ_PORT:
        return beside(c, at, limit, tcp, start, end)
    swap = ordered(ends, source, target)
    slot = streams.find(c, ends)
    flags = u8(at + tcp + 13)
    count = end - start
    if flags & SYN != 0 and (count != 0 or flags & ACK == 0):
        return opened(c, at + tcp, slot, swap) if count == 0 and end <= limit else p.SLOW
    row = get(c, p.FLOWS) + slot * _ROW
    if slot < 0 or end > limit:
        return p.SLOW
    if get(row, p.STATE) == p.OVER:
        put(row, p.LAST, get(c, p.RECORD))
        return p.PASSED
    number = swap ^ get(row, p.FLIP)
    here = streams.side_of(row, number)
    there = streams.side_of(row, 1 - number)
    finished = get(row, p.FINISHED)
    if flags & RST != 0 or get(there, p.EXPECTED) < 0 or (get(here, p.EXPECTED) < 0 and flags & SYN == 0):
        return p.SLOW
    heard = 0
    if flags & ACK != 0:
        beyond = distance(be32(at + tcp + 8), get(there, p.EXPECTED))
        if beyond > 0 and beyond <= FAR and finished >> 1 - number & 1 == 0:
            return p.SLOW  # It acknowledges bytes that are not here yet.
        heard = max(0, get(there, p.OFFSET) + beyond)
    reason = p.PASSED
    if flags & FIN != 0 or finished != 0:
        if finished >> number & 1 != 0 and (count != 0 or flags & FIN != 0):
            return p.SLOW
        if flags & FIN != 0 and (count != 0 or not ended(c, row, number, at + tcp)):
            return p.SLOW
    if count != 0:
        reason = payload(c, row, number, be32(at + tcp + 4), at + start - get(c, p.BASE), count, heard)
        if reason == p.REST:
            put(c, p.SLOT, slot, number)
            put(c, p.ACKNOWLEDGED, be32(at + tcp + 8), flags)
        elif reason != p.PASSED:
            return reason
    elif flags & SYN != 0 and get(here, p.EXPECTED) < 0:
        put(here, p.EXPECTED, (be32(at + tcp + 4) + 1) & 0xFFFFFFFF)
    elif get(row, p.FINISHED) == 3:
        put(row, p.STATE, p.OVER)
        streams.tell(c, p.CLOSES, slot, 0)
    put(row, p.LAST, get(c, p.RECORD))
    put(row, p.LATEST, max(get(row, p.LATEST), get(c, p.TIME)))
    return reason


def clock(c: int, time: int, position: int) -> int:
    """Return PASSED for the time of a record that may be taken in, and else why it may not."""
    newest = get(c, p.NEWEST)
    if time > newest:
        put(c, p.NEWEST, time)
        if newest > 0 and newest < FIRST_NS and time >= FIRST_NS:
            put(c, p.DOUBTED, newest)
            return p.BACK
    elif time < newest - BACK_NS and newest > get(c, p.DOUBTED):
        put(c, p.DOUBTED, newest)
        return p.BACK
    if time >= get(c, p.DEADLINE) and get(c, p.TICKED) != position:
        put(c, p.TICKED, position)
        return p.TICK
    return p.PASSED


def step(c: int) -> int:
    """Take in the next record; return PASSED, or why it is not taken in."""
    position = get(c, p.POSITION)
    size = get(c, p.SIZE)
    data = position + get(c, p.HEADER)
    if position >= get(c, p.STOP):
        return p.ENDED
    if get(c, p.FILE_ROWS) + get(c, p.ARENA_ROWS) >= p.CHUNK:
        return p.FULL
    if data > size:
        return p.DAMAGED
    at = get(c, p.BASE) + position
    swapped = get(c, p.SWAPPED)
    kept = be32(at + 8) if swapped else u32(at + 8)
    put(c, p.KEPT, kept)
    if kept > MAX_RECORD or data + kept > size or (kept == 0 and u32(at + 12) == 0):
        return p.DAMAGED
    # A cache line is fetched long before it is needed; only this record determines the next.
    ahead = at + _AHEAD
    beyond = ahead + min(kept + data - position, _AHEAD)
    while ahead < beyond:
        prefetch(ahead)
        ahead += _LINE
    seconds = be32(at) if swapped else u32(at)
    time = seconds * 1_000_000_000 + (be32(at + 4) if swapped else u32(at + 4)) * get(c, p.UNIT)
    put(c, p.TIME, time)
    reason = clock(c, time, position)
    if reason == p.PASSED:
        record = get(c, p.RECORD)
        put(c, p.RECORD, record + 1)
        frame = at + data - position
        ip = internet(get(c, p.LINK), frame, kept)
        protocol = transport(c, frame, kept, ip)
        reason = segment(c, frame, kept) if protocol == _TCP else without(c, frame, kept, protocol)
        if reason == p.PASSED or reason == p.REST:
            put(c, p.POSITION, data + kept)
        else:
            put(c, p.RECORD, record)
    return reason


def walk(c: int) -> int:
    """Walk on from POSITION until something ends the call; return why (see `places`)."""
    reason = p.PASSED
    while reason == p.PASSED:
        reason = step(c)
    return reason
