"""Initialization, counts, acknowledgments and timers of a session, played with a clock that the test turns."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from embedded_network_peer import (
    CLIENT,
    PLAIN,
    SERVER,
    Desk,
    Peer,
    Said,
    base,
    establish,
    header,
    parameters,
    session_ack,
    session_header,
)

from conformance.embedded.network.session import State


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_an_acceptor_answers_both_requests(desk: Desk) -> None:
    peer = desk.accept()
    peer.say(establish(server=SERVER.bytes_le, stamp=0xFEDCBA98))
    (answer,) = peer.heard()
    assert len(answer) == 572
    assert answer[16:52] == struct.pack("<HH", 0, 2) + CLIENT + SERVER.bytes_le
    assert struct.unpack_from("<IHH", answer, 52) == (0xFEDCBA98, 0x0310, 0)
    assert answer[60:] == b"\x5a" * 512
    peer.say(parameters(recoverable=700, wait=30_000, window=5))
    (answer,) = peer.heard()
    assert struct.unpack_from("<HHIIHH", answer, 16) == (0, 3, 700, 30_000, 0, 64)
    assert peer.session.state is State.OPEN


def test_the_session_flag_is_repeated(desk: Desk) -> None:
    peer = desk.accept()
    peer.say(establish(system=0x0010))
    assert int.from_bytes(peer.heard()[0][56:58], "little") == 0x0010


def test_a_request_for_another_queue_manager_is_refused(desk: Desk) -> None:
    peer = desk.accept()
    peer.say(establish(server=CLIENT))
    assert peer.heard()[0][18] == 0x12
    assert not peer.line.closed
    peer.say(parameters())
    assert peer.line.closed


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(parameters(), id="parameters first"),
        pytest.param(session_ack(0), id="acknowledgment first"),
        pytest.param(Said().packet(), id="message first"),
        pytest.param(establish() + establish(), id="establish twice"),
        pytest.param(establish() + parameters() + parameters(), id="parameters twice"),
        pytest.param(establish() + parameters() + establish(), id="establish when open"),
        pytest.param(establish() + Said().packet(), id="message before parameters"),
        pytest.param(establish(flags=5), id="unknown packet"),
        pytest.param(b"\x10\0\x0b\0MSMQ", id="wrong signature"),
        pytest.param(b"\x0f\0\x0b\0LIOR", id="wrong version"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="another protocol"),
        pytest.param(establish() + parameters(wait=19_999), id="timeout below its range"),
        pytest.param(establish() + parameters(recoverable=120_001), id="timeout above its range"),
        pytest.param(establish() + parameters() + base(0x00400004, 3), id="size above its range"),
        pytest.param(establish() + parameters() + base(20, 3) + b"\0\0\0\0", id="message without headers"),
    ],
)
def test_what_is_incorrect_or_out_of_turn_closes_the_session(desk: Desk, said: bytes) -> None:
    peer = desk.accept()
    peer.say(said)
    assert peer.line.closed
    assert not desk.node.sessions
    assert desk.messages() == []


def test_unused_bits_are_ignored(desk: Desk) -> None:
    peer = desk.accept()
    peer.say(establish(flags=0xFFE2, system=0xF3FF))
    peer.say(parameters()[:16] + struct.pack("<HHIIHH", 0xFFFF, 0xFFE3, 1000, 20_000, 0xFFFF, 64))
    assert peer.session.open


def test_an_express_message_is_acknowledged_after_half_of_the_timeout(desk: Desk) -> None:
    peer = desk.open(wait=20_000)
    peer.say(Said().packet())
    assert desk.messages() == [b"hello"]
    desk.clock.turn(9.9)
    assert peer.heard() == []
    desk.clock.turn(0.2)
    assert [header(packet) for packet in peer.heard()] == [(1, 0, 0, 0, 0, 64)]
    desk.clock.turn(60)
    assert peer.heard() == []


def test_recoverable_messages_are_acknowledged_by_bits(desk: Desk) -> None:
    peer = desk.open(recoverable=800)
    for number in (1, 2, 3):
        peer.say(Said(number=number, recoverable=number != 2).packet())
    desk.clock.turn(0.9)
    assert [header(packet) for packet in peer.heard()] == [(3, 1, 3, 0, 0, 64)]
    peer.say(Said(number=4, recoverable=True).packet())
    desk.clock.turn(0.9)
    assert [header(packet) for packet in peer.heard()] == [(4, 3, 1, 0, 0, 64)]


def test_thirty_two_recoverable_messages_are_acknowledged_at_once(desk: Desk) -> None:
    peer = desk.open()
    for number in range(1, 34):
        peer.say(Said(number=number, recoverable=True).packet())
    assert [header(packet) for packet in peer.heard()] == [(33, 1, 0xFFFFFFFF, 0, 0, 64)]
    desk.clock.turn(1.1)
    assert [header(packet) for packet in peer.heard()] == [(33, 33, 1, 0, 0, 64)]


def test_a_full_window_is_acknowledged_at_once(desk: Desk) -> None:
    peer = desk.open(window=3)
    for number in (1, 2, 3):
        assert peer.heard() == []
        peer.say(Said(number=number).packet())
    assert [header(packet)[0] for packet in peer.heard()] == [3]


def test_duplicates_are_discarded_uncounted_over_sessions(desk: Desk) -> None:
    peer = desk.open()
    peer.say(Said().packet(), Said().packet())
    peer.session.disconnected()
    other = desk.open()
    other.say(Said().packet(), Said(number=2, body=b"other").packet())
    assert desk.messages() == [b"hello", b"other"]
    assert other.session.received == 1


def test_the_history_is_cleaned(desk: Desk) -> None:
    desk.open().say(Said().packet())
    desk.clock.turn(2 * 1800 + 1)
    desk.open().say(Said().packet())
    assert desk.messages() == [b"hello", b"hello"]


@pytest.mark.parametrize(("sent", "recoverable", "closes"), [(1, 0, False), (2, 0, True), (1, 1, True)])
def test_counts_that_differ_close_the_session(desk: Desk, sent: int, recoverable: int, closes: bool) -> None:
    peer = desk.open()
    peer.say(Said().packet(), session_ack(0, sent=sent, recoverable=recoverable))
    assert peer.line.closed is closes


def test_a_message_is_delivered_although_its_session_header_counts_otherwise(desk: Desk) -> None:
    peer = desk.open()
    peer.say(Said(recoverable=True, session=session_header(0, sent=1, recoverable=1)).packet())
    assert not peer.line.closed
    peer.say(Said(number=2, body=b"last", session=session_header(0, sent=7, recoverable=1)).packet())
    assert peer.line.closed
    assert desk.messages() == [b"hello", b"last"]


def test_an_idle_session_is_closed_and_a_used_one_is_not(tmp_path: Path) -> None:
    desk = Desk(tmp_path, timers={"session-cleanup": 2.0})
    peer = desk.open()
    desk.clock.turn(1)
    peer.say(Said().packet())
    desk.clock.turn(2)
    assert not peer.line.closed
    desk.clock.turn(1)
    assert peer.line.closed


@pytest.mark.parametrize("said", [b"", establish()])
def test_an_initialization_that_takes_too_long_is_closed(desk: Desk, said: bytes) -> None:
    peer = desk.accept()
    peer.say(said)
    desk.clock.turn(59)
    assert not peer.line.closed
    desk.clock.turn(2)
    assert peer.line.closed


def test_a_session_too_many_is_refused(desk: Desk) -> None:
    peers = [desk.open() for _ in range(64)]
    late = desk.accept()
    late.say(establish())
    assert late.heard()[0][18] == 0x12
    assert late.line.closed
    peers[0].session.disconnected()
    assert desk.open().session.open


def test_half_a_packet_of_any_size_is_held_and_forgotten(desk: Desk) -> None:
    peer = desk.open()
    packet = Said(body=bytes(100_000)).packet()
    peer.say(packet[:50_000])
    assert peer.session.frames.held == 50_000
    peer.session.disconnected()
    assert peer.session.frames.held == 0
    assert desk.messages() == []


def _pings(desk: Desk) -> tuple[list[tuple[bytes, tuple[str, int]]], Callable[[bytes], None]]:
    sent: list[tuple[bytes, tuple[str, int]]] = []
    desk.node.pings.send = lambda data, address: sent.append((data, address))
    return sent, lambda data: desk.node.pings.datagram(data, ("127.0.0.2", 4057))


def test_a_ping_is_answered_to_where_it_came_from(desk: Desk) -> None:
    sent, say = _pings(desk)
    say(struct.pack("<HHI", 0x7D01, 0x5548, 4) + CLIENT)
    assert sent == [(struct.pack("<HHI", 1, 0x5548, 4) + SERVER.bytes_le, ("127.0.0.2", 4057))]
    for wrong in (b"", struct.pack("<HHI", 0, 0x5549, 4) + CLIENT, struct.pack("<HHI", 0, 0x5548, 4) + CLIENT + b"\0"):
        say(wrong)
    assert len(sent) == 1


def test_a_ping_tells_of_a_refusal(desk: Desk) -> None:
    for _ in range(64):
        desk.open()
    sent, say = _pings(desk)
    say(struct.pack("<HHI", 0, 0x5548, 9) + CLIENT)
    assert sent[0][0][:2] == b"\x02\0"


def _wants_acknowledgment(peer: Peer) -> None:
    peer.say(Said(asks=1, admin=f"TCP:127.0.0.2\\private$\\{PLAIN}").packet())


@pytest.mark.parametrize(("flags", "connects"), [(0, True), (2, False)])
def test_a_session_is_established_behind_a_ping_that_is_answered(tmp_path: Path, flags: int, connects: bool) -> None:
    desk = Desk(tmp_path, ping_first=True)
    sent, say = _pings(desk)
    _wants_acknowledgment(desk.open())
    ((asked, address),) = sent
    assert asked == struct.pack("<HHI", 0, 0x5548, 1) + SERVER.bytes_le
    assert address == ("127.0.0.2", 3527)
    say(struct.pack("<HHI", flags, 0x5548, 2) + CLIENT)
    assert desk.dialled == []
    say(struct.pack("<HHI", flags, 0x5548, 1) + CLIENT)
    assert [pinged for _, pinged in desk.dialled] == [True] * connects
    if not connects:
        desk.clock.turn(5.1)
        assert [pinged for _, pinged in desk.dialled] == [False]


def test_no_session_is_established_on_a_late_ping_response(tmp_path: Path) -> None:
    desk = Desk(tmp_path, ping_first=True)
    _, say = _pings(desk)
    _wants_acknowledgment(desk.open())
    desk.clock.turn(1.1)
    say(struct.pack("<HHI", 0, 0x5548, 1) + CLIENT)
    assert desk.dialled == []
