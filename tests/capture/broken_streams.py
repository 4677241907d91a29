"""Captures of connections as no network should deliver them: made of a seed, so that whoever reads one can say which.

Valid packets stand in the streams between stray bytes, wrong sizes and wrong signatures; the streams are cut into
segments anywhere, and the segments come late, twice, overlapping, in part or never.
"""

from __future__ import annotations

import random
import struct
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace

import build_captures
import build_packets
import build_tcp

ACK, PSH, SYN, FIN, RST = (getattr(build_tcp, name) for name in ("ACK", "PSH", "SYN", "FIN", "RST"))
NS, START = build_tcp.NS, build_captures.START
HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
LURES = (b"LIOR", b"\x10\0\0\0LIOR", b"\x10\0\x18\0LIOR", b"\x10\0\0\0LIOR" + struct.pack("<II", 5, 0))


@dataclass(frozen=True)
class Captured:
    """A record: nanoseconds since 1970, the frame as it was, and how many of its bytes were kept."""

    time: int
    data: bytes
    kept: int


def broken_stream(seed: int) -> list[Captured]:
    """The records of one to three connections between two hosts that no other seed has."""
    chance = random.Random(f"broken stream {seed}")
    hosts = tuple(f"10.{seed >> 14 & 255}.{seed >> 7 & 127}.{2 * (seed & 127) + side}" for side in (0, 1))
    managers = tuple(uuid.UUID(int=chance.getrandbits(128)) for _ in range(2))
    made: list[Captured] = []
    for number in range(chance.choice((1, 1, 2, 3))):
        made += _connection(chance, hosts, managers, 50_000 + number, START * NS + chance.randrange(3) * 400_000_000)
    made.sort(key=lambda one: one.time)
    for _ in range(chance.choice((0, 0, 1, 3))):
        _misplace(chance, made)
    return made


def written(streams: Iterable[list[Captured]]) -> bytes:
    """One classic capture of all these records, in the order of their times as far as each stream is."""
    parts = [HEADER]
    for records in streams:
        for one in records:
            seconds, rest = divmod(one.time, NS)
            parts += [struct.pack("<IIII", seconds, rest // 1000, one.kept, len(one.data)), one.data[: one.kept]]
    return b"".join(parts)


def _connection(
    chance: random.Random, hosts: tuple[str, ...], managers: tuple[uuid.UUID, ...], port: int, begin: int
) -> list[Captured]:
    capture = build_tcp.Capture(begin)
    ends = ((hosts[0], port), (hosts[1], 1801))
    first = [chance.choice((1000, 0xFFFF_FF00, chance.getrandbits(32))) for _ in range(2)]
    connection = build_tcp.Connection(capture, ends, list(first))
    if chance.random() < 0.8:
        _shake_hands(chance, capture, connection)
    else:
        connection.next = [at + 1 for at in first]
    for side, data in _spoken(chance, managers):
        _send(chance, capture, connection, side, data)
        capture.wait(chance.choice((0, 1, 1, 50, 300)))
    _part(chance, capture, connection)
    out = [Captured(time, data, len(data)) for time, data in capture.records]
    for _ in range(chance.choice((0, 0, 1, 2, 5))):
        _misdeliver(chance, out)
    return out


def _shake_hands(chance: random.Random, capture: build_tcp.Capture, connection: build_tcp.Connection) -> None:
    connection.segment(0, b"", SYN)
    capture.wait(0.4)
    if chance.random() < 0.95:
        connection.segment(1, b"", SYN | ACK)
        capture.wait(0.1)
        connection.segment(0, b"", ACK)
    else:
        connection.next[1] += 1


def _part(chance: random.Random, capture: build_tcp.Capture, connection: build_tcp.Connection) -> None:
    how = chance.choice(("close", "close", "close", "half", "rst", "nothing"))
    if how == "close":
        connection.close(chance.randrange(2))
    elif how == "half":
        connection.segment(chance.randrange(2), b"", FIN | ACK)
    elif how == "rst":
        connection.segment(chance.randrange(2), b"", RST | chance.choice((0, ACK)))


def _spoken(chance: random.Random, managers: tuple[uuid.UUID, ...]) -> list[tuple[int, bytes]]:
    """What the sides say, each with the bytes that should not be there."""
    null, stamp = build_packets.NULL_GUID, chance.randrange(1 << 32)
    session = chance.randrange(2)
    turns = []
    if chance.random() < 0.7:
        turns += [
            (0, build_packets.establish(managers[0], null, stamp, session=session, server_class=1)),
            (1, build_packets.establish(managers[0], managers[1], stamp, session=session, server_class=1, fill=0x5A)),
            (0, build_packets.parameters(500, 20000)),
            (1, build_packets.parameters(500, 20000)),
        ]
    for turn in range(chance.randrange(1, 7)):
        side = chance.choice((0, 0, 0, 1))
        turns.append((side, b"".join(_packet(chance, managers, turn) for _ in range(chance.choice((1, 1, 2, 4))))))
    return [(side, _spoilt(chance, data)) for side, data in turns]


def _packet(chance: random.Random, managers: tuple[uuid.UUID, ...], number: int) -> bytes:
    kind = chance.choice(("plain", "plain", "large", "counted", "transactional", "ack", "ack", "header", "short"))
    if kind == "ack":
        return build_packets.session_ack(number, 0, chance.getrandbits(3), chance.randrange(3), 0)
    if kind == "header":
        return build_captures.with_size(build_packets.base(chance.choice((0, 0x10, 0x18)), 16), chance.choice((16, 56)))
    if kind == "short":
        return build_packets.base(0x18, 20) + bytes(4) + bytes(chance.choice((0, 16)))
    made = replace(
        build_captures.message(7000 + number, "orders", f"order {number}", "two of the blue ones"), source=managers[0]
    )
    if kind == "large":
        made = replace(made, body=chance.randbytes(chance.choice((200, 3000, 9000))))
    if kind == "counted":
        made = build_packets.with_session(made, number, 0, 0, number, 0)
    if kind == "transactional":
        made = replace(build_captures.transactional(7000 + number, number + 1, 9, 1), source=managers[0])
    return bytes(made.bytes())


def _spoilt(chance: random.Random, data: bytes) -> bytes:
    how = chance.choice(
        (*["as it is"] * 6, "before", "behind", "behind", "within", "size", "signature", "short", "lure")
    )
    stray = chance.randbytes(chance.choice((1, 3, 7, 8, 8, 15, 16, 17, 40, 300)))
    at = chance.randrange(len(data) + 1)
    if how == "before":
        return stray + data
    if how == "behind":
        return data + stray
    if how == "within":
        return data[:at] + stray + data[at:]
    if how == "size":
        sizes = (0, 15, 16, 17, len(data) - 1, len(data) + 1, len(data) + 8, 1 << 22, (1 << 22) + 1, 0xFFFF_FFFF)
        return bytes(build_captures.with_size(data, chance.choice(sizes)))
    if how == "signature":
        return data[:4] + chance.choice((b"RIOL", b"LIOS", bytes(4))) + data[8:]
    if how == "short":
        return data[:at]
    return data + chance.choice(LURES) + chance.choice((b"", stray, data)) if how == "lure" else data


def _send(
    chance: random.Random,
    capture: build_tcp.Capture,
    connection: build_tcp.Connection,
    side: int,
    data: bytes,
) -> None:
    """In segments cut anywhere; now and then the next one has some bytes of the last one again, or others."""
    size = chance.choice((7, 8, 16, 33, 100, 1460, 1460, 1460, 60_000))
    size = max(size, len(data) // 60)
    at = 0
    while at < len(data):
        count = size if chance.random() < 0.7 else chance.randrange(1, size + 1)
        again = min(at, chance.choice((0, 0, 0, 0, 0, 1, 8, 500)))
        piece = data[at - again : at + count]
        if again and chance.random() < 0.3:
            piece = bytes(again) + piece[again:]
        sequence = connection.next[side] - again
        connection.segment(side, piece, ACK | PSH, sequence)
        connection.next[side] += len(piece) - again
        at += count
        capture.wait(0.05)
    if chance.random() < 0.8:
        connection.segment(1 - side, b"", ACK)


def _misdeliver(chance: random.Random, records: list[Captured]) -> None:
    """One thing that networks and recorders do to a record."""
    if not records:
        return
    at = chance.randrange(len(records))
    one = records[at]
    how = chance.choice(("lose", "lose", "twice", "late", "swap", "snap", "flag", "head", "silence"))
    if how == "lose":
        del records[at]
    elif how == "twice":
        records.insert(min(len(records), at + chance.randrange(1, 9)), one)
    elif how == "late":
        records.insert(min(len(records), at + chance.randrange(1, 12)), records.pop(at))
    elif how == "swap" and at:
        records[at - 1], records[at] = records[at], records[at - 1]
    elif how == "snap":
        records[at] = replace(one, kept=max(1, min(len(one.data), chance.choice((20, 50, 54, 60, 96, 500)))))
    elif how == "flag":
        records[at] = _altered(one, 47, one.data[47] ^ chance.choice((FIN, SYN, RST, ACK)))
    elif how == "head":
        place = chance.randrange(14, 54)
        records[at] = _altered(one, place, chance.randrange(256))
    elif how == "silence":
        gap = chance.choice((100, 250, 90_000, 8_000_000)) * 1_000_000
        records[at:] = [replace(later, time=later.time + gap) for later in records[at:]]
    times = sorted(each.time for each in records)
    records[:] = [replace(each, time=time) for each, time in zip(records, times, strict=True)]


def _altered(one: Captured, at: int, value: int) -> Captured:
    return replace(one, data=one.data[:at] + bytes([value]) + one.data[at + 1 :])


def _misplace(chance: random.Random, records: list[Captured]) -> None:
    """A record that the capture has in another place than its time says."""
    if records:
        records.insert(chance.randrange(len(records)), records.pop(chance.randrange(len(records))))
