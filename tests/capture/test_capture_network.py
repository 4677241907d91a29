"""From a record to the segment in it: link types, VLAN, IPv4 and IPv6, and what is counted as not decoded."""

from __future__ import annotations

import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.capture.network import Datagram, Fragment, Segment, decode
from conformance.capture.records import Record

TCP = struct.pack(">HHIIBBHHH", 49759, 1801, 7, 9, 0x50, 0x18, 1000, 0, 0) + b"LIOR"


def ipv4(
    payload: bytes = TCP, protocol: int = 6, fragment: int = 0, total: int | None = None, options: bytes = b""
) -> bytes:
    length = 20 + len(options) + len(payload) if total is None else total
    return struct.pack(
        ">BBHHHBBH4s4s", 0x45 + len(options) // 4, 0, length, 1, fragment, 64, protocol, 0,
        bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]),
    ) + options + payload  # fmt: skip


def ipv6(payload: bytes = TCP, following: int = 6, source: str = "2001:db8::1") -> bytes:
    return (
        struct.pack(">IHBB", 6 << 28, len(payload), following, 64)
        + socket.inet_pton(socket.AF_INET6, source)
        + socket.inet_pton(socket.AF_INET6, "2001:db8::2")
        + payload
    )


def record(link: int, data: bytes) -> Record:
    return Record(1, 0, link, data, len(data))


ETHERNET = bytes(12)
CARRIED = {
    "ethernet": (1, ETHERNET + b"\x08\x00" + ipv4()),
    "vlan": (1, ETHERNET + b"\x81\x00\x00\x05\x08\x00" + ipv4()),
    "two vlan tags": (1, ETHERNET + b"\x88\xa8\x00\x05\x81\x00\x00\x06\x08\x00" + ipv4()),
    "padded ethernet": (1, ETHERNET + b"\x08\x00" + ipv4() + bytes(6)),
    "cooked": (113, bytes(14) + b"\x08\x00" + ipv4()),
    "cooked 2": (276, b"\x08\x00" + bytes(18) + ipv4()),
    "raw": (101, ipv4()),
    "raw ipv4": (228, ipv4()),
    "null": (0, b"\x02\x00\x00\x00" + ipv4()),
    "null big": (0, b"\x00\x00\x00\x02" + ipv4()),
    "loop": (108, b"\x00\x00\x00\x02" + ipv4()),
    "ip options": (101, ipv4(options=bytes(8))),
    "offloaded": (101, ipv4(total=0)),
}


@pytest.mark.parametrize("name", CARRIED)
def test_the_segment_is_found_in_every_link_type(name):
    assert decode(record(*CARRIED[name])) == Segment(("10.0.0.1", 49759), ("10.0.0.2", 1801), 7, 9, 0x18, b"LIOR", 0)


@pytest.mark.parametrize(
    "data",
    [
        ipv6(),
        ipv6(struct.pack(">BB6x", 6, 0) + TCP, 0),
        ipv6(struct.pack(">BB6x", 60, 0) + struct.pack(">BB14x", 6, 1) + TCP, 43),
        ipv6(struct.pack(">BBHI", 6, 0, 0, 1) + TCP, 44),
    ],
    ids=["plain", "hop by hop", "two options", "atomic fragment"],
)
def test_ipv6_with_its_extension_headers(data):
    found = decode(record(101, data))
    assert (found.source, found.payload) == (("2001:db8::1", 49759), b"LIOR")
    assert decode(record(1, ETHERNET + b"\x86\xdd" + data)) == found


def test_an_ipv4_address_inside_ipv6_is_the_same_host():
    assert decode(record(101, ipv6(source="::ffff:10.0.0.1"))).source == ("10.0.0.1", 49759)


def test_a_segment_cut_by_the_snapshot_length_says_what_is_lost():
    whole = ETHERNET + b"\x08\x00" + ipv4(TCP + bytes(100))
    found = decode(Record(1, 0, 1, whole[:-60], len(whole)))
    assert (len(found.payload), found.lost) == (44, 60)


def test_a_datagram():
    found = decode(record(101, ipv4(struct.pack(">HHHH", 4057, 3527, 12, 0) + b"ping" + b"trailer", 17)))
    assert found == Datagram(("10.0.0.1", 4057), ("10.0.0.2", 3527), b"ping", 0)


@pytest.mark.parametrize(
    ("link", "data", "why"),
    [
        (101, ipv4(fragment=0x2000)[:-1], "IP fragment"),
        (101, ipv6(struct.pack(">BBHI", 6, 0, 0x0009, 1) + TCP, 44)[:-1], "IP fragment"),
        (101, ipv4(protocol=1), "neither TCP nor UDP"),
        (1, ETHERNET + b"\x08\x06" + bytes(28), "not IP"),
        (1, b"\x00", "cut short"),
        (105, bytes(40), "not IP"),
        (9999, bytes(40), "link type 9999"),
        (101, ipv4(TCP[:12] + b"\x10" + TCP[13:]), "broken TCP header"),
        (101, ipv4(struct.pack(">HHHH", 1, 3527, 4, 0), 17), "broken UDP header"),
        (101, b"", "cut short"),
    ],
)
def test_what_is_not_decoded_is_counted_by_its_reason(link, data, why):
    assert decode(record(link, data)) == why


@pytest.mark.parametrize(
    ("data", "offset", "last"),
    [
        (ipv4(fragment=0x2000), 0, False),
        (ipv4(fragment=0x2003), 24, False),
        (ipv4(fragment=0x0003), 24, True),
        (ipv6(struct.pack(">BBHI", 6, 0, 0x0009, 1) + TCP, 44), 8, False),
        (ipv6(struct.pack(">BBHI", 6, 0, 0x0010, 1) + TCP, 44), 16, True),
    ],
)
def test_a_fragment_tells_its_place(data, offset, last):
    found = decode(record(101, data))
    assert isinstance(found, Fragment)
    assert (found.protocol, found.identifier, found.offset, found.last, found.payload) == (6, 1, offset, last, TCP)


@given(st.sampled_from([0, 1, 12, 14, 101, 108, 113, 228, 229, 276, 9999]), st.binary(max_size=120))
def test_any_bytes_are_decoded_or_refused(link, data):
    assert isinstance(decode(record(link, data)), Segment | Datagram | Fragment | str)


@given(st.integers(0, 60), st.integers(0, 255), st.sampled_from([ipv4(), ipv6()]))
def test_one_wrong_byte_is_no_surprise(at, value, good):
    data = bytearray(good)
    data[min(at, len(data) - 1)] = value
    assert isinstance(decode(record(101, bytes(data))), Segment | Datagram | Fragment | str)
