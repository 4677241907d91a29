"""Packets in tunnels are read as if they were in none, by both readers; what is not unwrapped is counted by name."""

from __future__ import annotations

import struct
from pathlib import Path

import build_captures
import pytest
from both_readers import one_by_one, same
from encapsulated import CARRIED, ESP, NAMED, VXLAN, ended, ethernet, ipv4, udp, written
from hypothesis import given
from hypothesis import strategies as st

from conformance.capture import Closed, Ended, Frame, Lost, Opened, read_capture
from conformance.capture.columns import places as p
from conformance.capture.encapsulation import UDP_PORTS
from conformance.capture.network import Datagram, Fragment, Segment, decode
from conformance.capture.records import Record

PLAIN = build_captures.consistent_session().pcap()
TCP = struct.pack(">HHIIBBHHH", 49759, 1801, 7, 9, 0x50, 0x18, 1000, 0, 0) + b"LIOR"


def records() -> list[tuple[bytes, bytes]]:
    """The records of a session over Ethernet: their times, and the packets."""
    data, at, found = PLAIN, 24, []
    while at < len(data):
        kept = struct.unpack_from("<I", data, at + 8)[0]
        found.append((data[at : at + 8], data[at + 30 : at + 16 + kept]))
        at += 16 + kept
    return found


@pytest.mark.parametrize("name", CARRIED)
def test_a_session_in_a_tunnel_is_the_session(tmp_path: Path, name: str) -> None:
    link, wrap = CARRIED[name]
    path = written(tmp_path / "in.pcap", link, [(time, wrap(packet)) for time, packet in records()])
    frames, events = one_by_one(path)
    (tmp_path / "plain.pcap").write_bytes(PLAIN)
    wanted, others = one_by_one(tmp_path / "plain.pcap")
    assert wanted
    assert frames == wanted
    assert events == others
    if link in p.LINKS:
        same(path)


@pytest.mark.parametrize("name", NAMED)
def test_what_is_not_unwrapped_is_counted_by_its_name(tmp_path: Path, name: str) -> None:
    link, data, reason = NAMED[name]
    path = written(tmp_path / "in.pcap", link, [(bytes(8), data)] * 3)
    assert ended(path).skipped == ((reason, 3),)
    if link in p.LINKS:
        same(path)


@pytest.mark.parametrize("port", sorted(UDP_PORTS))
def test_a_ping_from_a_port_of_tunnels_is_a_ping(tmp_path: Path, port: int) -> None:
    path = written(tmp_path / "in.pcap", 1, [(bytes(8), udp(b"\1\0\0\0" + ESP, 3527, port))])
    assert [frame.data for frame in read_capture(path) if isinstance(frame, Frame)] == [b"\1\0\0\0" + ESP]
    same(path)


def test_a_datagram_of_another_kind_on_a_port_of_tunnels_is_of_other_ports(tmp_path: Path) -> None:
    others = [udp(b"\xff" + ESP, port) for port in (443, 4789, 37008, 51820)] + [
        udp(b"\xff", 4500),
        udp(bytes(20), 4500),
    ]
    path = written(tmp_path / "in.pcap", 1, [(bytes(8), one) for one in others])
    assert ended(path).skipped == (("other ports", len(others)),)
    same(path)


def test_fragments_of_a_tunnel_and_in_a_tunnel_are_joined(tmp_path: Path) -> None:
    inner = ipv4(TCP, 6)
    for outer in (inner, ipv4(VXLAN + ethernet(inner), 17)):
        whole = outer if outer is inner else ipv4(udp(VXLAN + ethernet(inner), 4789)[34:], 17)
        parts = [part(whole, 0, 16, last=False), part(whole, 16, len(whole) - 20, last=True)]
        tunnelled = [ipv4(one, 4) for one in parts]
        for some in (parts, tunnelled):
            path = written(tmp_path / "in.pcap", 101, [(bytes(8), one) for one in some])
            assert [type(event) for event in read_capture(path)] == [Opened, Lost, Closed, Ended]
            assert not ended(path).skipped
            same(path)


def part(packet: bytes, begin: int, end: int, *, last: bool) -> bytes:
    head = bytearray(packet[:20])
    struct.pack_into(">H", head, 2, 20 + end - begin)
    struct.pack_into(">H", head, 6, begin // 8 | (0 if last else 0x2000))
    return bytes(head) + packet[20 + begin : 20 + end]


def test_a_record_that_ends_within_a_tunnel_is_cut_short() -> None:
    whole = udp(VXLAN + ethernet(ipv4(TCP + bytes(100), 6)), 4789)
    for length in range(1, len(whole) - 110):
        assert decode(Record(1, 0, 1, whole[:length], len(whole))) == "cut short"
    snap = CARRIED["llc"][1](ipv4(TCP, 6))
    assert {decode(Record(1, 0, 1, snap[:length], len(snap))) for length in range(1, 40)} == {"cut short"}
    found = decode(Record(1, 0, 1, whole[:-60], len(whole)))
    assert isinstance(found, Segment) and (len(found.payload), found.lost) == (44, 60)


@given(st.sampled_from(sorted(CARRIED)), st.integers(0, 200), st.binary(min_size=1, max_size=3))
def test_wrong_bytes_are_no_surprise(name: str, at: int, wrong: bytes) -> None:
    link, wrap = CARRIED[name]
    data = bytearray(wrap(ipv4(TCP, 6)))
    data[at : at + len(wrong)] = wrong
    found = decode(Record(1, 0, link, bytes(data), len(data)))
    assert isinstance(found, Segment | Datagram | Fragment) or found
