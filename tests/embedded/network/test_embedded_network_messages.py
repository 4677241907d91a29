"""What becomes of a message that comes: queues, rejections, acknowledgments, sequences, reports."""

from __future__ import annotations

import re
import struct
import uuid
from pathlib import Path
from typing import Any

import pytest
from embedded_network_peer import (
    ACK_RECEIVE,
    ADMIN,
    CLIENT,
    ENCRYPTED,
    ORDER_ACK,
    PLAIN,
    SERVER,
    SIGNED,
    STARTED_MS,
    TO_TRANSACTIONAL,
    TRANSACTIONAL,
    Desk,
    Line,
    Peer,
    Said,
    establish,
    read,
)

PA, PR, NA, NR = 1, 2, 4, 8
NAMED = struct.pack("<HHHHII", 0x0081, 28, 0, 0, 0, 0) + b"\1\5" + bytes(26)


def answers(desk: Desk) -> list[dict[str, Any]]:
    """What the node sends elsewhere, over the sessions it makes."""
    found = []
    while desk.dialled:
        found += [read(packet) for packet in desk.answer().heard()]
    return found


def classes(desk: Desk) -> list[int]:
    return [each["class"] for each in answers(desk)]


def test_an_arrival_is_acknowledged(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.open().say(Said(number=0x1234, asks=PA, admin=ADMIN, recoverable=True).packet())
    (ack,) = answers(desk)
    assert (ack["class"], ack["destination"], ack["body"]) == (2, ADMIN, b"")
    assert ack["correlation"] == CLIENT + struct.pack("<I", 0x1234)
    assert ack["response"] == f"TCP:127.0.0.1\\private$\\{PLAIN}"
    assert ack["flags"] & 0x60 == 0x20


@pytest.mark.parametrize("asks", [0, PR, NA, NR])
def test_an_arrival_is_acknowledged_only_if_that_is_asked(tmp_path: Path, asks: int) -> None:
    desk = Desk(tmp_path)
    desk.open().say(Said(asks=asks, admin=ADMIN).packet())
    assert desk.messages() == [b"hello"]
    assert classes(desk) == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (Said(queue="TCP:127.0.0.1\\private$\\none"), 0x8000),
        (Said(transaction=(5, 1, 1, 0, 0)), 0x8009),
        (Said(queue=TO_TRANSACTIONAL), 0x800A),
        (Said(reach=10, sent=STARTED_MS // 1000 - 11), 0x8002),
        (Said(security=SIGNED), 0x8006),
        (Said(security=ENCRYPTED, privacy=3), 0x8007),
        (Said(security=ENCRYPTED, privacy=2), 0x8007),
        (Said(privacy=2), 0x8006),
        (Said(queue="TCP:127.0.0.1\\private$\\mqconform-authenticated"), 0x8006),
        (Said(queue="TCP:127.0.0.1\\private$\\mqconform-private"), 0x8007),
        (Said(queue="TCP:127.0.0.1\\private$\\denied", security=NAMED), 0x8004),
        (Said(queue="TCP:127.0.0.1\\private$\\small", body=bytes(3000)), 0x8003),
    ],
)
def test_a_rejection_is_acknowledged_by_its_class(tmp_path: Path, said: Said, expected: int) -> None:
    queues = (PLAIN, f"{TRANSACTIONAL},transactional", "mqconform-authenticated,authenticate")
    queues += ("mqconform-private,privacy=body", "denied,denied", "small,quota=2")
    desk = Desk(tmp_path, insecure_nacks=True, queues=queues)
    said.asks, said.admin = NA, ADMIN
    peer = desk.open()
    peer.say(said.packet())
    assert not peer.line.closed
    negative = [each for each in answers(desk) if "order_queue$" not in each["destination"]]
    assert [each["class"] for each in negative] == [expected]
    assert negative[0]["body"] == (b"" if said.security is ENCRYPTED else said.body)
    assert all(desk.messages(queue.partition(",")[0]) == [] for queue in queues)


@pytest.mark.parametrize("security", [b"", NAMED])
def test_insecure_acknowledgments_are_not_sent_by_default(tmp_path: Path, security: bytes) -> None:
    desk = Desk(tmp_path)
    said = Said(queue="TCP:127.0.0.1\\private$\\none", asks=NA, admin=ADMIN, security=security)
    desk.open().say(said.packet())
    assert classes(desk) == []


def test_a_recoverable_message_that_is_rejected_is_counted(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    peer = desk.open()
    peer.say(Said(queue=TO_TRANSACTIONAL, recoverable=True).packet())
    assert (peer.session.received, peer.session.recoverable_received) == (1, 1)


def test_a_full_queue_manager_closes_the_session(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.node.manager.limit(2, 2)
    peer = desk.open()
    peer.say(Said(body=bytes(3000), asks=NA, admin=ADMIN).packet())
    assert peer.line.closed
    assert classes(desk) == []


def test_a_queue_manager_with_too_many_messages_closes_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.embedded.network.node.MOST_MESSAGES", 3)
    desk = Desk(tmp_path)
    peer = desk.open()
    peer.say(*(Said(number=number).packet() for number in (1, 2, 3)))
    assert not peer.line.closed
    peer.say(Said(number=4).packet())
    assert peer.line.closed
    assert len(desk.messages()) == 3


@pytest.mark.parametrize(("asks", "recoverable"), [(PR, False), (PA | PR, True)])
def test_a_receive_is_acknowledged(tmp_path: Path, asks: int, recoverable: bool) -> None:
    desk = Desk(tmp_path, consumes={PLAIN: 2.0})
    desk.open().say(Said(asks=asks, admin=ADMIN, recoverable=recoverable).packet())
    assert classes(desk) == [2] * (asks & PA)
    desk.clock.turn(2.1)
    assert desk.messages() == []
    peer = desk.node.routes["tcp:127.0.0.2"].session
    if asks == PR:
        assert classes(desk) == [ACK_RECEIVE]
    else:
        assert peer is not None
        assert read(peer.link.packets()[0])["class"] == ACK_RECEIVE  # type: ignore[attr-defined]


def test_the_end_of_the_time_to_be_received_is_acknowledged(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.open().say(Said(asks=NR, admin=ADMIN, lives=3).packet())
    desk.clock.turn(4)
    assert desk.messages() == []
    assert classes(desk) == [0xC002]


# Transactional messages.


def transactional(number: int, previous: int, stamp: int = 5, ordinal: int = 1, marks: int = 0, **more: Any) -> bytes:
    given = {"queue": TO_TRANSACTIONAL, "number": 100 * stamp + number, "body": str(number).encode()} | more
    return Said(transaction=(stamp, ordinal, number, previous, marks), **given).packet()


def order(ack: dict[str, Any]) -> tuple[int, ...]:
    """TimeStamp, Ordinal, number and previous number of an OrderAck."""
    ordinal, stamp, number, previous = struct.unpack_from("<IIII", ack["body"])
    return stamp, ordinal, number, previous


@pytest.mark.parametrize(
    ("sent", "accepted", "acknowledged"),
    [
        ([(1, 0)], [b"1"], (5, 1, 1, 0)),
        ([(1, 0), (2, 1), (3, 2)], [b"1", b"2", b"3"], (5, 1, 3, 2)),
        ([(1, 0), (1, 0), (2, 1), (1, 0)], [b"1", b"2"], (5, 1, 2, 1)),
        ([(1, 0), (3, 2)], [b"1"], (5, 1, 1, 0)),
        ([(1, 0), (4, 1)], [b"1", b"4"], (5, 1, 4, 3)),
        ([(2, 1)], [], None),
        ([(1, 0), (1, 0, 6), (2, 1)], [b"1", b"1"], (6, 1, 1, 0)),
        ([(1, 0), (2, 1, 6)], [b"1"], (5, 1, 1, 0)),
        ([(1, 0), (1, 0, 5, 2)], [b"1", b"1"], (5, 2, 1, 0)),
    ],
)
def test_transactional_messages_are_taken_in_order(
    tmp_path: Path, sent: list[tuple[int, ...]], accepted: list[bytes], acknowledged: tuple[int, ...] | None
) -> None:
    desk = Desk(tmp_path)
    peer = desk.open()
    peer.say(*(transactional(*each) for each in sent))
    assert desk.messages(TRANSACTIONAL) == accepted
    assert peer.session.recoverable_received == len(sent)
    desk.clock.turn(0.4)
    assert desk.dialled == []
    desk.clock.turn(0.2)
    acks = answers(desk)
    assert [order(ack) for ack in acks] == ([acknowledged] if acknowledged else [])
    for ack in acks:
        assert (ack["class"], ack["label"], ack["base"]) == (ORDER_ACK, "QM Ordering Ack", 0)
        assert ack["destination"] == "TCP:127.0.0.2\\PRIVATE$\\order_queue$"
        assert ack["flags"] == 0x201C00
        assert (len(ack["body"]), ack["body"][16:]) == (36, bytes(20))


def test_sequences_survive_sessions_and_the_process(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.open().say(transactional(1, 0))
    desk.open().say(transactional(2, 1))
    desk.node.stop()
    desk = Desk(tmp_path)
    desk.open().say(transactional(2, 1), transactional(3, 2))
    assert desk.messages(TRANSACTIONAL) == [b"1", b"2", b"3"]


def test_express_messages_and_identifiers_across_a_restart(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.open().say(Said(body=b"express").packet(), Said(number=2, body=b"kept", recoverable=True).packet())
    desk.node.stop()
    desk = Desk(tmp_path)
    desk.open().say(Said(number=2, body=b"kept", recoverable=True).packet())
    assert desk.messages() == [b"kept"]


def test_a_rejected_transactional_message_has_a_final_acknowledgment(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.open().say(transactional(1, 0, queue=f"TCP:127.0.0.1\\private$\\{PLAIN}"))
    desk.clock.turn(1)
    (ack,) = answers(desk)
    assert (ack["class"], ack["flags"] & 0x60, ack["label"]) == (0x8009, 0x20, "QM Ordering Ack")
    assert ack["body"] == struct.pack("<IIII", 1, 5, 1, 0) + CLIENT + struct.pack("<I", 501)


@pytest.mark.parametrize(
    ("marks", "journal", "final"), [(2, 0, True), (0, 0x100, True), (0, 0x200, True), (0, 0, False)]
)
def test_a_receive_has_a_final_acknowledgment_if_that_is_wanted(
    tmp_path: Path, marks: int, journal: int, final: bool
) -> None:
    desk = Desk(tmp_path, consumes={TRANSACTIONAL: 0.1})
    desk.open().say(transactional(1, 0, marks=marks, journal=journal))
    desk.clock.turn(0.2)
    assert classes(desk) == [ACK_RECEIVE] * final


# Names without a directory.


def test_a_private_format_name_is_answered_over_the_session_it_came_by(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    queue = desk.node.manager.queues.find_local(f"DIRECT=OS:.\\private$\\{TRANSACTIONAL}")
    assert queue is not None
    peer = desk.open()
    name = (3, struct.pack("<I", queue.number))
    said = Said(destination=name, manager=SERVER.bytes_le, transaction=(5, 1, 1, 0, 0))
    peer.say(said.packet())
    desk.clock.turn(0.6)
    (ack,) = [packet for packet in peer.heard() if not packet[2] & 8]
    found = read(ack)
    assert (found["flags"] >> 10 & 7, found["destination"]) == (3, struct.pack("<I", 4))
    assert ack[32:48] == CLIENT
    assert peer.session.sent == 1


def test_a_client_at_our_own_address_is_answered_over_its_session(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    peer = desk.open(address="127.0.0.1")
    peer.say(transactional(1, 0))
    desk.clock.turn(0.6)
    assert desk.dialled == []
    assert [read(packet)["class"] for packet in peer.heard() if not packet[2] & 8] == [ORDER_ACK]


def test_a_traced_message_has_a_report(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    peer = desk.open()
    queue = uuid.uuid4().bytes_le
    peer.say(Said(number=0xAB, trace=queue).packet())
    (report,) = [read(packet) for packet in peer.heard() if not packet[2] & 8]
    assert (report["class"], report["destination"]) == (1, queue)
    source = str(uuid.UUID(bytes_le=CLIENT)).upper()
    when = r"\d\d:\d\d:\d\d [AP]M (Mon|Tue|Wed|Thu|Fri|Sat|Sun),[A-Z][a-z][a-z] \d\d \d\d"
    assert re.fullmatch(rf"{source[:4]}:000000AB:00 received by {source} at {when}", report["label"])
    target = f"DIRECT=TCP:127.0.0.1\\private$\\{PLAIN}"
    expected = f"<MESSAGE ID>000000AB</MESSAGE ID>\r\n<TARGET QUEUE>{target}</TARGET QUEUE>\r\n"
    assert report["body"].decode("utf-16-le") == expected


def test_a_message_for_another_queue_manager_is_passed_on(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    other = uuid.uuid4().bytes_le
    target = desk.open(client=other, address="127.0.0.3")
    peer = desk.open()
    said = Said(destination=(3, struct.pack("<I", 9)), manager=other, hops=2, recoverable=True)
    peer.say(said.packet())
    (passed,) = target.heard()
    assert passed[60] & 0x1F == 3
    assert passed[:60] + passed[61:] == said.packet()[:60] + said.packet()[61:]


def test_a_message_with_too_many_hops_is_rejected(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    peer: Peer = desk.open()
    said = Said(destination=(3, struct.pack("<I", 9)), manager=uuid.uuid4().bytes_le, hops=0x1D, asks=NA, admin=ADMIN)
    peer.say(said.packet())
    assert classes(desk) == [0x8005]


def test_an_address_that_leads_back_here_is_found_out(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    peer = desk.open(address="127.0.0.9")
    peer.say(Said(asks=PA, admin="TCP:127.0.0.9\\private$\\mine").packet())
    route, _ = desk.dialled.pop()
    line = Line("127.0.0.9")
    back = Peer(desk, line, desk.node.connected(line, route, pinged=False))
    back.heard()
    back.say(establish(SERVER.bytes_le, SERVER.bytes_le))
    assert back.line.closed
    assert [read(packet)["class"] for packet in peer.heard()] == [2]
    peer.say(Said(number=2, asks=PA, admin="TCP:127.0.0.9\\private$\\mine").packet())
    assert [read(packet)["class"] for packet in peer.heard()] == [2]
    desk.clock.turn(60)
    assert desk.dialled == []


@pytest.mark.parametrize(
    ("host", "may"),
    [
        ("127.0.0.7", True),
        ("::1", True),
        ("localhost", True),
        ("peer", True),
        ("192.0.2.1", True),
        ("192.0.2.2", True),
        ("192.0.2.3", False),
        ("example.org", False),
        ("", False),
    ],
)
def test_nobody_is_connected_to_who_was_not_named(tmp_path: Path, host: str, may: bool) -> None:
    desk = Desk(tmp_path, peers=frozenset({"192.0.2.1", "peer"}))
    desk.open(address="192.0.2.2")
    assert desk.node.may_connect(host) is may


def test_what_is_passed_on_leaves_room_for_acknowledgments(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    peer = desk.open()
    other = uuid.uuid4().bytes_le
    for number in range(1, 5):
        said = Said(destination=(3, struct.pack("<I", 9)), manager=other, number=number, body=bytes(3_000_000))
        peer.say(said.packet())
    assert peer.session.received == 2
    peer.say(Said(number=9, asks=PA, admin=ADMIN).packet())
    assert classes(desk) == [2]
