"""The node as initiator: its requests, what it resends, and what acknowledges its messages."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from embedded_network_peer import (
    ACK_RECEIVE,
    ADMIN,
    BACK,
    CLIENT,
    ORDER_ACK,
    ORDER_QUEUE,
    PLAIN,
    SERVER,
    TRANSACTIONAL,
    Desk,
    Line,
    Peer,
    Said,
    establish,
    header,
    read,
    session_ack,
    session_header,
)

from conformance.embedded.network.session import State


def asks(desk: Desk, *numbers: int, recoverable: bool = False) -> None:
    """Let the node owe acknowledgments to 127.0.0.2."""
    peer = desk.open()
    peer.say(*(Said(number=number, asks=1, admin=ADMIN, recoverable=recoverable).packet() for number in numbers))


def replying(folder: Path, *deviations: str, **given: object) -> Desk:
    return Desk(folder, *deviations, replies=frozenset({PLAIN, TRANSACTIONAL}), **given)


def let_reply(peer: Peer, *numbers: int) -> None:
    """Let the node send transactional messages to 127.0.0.2."""
    for number in numbers:
        said = Said(f"TCP:127.0.0.1\\private$\\{TRANSACTIONAL}", number, str(number).encode(), response=BACK)
        said.transaction = (7, 1, number, number - 1, 0)
        peer.say(said.packet())


def sequences(packets: list[bytes]) -> list[tuple[int, ...]]:
    """TimeStamp, Ordinal, number and previous number of the transactional messages."""
    found = [read(packet).get("transaction") for packet in packets if not packet[2] & 8]
    return [(each[2], each[1], each[3], each[4]) for each in found if each is not None]


def test_the_requests_of_an_initiator(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    asks(desk, 1)
    route, pinged = desk.dialled.pop()
    line = Line("127.0.0.2")
    peer = Peer(desk, line, desk.node.connected(line, route, pinged=pinged))
    (request,) = peer.heard()
    assert request[16:52] == struct.pack("<HH", 0, 2) + SERVER.bytes_le + bytes(16)
    stamp, system, reserved = struct.unpack_from("<IHH", request, 52)
    assert (system & 0x1FF, reserved) == (0x110, 0)
    desk.clock.turn(0.1)
    peer.say(establish(SERVER.bytes_le, CLIENT, stamp))
    (asked,) = peer.heard()
    assert struct.unpack_from("<HHIIHH", asked, 16) == (0, 3, 800, 20_000, 0, 64)
    peer.say(asked)
    assert [read(packet)["class"] for packet in peer.heard()] == [2]


@pytest.mark.parametrize(
    ("client", "server", "flags"), [(CLIENT, CLIENT, 2), (SERVER.bytes_le, bytes(16), 2), (SERVER.bytes_le, CLIENT, 18)]
)
def test_an_invalid_response_closes_the_session(tmp_path: Path, client: bytes, server: bytes, flags: int) -> None:
    desk = Desk(tmp_path)
    asks(desk, 1)
    route, _ = desk.dialled.pop()
    line = Line("127.0.0.2")
    peer = Peer(desk, line, desk.node.connected(line, route, pinged=False))
    peer.heard()
    peer.say(establish(client, server, flags=flags))
    assert peer.line.closed
    assert peer.heard() == []
    desk.clock.turn(4.9)
    assert desk.dialled == []
    desk.clock.turn(0.2)
    assert len(desk.dialled) == 1


def test_an_acceptor_that_is_silent_is_given_up(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    asks(desk, 1)
    route, _ = desk.dialled.pop()
    line = Line("127.0.0.2")
    session = desk.node.connected(line, route, pinged=False)
    desk.clock.turn(61)
    assert session.state is State.CLOSED
    desk.clock.turn(5)
    assert len(desk.dialled) == 1


def test_what_is_not_acknowledged_goes_over_the_next_session(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    asks(desk, 1, 2)
    peer = desk.answer()
    assert len(peer.heard()) == 2
    peer.say(session_ack(1))
    peer.session.disconnected()
    desk.clock.turn(5.1)
    again = desk.answer()
    assert [read(packet)["correlation"][16] for packet in again.heard()] == [2]
    again.say(session_ack(1))
    again.session.disconnected()
    desk.clock.turn(60)
    assert desk.dialled == []


@pytest.mark.parametrize(
    ("said", "left"),
    [(session_ack(2), 2), (session_ack(2, 1, 1), 1), (session_ack(2, 1, 3), 0), (session_ack(0), 2)],
)
def test_recoverable_messages_stay_until_they_are_stored(tmp_path: Path, said: bytes, left: int) -> None:
    desk = Desk(tmp_path)
    asks(desk, 1, 2, recoverable=True)
    peer = desk.answer()
    assert len(peer.heard()) == 2
    peer.say(said)
    peer.session.disconnected()
    desk.clock.turn(5.1)
    assert len(desk.answer().heard()) == left if left else desk.dialled == []


def test_recoverable_messages_survive_the_process(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    asks(desk, 1, recoverable=True)
    asks(desk, 2)
    desk.node.stop()
    desk = Desk(tmp_path)
    assert [read(packet)["correlation"][16] for packet in desk.answer().heard()] == [1]


def test_a_session_without_acknowledgments_is_closed(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    asks(desk, 1)
    peer = desk.answer()
    desk.clock.turn(39)
    assert not peer.line.closed
    desk.clock.turn(42)
    assert peer.line.closed


@pytest.mark.parametrize("deviation", ["", "R-MQQB-window=received"])
def test_no_more_is_under_way_than_the_window_has_room_for(tmp_path: Path, deviation: str) -> None:
    desk = Desk(tmp_path, *([deviation] if deviation else []))
    asks(desk, *range(1, 71))
    peer = desk.answer(window=3)
    room = 3 if deviation else 64
    assert len(peer.heard()) == room
    peer.say(session_ack(2))
    assert len(peer.heard()) == 2
    peer.say(session_ack(room + 2))
    assert len(peer.heard()) == (3 if deviation else 4)


def test_an_acknowledgment_that_is_due_is_carried_by_a_message(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    peer = desk.open(address="127.0.0.1")
    peer.say(Said().packet())
    desk.clock.turn(8)
    peer.say(Said(number=2, asks=1, admin="TCP:127.0.0.1\\private$\\mine").packet())
    (ack,) = peer.heard()
    assert int.from_bytes(ack[8:12], "little") == len(ack) - 16
    assert header(ack) == (2, 0, 0, 1, 0, 64)
    desk.clock.turn(3)
    assert peer.heard() == []


# Transactional messages.


def order_ack(sequence: tuple[int, ...], sent: int, recoverable: int = 0, number: int = 900) -> bytes:
    stamp, ordinal, last, _ = sequence
    body = struct.pack("<IIII", ordinal, stamp, last, last - 1) + bytes(20)
    given = session_header(recoverable, sent=sent) if recoverable else b""
    return Said(ORDER_QUEUE, number, body, "QM Ordering Ack", kind=ORDER_ACK, session=given).packet()


def test_a_sequence_is_sent_acknowledged_and_followed_by_the_next(tmp_path: Path) -> None:
    desk = replying(tmp_path)
    peer = desk.open()
    let_reply(peer, 1, 2)
    acceptor = desk.answer()
    first, second = sequences(acceptor.heard())
    assert first[1:] == (1, 1, 0)
    assert second == (*first[:2], 2, 1)
    acceptor.say(session_ack(2, 1, 3), order_ack(second, 1))
    let_reply(peer, 3)
    (third,) = sequences(acceptor.heard())
    assert third == (first[0], 2, 1, 0)


def test_what_is_sent_again_takes_place_in_the_window(tmp_path: Path) -> None:
    desk = replying(tmp_path, timers={"transactional-ack-wait": 5})
    peer = desk.open()
    let_reply(peer, *range(1, 31))
    acceptor = desk.answer()
    assert len(acceptor.heard()) == 30
    desk.clock.turn(11)
    assert len(acceptor.heard()) == 34  # an OrderAck, and all but 27 of two times 30
    acceptor.say(session_ack(60))
    assert len(acceptor.heard()) == 27
    desk.clock.turn(80)
    assert acceptor.line.closed


def test_a_session_acknowledgment_is_not_enough(tmp_path: Path) -> None:
    desk = replying(tmp_path)
    let_reply(desk.open(), 1, 2, 3)
    acceptor = desk.answer()
    sent = sequences(acceptor.heard())
    acceptor.say(session_ack(3, 1, 7), order_ack(sent[0], 1))
    desk.clock.turn(29)
    assert sequences(acceptor.heard()) == []
    desk.clock.turn(2)
    assert sequences(acceptor.heard()) == sent[1:]


def test_a_sequence_keeps_its_numbers_over_a_cut_and_a_restart(tmp_path: Path) -> None:
    desk = replying(tmp_path)
    let_reply(desk.open(), 1, 2)
    acceptor = desk.answer()
    sent = sequences(acceptor.heard())
    acceptor.session.disconnected()
    desk.clock.turn(5.1)
    assert sequences(desk.answer().heard()) == sent
    desk.node.stop()
    desk = replying(tmp_path)
    acceptor = desk.answer()
    assert sequences(acceptor.heard()) == sent
    acceptor.say(session_ack(2, 1, 3), order_ack(sent[1], 1))
    let_reply(desk.open(), 3)
    assert sequences(acceptor.heard()) == [(sent[0][0], 2, 1, 0)]


@pytest.mark.parametrize(("kind", "journal", "dead"), [(ACK_RECEIVE, 1, 0), (0xC002, 0, 1)])
def test_a_final_acknowledgment_ends_a_message(tmp_path: Path, kind: int, journal: int, dead: int) -> None:
    desk = replying(tmp_path)
    let_reply(desk.open(), 1)
    acceptor = desk.answer()
    (packet,) = [each for each in acceptor.heard() if "transaction" in read(each)]
    (sent,) = sequences([packet])
    acceptor.say(session_ack(1, 1, 1), order_ack(sent, 1))
    body = struct.pack("<IIII", sent[1], sent[0], 1, 0) + SERVER.bytes_le + packet[56:60]
    acceptor.say(Said(ORDER_QUEUE, 901, body, "QM Ordering Ack", kind=kind, recoverable=True).packet())
    system = desk.node.manager.queues.system
    assert (len(system("journal").positions), len(system("deadxact").positions)) == (journal, dead)
    desk.clock.turn(100)
    assert sequences(acceptor.heard()) == []
