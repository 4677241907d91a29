"""Write a single packet as a capture file, for an analyst to open beside a verdict.

The bytes are the evidence's. The IP and TCP (for a ping: UDP) headers are invented if the record has none.
"""

from __future__ import annotations

import struct
from base64 import b64decode
from binascii import Error
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address

from conformance.verdict import Evidence, Json

SEGMENT = 32_768
"""Bytes of a TCP segment; the reader reassembles them."""
MAX_PACKET = 16 << 20
"""Bytes of a packet: four times MSMQ's own limit."""

_MAGIC, _LINK_RAW_IP = 0xA1B23C4D, 101  # nanoseconds; a packet begins with its IP header
_TCP, _UDP = 6, 17
_SYN, _PSH_ACK = 0x02, 0x18
_PORTS = {_TCP: 1801, _UDP: 3527}
_CLIENT = ("192.0.2.10", 49_152)  # addresses for documentation, RFC 5737
_SERVER = "192.0.2.20"


def packet_of(evidence: Evidence | None) -> tuple[bytes, str] | None:
    """Return (the packet in this evidence, its transport as `dissect` takes it); None if it has no packet."""
    if evidence is None or evidence.kind != "packet":
        return None
    stored = evidence.data.get("base64", evidence.data.get("packet"))
    if not isinstance(stored, str) or len(stored) > MAX_PACKET * 4 // 3:
        return None
    try:
        data = b64decode(stored, validate=True)
    except (Error, ValueError):
        return None
    transport = evidence.data.get("transport", "buffer")
    return data, transport if transport in ("tcp", "udp") else "buffer"


def packet_capture(data: bytes, transport: str, about: Mapping[str, Json]) -> bytes:
    """Return a pcap file with this packet alone.

    about: the evidence's data; `source` and `destination` (`address:port`) and `time_ns` are used if they are valid.
    """
    protocol = _UDP if transport == "udp" else _TCP
    source, port = _endpoint(about.get("source"), *_CLIENT)
    destination, other = _endpoint(about.get("destination"), _SERVER, _PORTS[protocol])
    if source.version != destination.version:
        source, destination = ip_address(_CLIENT[0]), ip_address(_SERVER)
    stamp = about.get("time_ns")
    stamp = stamp if isinstance(stamp, int) and not isinstance(stamp, bool) and 0 <= stamp < 1 << 61 else 0
    out = [struct.pack("<IHHiIII", _MAGIC, 2, 4, 0, 0, 262_144, _LINK_RAW_IP)]
    size = SEGMENT if protocol == _TCP else 65_000
    if protocol == _TCP:
        # Include the start of the connection, so that a reader need not search the stream for the first header.
        out += _record(stamp, _ip(protocol, source, destination, 0, _tcp(port, other, 0, _SYN)))
    for number, at in enumerate(range(0, max(1, len(data)), size), 1):
        part = data[at : at + size]
        if protocol == _TCP:
            head = _tcp(port, other, 1 + at, _PSH_ACK)
        else:
            head = struct.pack(">HHHH", port, other, 8 + len(part), 0)
        out += _record(stamp, _ip(protocol, source, destination, number, head + part))
    return b"".join(out)


def _record(stamp: int, data: bytes) -> tuple[bytes, bytes]:
    return struct.pack("<IIII", stamp // 10**9 & 0xFFFFFFFF, stamp % 10**9, len(data), len(data)), data


def _tcp(source: int, destination: int, sequence: int, flags: int) -> bytes:
    # Five words of header without checksum, as if the network card computed it.
    return struct.pack(">HHIIBBHHH", source, destination, sequence, 1, 5 << 4, flags, 65_535, 0, 0)


def _ip(
    protocol: int, source: IPv4Address | IPv6Address, destination: IPv4Address | IPv6Address, number: int, body: bytes
) -> bytes:
    if source.version == 6:
        return struct.pack(">IHBB", 6 << 28, len(body), protocol, 64) + source.packed + destination.packed + body
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), number & 0xFFFF, 0x4000, 64, protocol, 0)
    head += source.packed + destination.packed
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    return head[:10] + struct.pack(">H", ~(total + (total >> 16)) & 0xFFFF) + head[12:] + body


def _endpoint(told: Json, address: str, port: int) -> tuple[IPv4Address | IPv6Address, int]:
    if isinstance(told, str) and len(told) <= 60:
        host, _, number = told.rpartition(":")
        try:
            found = ip_address(host.strip("[]").partition("%")[0])
        except ValueError:
            return ip_address(address), port
        if number.isascii() and number.isdigit() and int(number) <= 65_535:
            return found, int(number)
    return ip_address(address), port
