"""IP packets in what links and tunnels put around them, each with its link type and what makes a record of one."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

from conformance.capture import Ended, read_capture

ADDRESSES = bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2])
OUTER = bytes([198, 51, 100, 1, 198, 51, 100, 2])
Wrap = Callable[[bytes], bytes]


def ended(path: Path) -> Ended:
    *_, last = read_capture(path)
    assert isinstance(last, Ended)
    return last


def kind_of(packet: bytes) -> int:
    return 0x86DD if packet[0] >> 4 == 6 else 0x0800


def ethernet(payload: bytes, kind: int | None = None) -> bytes:
    return ADDRESSES + struct.pack(">H", kind_of(payload) if kind is None else kind) + payload


def ipv4(payload: bytes, protocol: int) -> bytes:
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0) + OUTER + payload


def outer_ipv6(payload: bytes, following: int) -> bytes:
    return struct.pack(">IHBB", 6 << 28, len(payload), following, 64) + bytes(15) + b"\1" + bytes(15) + b"\2" + payload


def udp(payload: bytes, port: int, source: int = 55555) -> bytes:
    return ethernet(ipv4(struct.pack(">HHHH", source, port, 8 + len(payload), 0) + payload, 17))


def tcp(port: int, flags: int, payload: bytes = b"", source: int = 50000, sequence: int = 7) -> bytes:
    head = struct.pack(">HHIIBBHHH", source, port, sequence, 9, 0x50, flags, 1000, 0, 0)
    return ethernet(ipv4(head + payload, 6))


def written(path: Path, link: int, frames: list[tuple[bytes, bytes]]) -> Path:
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, link)
    path.write_bytes(head + b"".join(time + struct.pack("<II", len(one), len(one)) + one for time, one in frames))
    return path


def over(protocol: int, head: bytes = b"") -> Wrap:
    return lambda packet: ethernet(ipv4(head + packet, protocol))


def gre(flags: int, words: int, kind: int | None = None, head: bytes = b"") -> Wrap:
    def wrap(packet: bytes) -> bytes:
        inner = head + (packet if kind is None else ethernet(packet))
        return ethernet(ipv4(struct.pack(">HH", flags, kind or kind_of(packet)) + bytes(4 * words) + inner, 47))

    return wrap


def labels(count: int) -> bytes:
    return struct.pack(">I", 16 << 12) * (count - 1) + struct.pack(">I", 16 << 12 | 1 << 8)


def snap(packet: bytes) -> bytes:
    return b"\xaa\xaa\x03\0\0\0" + struct.pack(">H", kind_of(packet)) + packet


def wifi(first: int, flags: int, more: int) -> Wrap:
    return lambda packet: bytes([first, flags]) + bytes(22 + more) + snap(packet)


def ppp(packet: bytes) -> bytes:
    return struct.pack(">H", 0x57 if packet[0] >> 4 == 6 else 0x21) + packet


VXLAN = struct.pack(">II", 0x08000000, 7 << 8)
CARRIED: dict[str, tuple[int, Wrap]] = {
    "gre": (1, gre(0, 0)),
    "gre with checksum, key and number": (1, gre(0xB000, 3)),
    "gre of ethernet": (1, gre(0x2000, 1, 0x6558)),
    "pptp": (1, lambda packet: ethernet(ipv4(struct.pack(">HH", 0x3081, 0x880B) + bytes(12) + ppp(packet), 47))),
    "erspan 1": (1, gre(0, 0, 0x88BE)),
    "erspan 2": (1, gre(0x1000, 1, 0x88BE, bytes(8))),
    "erspan 3": (1, gre(0x1000, 1, 0x22EB, bytes(12))),
    "erspan 3 with a subheader": (1, gre(0x1000, 1, 0x22EB, bytes(11) + b"\1" + bytes(8))),
    "ip in ip": (1, over(4)),
    "in ipv6": (1, lambda packet: ethernet(outer_ipv6(packet, 41))),
    "6in4": (1, over(41)),
    "etherip": (1, lambda packet: ethernet(ipv4(b"\x30\0" + ethernet(packet), 97))),
    "ah": (1, lambda packet: ethernet(ipv4(struct.pack(">BB10x", 4, 4) + bytes(12) + packet, 51))),
    "ah in ipv6": (1, lambda packet: ethernet(outer_ipv6(struct.pack(">BB10x", 41, 4) + bytes(12) + packet, 51))),
    "ah before options in ipv6": (
        1,
        lambda packet: ethernet(
            outer_ipv6(struct.pack(">BB10x", 60, 4) + bytes(12) + b"\x29\0" + bytes(6) + packet, 51)
        ),
    ),
    "vxlan": (1, lambda packet: udp(VXLAN + ethernet(packet), 4789)),
    "vxlan gpe": (1, lambda packet: udp(struct.pack(">II", 0x0C000001, 7 << 8) + packet, 4790)),
    "geneve": (1, lambda packet: udp(b"\2\0\x65\x58" + bytes(12) + ethernet(packet), 6081)),
    "tzsp": (1, lambda packet: udp(b"\1\0\0\1\0\x0a\1\0\1" + ethernet(packet), 37008)),
    "mpls in udp": (1, lambda packet: udp(labels(1) + packet, 6635)),
    "mpls": (1, lambda packet: ethernet(labels(3) + packet, 0x8847)),
    "pseudowire": (1, lambda packet: ethernet(labels(1) + bytes(4) + ethernet(packet), 0x8847)),
    "mpls in ip": (1, lambda packet: ethernet(ipv4(labels(2) + packet, 137))),
    "pppoe": (1, lambda packet: ethernet(b"\x11\0\0\3\0\0" + ppp(packet), 0x8864)),
    "provider backbone": (1, lambda packet: ethernet(b"\0\5\x88\xe7" + bytes(4) + ethernet(packet), 0x88A8)),
    "six vlan tags": (1, lambda packet: ADDRESSES + b"\x81\0\0\5" * 6 + ethernet(packet)[12:]),
    "e-tag": (1, lambda packet: ethernet(bytes(6) + ethernet(packet)[12:], 0x893F)),
    "llc": (1, lambda packet: ethernet(snap(packet), len(packet) + 8)),
    "llc in vlan": (1, lambda packet: ADDRESSES + b"\x81\0\0\3" + ethernet(snap(packet), len(packet) + 8)[12:]),
    "vxlan in gre in vlan": (
        1,
        lambda packet: ADDRESSES + b"\x81\0\0\3" + gre(0, 0)(udp(VXLAN + ethernet(packet), 4789)[14:])[12:],
    ),
    "ppp": (9, lambda packet: b"\xff\x03" + ppp(packet)),
    "short ppp": (9, lambda packet: ppp(packet)[1:]),
    "pppoe alone": (51, lambda packet: bytes(6) + ppp(packet)),
    "cisco hdlc": (104, lambda packet: b"\x0f\0" + ethernet(packet)[12:]),
    "wlan": (105, wifi(0x08, 1, 0)),
    "wlan with quality": (105, wifi(0x88, 1, 2)),
    "wlan between stations": (105, wifi(0x88, 3, 8)),
    "radiotap": (127, lambda packet: b"\0\0\x0c\0" + bytes(8) + wifi(0x88, 1, 2)(packet)),
    "prism": (119, lambda packet: bytes(144) + wifi(0x08, 1, 0)(packet)),
    "avs": (163, lambda packet: struct.pack(">II", 0x80211001, 64) + bytes(56) + wifi(0x08, 1, 0)(packet)),
    "ppi": (192, lambda packet: struct.pack("<HHI", 0, 12, 105) + bytes(4) + wifi(0x08, 1, 0)(packet)),
    "pktap": (258, lambda packet: struct.pack("<III", 20, 1, 1) + bytes(8) + ethernet(packet)),
    "pflog": (117, lambda packet: b"\x3d\2" + bytes(62) + packet),
    "cooked with gre": (113, lambda packet: bytes(14) + gre(0, 0)(packet)[12:]),
}

ESP = bytes(range(1, 61))
NAMED = {
    "esp": (1, ethernet(ipv4(ESP, 50)), "ESP (IPsec, protocol 50)"),
    "esp in udp": (1, udp(ESP, 4500, 4500), "ESP in UDP (IPsec, port 4500)"),
    "l2tp": (1, udp(b"\0\2\0\1\0\1" + ESP, 1701), "L2TP (UDP port 1701)"),
    "l2tp 3": (1, ethernet(ipv4(ESP, 115)), "L2TP (protocol 115)"),
    "wireguard": (1, udp(b"\4\0\0\0" + ESP, 51820), "WireGuard (UDP port 51820)"),
    "pgm": (1, ethernet(ipv4(ESP, 113)), "PGM (protocol 113, by which MSMQ sends to multicast addresses)"),
    "macsec": (1, ethernet(ESP, 0x88E5), "MACsec (IEEE 802.1AE)"),
    "ipx": (1, ethernet(ESP, 0x8137), "IPX (MSMQ 1.0 and 2.0 can use SPX instead of TCP)"),
    "ipx in 802.3": (1, ethernet(b"\xff\xff" + ESP, 62), "IPX (MSMQ 1.0 and 2.0 can use SPX instead of TCP)"),
    "roce": (1, udp(ESP, 4791), "RoCE v2 (UDP port 4791)"),
    "encrypted wlan": (105, b"\x08\x41" + bytes(22) + ESP, "IEEE 802.11 (WLAN), encrypted"),
    "mppe": (1, ethernet(b"\x11\0\0\3\0\0\0\xfd" + ESP, 0x8864), "PPP, compressed or encrypted"),
    "van jacobson": (9, b"\xff\x03\0\x2d" + ESP, "PPP with TCP headers compressed by those before (Van Jacobson)"),
    "dtls": (1, udp(b"\x17\xfe\xfd" + ESP, 443), "DTLS (VPN, UDP port 443)"),
    "pgm in udp": (1, udp(ESP, 3055, 3056), "PGM in UDP (UDP port 3055)"),
    "sflow": (1, udp(b"\0\0\0\5" + ESP, 6343), "sFlow: samples of packets (UDP port 6343)"),
    "wpan": (195, ESP, "link type 195 (IEEE 802.15.4)"),
    "unknown link": (4000, ESP, "link type 4000"),
    "in itself": (101, ipv4(b"", 4)[:20] * 9, "more than 8 tunnels in each other"),
}
"""What is not unwrapped: a link type, a record, and the reason by which it is counted."""
