"""Finds the IP header behind those of links and tunnels, as long as the length of each header is all it takes.

A step takes the bytes and the offset of a header. It returns the next step and its offset, or a reason in a few words
to count by. `ip` is the last step of all; `network` reads what it finds.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

MAX_HEADERS = 32  # Of links and tunnels, between two IP headers.
NO_IP = "not IP"
Next = tuple[Any, int]  # A Step; a type cannot name itself.
Step = Callable[[bytes, int], Next | str]


def follow(step: Step, data: bytes, at: int) -> int | str:
    """Return the offset of the IP header, or a reason. Raises struct.error and IndexError behind the end."""
    for _ in range(MAX_HEADERS):
        if step is ip:
            return at if data[at] >> 4 in (4, 6) else NO_IP
        found = step(data, at)
        if isinstance(found, str):
            return found
        step, at = found
    return f"more than {MAX_HEADERS} headers"


def ip(data: bytes, at: int) -> Next | str:
    """Stay: the IP header is here."""
    return ip, at


def _behind(length: int, step: Step) -> Step:
    """Return a step over a header of this length."""
    return lambda data, at: (step, at + length)


def _named(reason: str) -> Step:
    """Return a step that ends: what follows is encrypted, or its place is told by more than a length."""
    return lambda data, at: reason


def ethernet(data: bytes, at: int) -> Next | str:
    """Pass over two addresses."""
    return _ethertype, at + 12


def _number(data: bytes, at: int) -> int:
    found: int = struct.unpack_from(">H", data, at)[0]
    return found


def _ethertype(data: bytes, at: int) -> Next | str:
    """Pass over a type, also behind the tag of a VLAN. A number below 1536 is a length, and LLC follows."""
    if _number(data, at) < 0x600:
        return _llc, at + 2
    return _ETHERTYPES.get(_number(data, at), _no_ip), at + 2


def _llc(data: bytes, at: int) -> Next | str:
    head, owner = struct.unpack_from(">3s3s", data, at)
    if head == b"\xaa\xaa\x03":
        return (_ethertype, at + 6) if owner in (b"\0\0\0", b"\0\0\xf8") else NO_IP
    return _IPX if head[:2] in (b"\xe0\xe0", b"\xff\xff") else NO_IP


def _mpls(data: bytes, at: int) -> Next | str:
    """Pass over the labels, and over the control word of a pseudowire, which Ethernet follows."""
    while not data[at + 2] & 1:
        at += 4
    at += 4
    return (ip, at) if data[at] >> 4 in (4, 6) else (ethernet, at + 4 if data[at] >> 4 == 0 else at)


def _ppp(data: bytes, at: int) -> Next | str:
    if data[at : at + 2] == b"\xff\x03":
        at += 2
    short = data[at] & 1
    return _PPP.get(data[at] if short else _number(data, at), _no_ip), at + 2 - short


def _gre(data: bytes, at: int) -> Next | str:
    flags, protocol = struct.unpack_from(">HH", data, at)
    if flags & 0x4000:
        return "GRE with source routes"
    numbered = flags >> 12 & 1
    at += 4 + 4 * ((flags >> 15) + (flags >> 13 & 1) + numbered + (flags >> 7 & 1))
    if protocol == _ERSPAN:
        return ethernet, at + 8 * numbered
    return _ETHERTYPES.get(protocol, _named("GRE of another protocol than IP")), at


def _vxlan(data: bytes, at: int) -> Next | str:
    if data[at] & 0xFB != 8:
        return ""
    return _VXLAN.get(data[at + 3] if data[at] & 4 else 3, _named("VXLAN of another protocol than IP")), at + 8


def _geneve(data: bytes, at: int) -> Next | str:
    kind = _ETHERTYPES.get(_number(data, at + 2), _no_ip)
    return "" if data[at] >> 6 else (kind, at + 8 + 4 * (data[at] & 63))


def _tzsp(data: bytes, at: int) -> Next | str:
    """Pass over tags, of which two have no length, up to the one that ends them."""
    version, kind, carried = struct.unpack_from(">BBH", data, at)
    if version != 1 or kind not in (0, 1):
        return ""
    at += 4
    while data[at] != 1:
        at += 2 + data[at + 1] if data[at] else 1
    return {1: ethernet, 18: _wifi}.get(carried, _named("TZSP of another link than Ethernet")), at + 1


def _wifi(data: bytes, at: int) -> Next | str:
    """Pass over the header of a data frame of IEEE 802.11; others have no content."""
    first, flags = data[at], data[at + 1]
    if first & 0x4C != 0x08:
        return NO_IP
    if flags & 0x40:
        return "IEEE 802.11 (WLAN), encrypted"
    quality = first >> 7
    if quality and data[at + 24 + 6 * (flags & 3 == 3)] & 0x80:
        return "IEEE 802.11 (WLAN), several packets in a frame"
    return _llc, at + 24 + 6 * (flags & 3 == 3) + 2 * quality + 4 * (quality and flags >> 7)


def _sized(form: str, place: int, step: Step) -> Step:
    """Return a step over a header that has its length at a place."""
    return lambda data, at: (step, at + int(struct.unpack_from(form, data, at + place)[0]))


def _linked(form: str) -> Step:
    """Return a step over a header that has its length, and the link type of what follows."""

    def step(data: bytes, at: int) -> Next | str:
        length, link = struct.unpack_from(form, data, at)
        return link_step(link), at + length

    return step


def _ipsec(data: bytes, at: int) -> Next | str:
    """Return a reason, but none for the exchange of keys, which begins with zeros, and what keeps ports open."""
    return "" if len(data) < at + 8 or not any(data[at : at + 4]) else "ESP in UDP (IPsec, port 4500)"


_no_ip = _named(NO_IP)
_IPX = "IPX (MSMQ 1.0 and 2.0 can use SPX instead of TCP)"
_ERSPAN = 0x88BE
_ETHERTYPES: dict[int, Step] = {
    0x0800: ip, 0x86DD: ip,
    **dict.fromkeys((0x8100, 0x88A8, 0x9100, 0x9200), _behind(2, _ethertype)),  # VLAN.
    0x8926: _behind(4, _ethertype), 0x893F: _behind(6, _ethertype),  # VN-Tag, IEEE 802.1BR.
    0x8909: _behind(6, _ethertype), 0x88E7: _behind(4, ethernet),  # Cisco metadata, IEEE 802.1ah.
    0x8847: _mpls, 0x8848: _mpls, 0x8864: _behind(6, _ppp), 0x880B: _ppp, 0x6558: ethernet,
    0x22EB: lambda data, at: (ethernet, at + 12 + 8 * (data[at + 11] & 1)),  # ERSPAN III.
    0x8137: _named(_IPX), 0x88E5: _named("MACsec (IEEE 802.1AE)"),
    0x8915: _named("RoCE (RDMA, which MSMQ does not use)"),
}  # fmt: skip
_PPP: dict[int, Step] = {
    0x21: ip, 0x57: ip, 0x281: _mpls, 0x283: _mpls, 0x2B: _named(_IPX),
    **dict.fromkeys((0x2D, 0x2F), _named("PPP with TCP headers compressed by those before (Van Jacobson)")),
    0x53: _named("PPP, encrypted"), 0xFD: _named("PPP, compressed or encrypted"),
}  # fmt: skip
_VXLAN: dict[int, Step] = {1: ip, 2: ip, 3: ethernet, 5: _mpls}
PROTOCOLS: dict[int, Step] = {
    4: ip, 41: ip, 47: _gre, 97: _behind(2, ethernet), 137: _mpls,
    50: _named("ESP (IPsec, protocol 50)"), 108: _named("IPComp (protocol 108)"),
    113: _named("PGM (protocol 113, by which MSMQ sends to multicast addresses)"),
    115: _named("L2TP (protocol 115)"), 132: _named("SCTP (protocol 132)"),
}  # fmt: skip
"""Headers behind an IP header, beside TCP and UDP, by the protocol number."""
UDP_PORTS: dict[int, Step] = {
    4789: _vxlan, 8472: _vxlan, 4790: _vxlan, 6081: _geneve, 4754: _gre, 6635: _mpls, 37008: _tzsp,
    51820: lambda data, at: "WireGuard (UDP port 51820)" if re.match(rb"[\x01-\x04]\0\0\0", data[at : at + 4]) else "",
    4500: _ipsec,
    443: lambda data, at: "DTLS (VPN, UDP port 443)" if re.match(rb"[\x14-\x19]\xfe[\xfd\xff]", data[at:]) else "",
    **{port: _named(f"{name} (UDP port {port})") for port, name in (
        (1194, "OpenVPN"), (1701, "L2TP"), (2152, "GTP-U"), (3544, "Teredo"), (4791, "RoCE v2"), (5247, "CAPWAP"),
        (3055, "PGM in UDP"), (3056, "PGM in UDP"), (6343, "sFlow: samples of packets"),
    )},
}  # fmt: skip
"""Tunnels by the port of one end. An empty reason: it is none, and the datagram is one of another kind."""
_LINKS: dict[int, Step] = {
    1: ethernet, 0: _behind(4, ip), 108: _behind(4, ip),  # The family number differs by system.
    **dict.fromkeys((12, 14, 101, 228, 229), ip),
    113: _behind(14, _ethertype),
    276: lambda data, at: (_ETHERTYPES.get(_number(data, at), _no_ip), at + 20),
    9: _ppp, 50: _ppp, 51: _behind(6, _ppp), 166: _behind(2, _ppp), 204: _behind(1, _ppp),
    100: _llc, 104: _behind(2, _ethertype), 138: _behind(16, _ethertype), 219: _mpls,
    105: _wifi, 119: _behind(144, _wifi), 127: _sized("<H", 2, _wifi), 163: _sized(">I", 4, _wifi),
    192: _linked("<2xHI"), 258: _linked("<I4xI"),
    109: _behind(12, ip), 117: lambda data, at: (ip, at + (data[at] + 3 & ~3)),
}  # fmt: skip
"""The first header by LINKTYPE numbers, as registered by the tcpdump project."""
_LINK_NAMES = {
    6: "Token Ring", 10: "FDDI", 107: "Frame Relay", 143: "DOCSIS", 227: "CAN", 247: "InfiniBand", 253: "netlink",
    **dict.fromkeys((187, 201, 251), "Bluetooth"), **dict.fromkeys((189, 220, 249), "USB"),
    **dict.fromkeys((195, 215, 230), "IEEE 802.15.4"), 239: "NFLOG", 252: "PDUs that Wireshark exported",
}  # fmt: skip


def link_step(link: int) -> Step:
    """Return the first step for a LINKTYPE number."""
    name = _LINK_NAMES.get(link)
    return _LINKS.get(link) or _named(f"link type {link}{f' ({name})' if name else ''}")
