"""Small capture files as bytes: one ping in either format and byte order."""

from __future__ import annotations

import struct

PING = bytes.fromhex("017d485504000000d1587355509195954997b6e611ea26c6")


def packet(payload: bytes = PING) -> bytes:
    """An Ethernet record with a UDP datagram to port 3527."""
    udp = struct.pack(">HHHH", 4057, 3527, 8 + len(payload), 0) + payload
    ip = struct.pack(
        ">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
    )
    return bytes(12) + b"\x08\x00" + ip + udp


def pcap(
    order: str = "<", magic: int = 0xA1B2C3D4, fraction: int = 250_000, extra: bytes = b"", count: int = 1
) -> bytes:
    """A pcap file with `count` records. extra: bytes in front of each packet."""
    data = packet()
    out = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, 1)
    for _ in range(count):
        out += struct.pack(f"{order}IIII", 1000, fraction, len(data), len(data)) + extra + data
    return out


def block(order: str, kind: int, body: bytes) -> bytes:
    """A block of a pcapng file, padded."""
    body += bytes(-len(body) % 4)
    length = struct.pack(f"{order}I", 12 + len(body))
    return struct.pack(f"{order}I", kind) + length + body + length


def pcapng(order: str = "<", options: bytes = b"", stamp: int = 1_000_250_000, kind: int = 6) -> bytes:
    """A pcapng file with one packet. kind: of its block (6 enhanced, 2 obsolete, 3 simple)."""
    data = packet()
    out = block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(order, 1, struct.pack(f"{order}HHI", 1, 0, 0) + options)
    out += block(order, 5, bytes(8))  # Interface statistics: of no interest.
    sizes = struct.pack(f"{order}II", len(data), len(data))
    if kind == 6:
        body = struct.pack(f"{order}III", 0, stamp >> 32, stamp & 0xFFFFFFFF) + sizes
    elif kind == 2:
        body = struct.pack(f"{order}HHII", 0, 0, stamp >> 32, stamp & 0xFFFFFFFF) + sizes
    else:
        body = struct.pack(f"{order}I", len(data))
    return out + block(order, kind, body + data)
