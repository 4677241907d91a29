"""Remote reads (MS-MQRR), one after another and over each other."""

from __future__ import annotations

import base64
import struct
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from embedded_network_peer import (
    ADMIN,
    BACK,
    CLIENT,
    PLAIN,
    SERVER,
    STARTED_MS,
    TO_TRANSACTIONAL,
    TRANSACTIONAL,
    Desk,
    Said,
    desk,
)
from embedded_rpc_peer import (
    ACK,
    FOREVER,
    LOOKUP_PEEK,
    LOOKUP_RECEIVE,
    MOVE_ACCESS,
    NACK,
    NULL,
    PEEK,
    PEEK_ACCESS,
    PEEK_NEXT,
    RECEIVE,
    Client,
    Fault,
    direct,
    machine,
    opening,
    private,
    raised,
    read_answer,
    receive,
    status,
)

from conformance.embedded.packet_reading import PacketReader

QUEUE = f"TCP:127.0.0.1\\private$\\{PLAIN}"
OTHER = f"OS:anywhere\\private$\\{TRANSACTIONAL}"
TIMEOUT, NOT_FOUND, CANCELLED, INVALID, BAD_HANDLE = 0xC00E001B, 0xC00E0088, 0xC00E0008, 0xC00E0006, 0xC00E0007
MISMATCH, RANGE, BOUND = 0x1C00001A, 0x1C010002, 0x1C000007


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Desk]:
    with desk(tmp_path) as made:
        yield made


def fill(at: Desk, *bodies: bytes, **given: object) -> None:
    peer = at.open()
    for number, body in enumerate(bodies, 1):
        peer.say(Said(number=number, body=body, **given).packet())  # type: ignore[arg-type]
    peer.session.disconnected()


def bodies(read: object) -> bytes:
    packet = read.packet  # type: ignore[attr-defined]
    size = struct.unpack_from("<I", packet, 8)[0]
    message = PacketReader().arrived(without_overlay(packet[:size]))
    return base64.b64decode(message["body"])


def without_overlay(packet: bytes) -> bytes:
    """The packet as it was on its way: a direct destination names no queue manager."""
    return packet[:32] + bytes(16) + packet[48:]


def test_a_receive_in_two_phases(at: Desk) -> None:
    fill(at, b"one", b"two")
    client = Client(at)
    handle = client.open(QUEUE)
    assert handle != NULL
    got = client.start(handle)
    assert (got.status, got.arrived, len(got.sections)) == (0, STARTED_MS // 1000, 1)
    kind, whole, data = got.sections[0]
    assert (kind, whole) == (0, len(data))
    assert bodies(got) == b"one"
    assert at.messages() == [b"one", b"two"]
    assert client.end(handle) == 0
    assert at.messages() == [b"two"]
    got = client.start(handle, request=2)
    assert bodies(got) == b"two"
    assert client.end(handle, 2, NACK) == 0
    assert at.messages() == [b"two"]
    assert client.end(handle, 2) == BAD_HANDLE


def test_what_a_packet_says_to_a_remote_reader(at: Desk) -> None:
    fill(at, b"one", reach=100)
    client = Client(at)
    packet = client.start(client.open(QUEUE), PEEK).packet
    size, reach = struct.unpack_from("<II", packet, 8)
    assert reach == STARTED_MS // 1000 + 100
    assert struct.unpack_from("<HHI8s", packet, 32) == (4, 1, 0, bytes((127, 0, 0, 2)) + bytes(4))
    extension = packet[size:]
    assert struct.unpack_from("<IIB3x", extension) == (12, 148 + 28, 0x12)
    assert extension[12:160] == struct.pack("<I", 148) + bytes(144)
    assert extension[160:] == struct.pack("<IHHI16s", 28, 4, 1, 0, bytes((127, 0, 0, 2)))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"admin": ADMIN, "response": BACK, "asks": 1, "label": "a label"},
        {"admin": ADMIN, "recoverable": True, "journal": 0x300, "reach": FOREVER, "lives": 5000},
        {"trace": uuid.UUID(int=9).bytes_le, "hops": 3},
        {"queue": TO_TRANSACTIONAL, "transaction": (7, 1, 1, 0, 12)},
        {"manager": SERVER.bytes_le, "destination": (3, (1).to_bytes(4, "little"))},
    ],
)
def test_a_packet_is_the_one_that_came(at: Desk, given: dict[str, Any]) -> None:
    said = Said(body=b"body and padding!", **given)
    number = queue(at).number  # type: ignore[attr-defined]
    if said.destination is not None:
        said.destination = (3, int(number).to_bytes(4, "little"))
    peer = at.open()
    peer.say(said.packet())
    client = Client(at)
    packet = client.start(client.open(OTHER if "transaction" in given else QUEUE), PEEK).packet
    sent = said.packet()
    assert packet[:12] + packet[16:32] + packet[48 : len(sent)] == sent[:12] + sent[16:32] + sent[48:]
    if said.destination is not None:
        assert packet[32:48] == CLIENT


def test_algorithms_that_are_none(at: Desk) -> None:
    said = bytearray(Said(body=b"body").packet())
    where = len(said) - 4 - 12
    assert said[where : where + 8] == struct.pack("<II", 0x800E, 0x6610)
    said[where : where + 8] = bytes(8)
    at.open().say(bytes(said))
    client = Client(at)
    assert bodies(client.start(client.open(QUEUE), PEEK)) == b"body"


def test_part_of_a_body(at: Desk) -> None:
    fill(at, b"0123456789")
    client = Client(at)
    handle = client.open(QUEUE)
    whole = client.start(handle, PEEK)
    assert len(whole.sections) == 1
    start = whole.packet.index(b"0123456789")
    got = client.start(handle, PEEK, most=4)
    (kind, size, first), (second_kind, second_size, second) = got.sections
    assert (kind, size, first) == (1, start + 10, whole.packet[: start + 4])
    assert (second_kind, second_size) == (2, len(second))
    assert second == whole.packet[-188:]
    assert len(client.start(handle, PEEK, most=10).sections) == 1
    assert client.start(handle, PEEK, most=0).sections[0][2] == whole.packet[:start]


def test_a_read_waits(at: Desk) -> None:
    client = Client(at)
    handle = client.open(QUEUE)
    call = client.send(7, receive(handle, timeout=5000))
    assert client.hear(call) is None
    fill(at, b"late")
    answer = client.hear(call)
    assert isinstance(answer, bytes)
    assert bodies(read_answer(answer)) == b"late"
    assert client.end(handle) == 0
    call = client.send(7, receive(handle, timeout=5000))
    at.clock.turn(5.1)
    answer = client.hear(call)
    assert isinstance(answer, bytes)
    assert read_answer(answer).status == TIMEOUT
    assert client.end(handle) == BAD_HANDLE


@pytest.mark.parametrize("action", [RECEIVE, PEEK])
def test_a_waiting_read_is_cancelled_over_another_connection(at: Desk, action: int) -> None:
    client = Client(at)
    handle = client.open(QUEUE)
    call = client.send(7, receive(handle, action, timeout=FOREVER, request=77))
    other = Client(at, group=client.group)
    assert status(other.call(8, handle + struct.pack("<I", 78))) == 0xC0000225
    assert status(other.call(8, handle + struct.pack("<I", 77))) == 0
    answer = client.hear(call)
    assert isinstance(answer, bytes)
    assert read_answer(answer).status == CANCELLED
    assert status(other.call(8, handle + struct.pack("<I", 77))) == 0xC0000225


def test_request_numbers(at: Desk) -> None:
    fill(at, b"one", b"two")
    client = Client(at)
    handle = client.open(QUEUE)
    assert client.end(handle) == BAD_HANDLE
    assert client.start(handle).status == 0
    assert client.start(handle).status == INVALID
    assert client.end(handle, 2) == INVALID
    assert client.start(handle, request=2).status == 0
    assert client.end(handle, 2) == 0
    assert client.end(handle) == 0
    assert raised(lambda: client.end(handle, ack=0)) == BOUND
    assert raised(lambda: client.end(handle, ack=3)) == BOUND


@pytest.mark.parametrize(
    "given",
    [
        {"action": PEEK_NEXT},
        {"action": 5},
        {"action": LOOKUP_PEEK},
        {"action": RECEIVE, "lookup": 7},
        {"action": LOOKUP_PEEK, "lookup": 7, "timeout": 1},
        {"action": LOOKUP_RECEIVE, "lookup": 7, "cursor": 1},
    ],
)
def test_parameters_that_do_not_go_together(at: Desk, given: dict[str, int]) -> None:
    client = Client(at)
    assert client.start(client.open(QUEUE), **given).status == INVALID


def test_lookups(at: Desk) -> None:
    fill(at, b"one", b"two", b"three")
    client = Client(at)
    handle = client.open(QUEUE)
    position = list(queue(at).positions)
    lookup = position[1].lookup
    for step, body in enumerate((b"two", b"three", b"one")):
        got = client.start(handle, LOOKUP_PEEK + step, lookup=lookup)
        assert (got.status, bodies(got)) == (0, body)
    assert client.start(handle, LOOKUP_PEEK, lookup=lookup).sequence == lookup & (1 << 56) - 1
    got = client.start(handle, LOOKUP_RECEIVE, lookup=lookup)
    assert bodies(got) == b"two"
    assert client.end(handle) == 0
    assert client.start(handle, LOOKUP_RECEIVE, lookup=lookup).status == NOT_FOUND
    assert at.messages() == [b"one", b"three"]


def queue(at: Desk, name: str = PLAIN) -> object:
    found = at.node.manager.queues.find_local(f"DIRECT=OS:.\\private$\\{name}")
    assert found is not None
    return found


def cursor(client: Client, handle: bytes) -> int:
    answer = client.call(4, handle)
    assert (len(answer), status(answer)) == (8, 0)
    return int.from_bytes(answer[:4], "little")


def test_cursors(at: Desk) -> None:
    fill(at, b"one", b"two")
    client = Client(at)
    handle = client.open(QUEUE)
    number = cursor(client, handle)
    assert bodies(client.start(handle, PEEK, cursor=number)) == b"one"
    assert bodies(client.start(handle, PEEK_NEXT, cursor=number)) == b"two"
    assert client.start(handle, PEEK_NEXT, cursor=number).status == TIMEOUT
    assert client.start(handle, PEEK, cursor=number + 100).status == 0xC0000008
    other = client.open(QUEUE, PEEK_ACCESS)
    assert client.start(other, PEEK, cursor=number).status == BAD_HANDLE
    assert status(client.call(5, other + struct.pack("<I", number))) == BAD_HANDLE
    assert status(client.call(5, handle + struct.pack("<I", number))) == 0
    assert status(client.call(5, handle + struct.pack("<I", number))) == BAD_HANDLE
    assert client.start(handle, PEEK, cursor=number).status == 0xC0000008


def test_what_access_allows(at: Desk) -> None:
    fill(at, b"one")
    client = Client(at)
    peeking = client.open(QUEUE, PEEK_ACCESS)
    assert bodies(client.start(peeking, PEEK)) == b"one"
    assert client.start(peeking).status == 0xC00E0025
    assert status(client.call(6, peeking)) == 0xC0000022
    reading = client.open(QUEUE)
    assert status(client.call(6, reading)) == 0
    assert at.messages() == []


def test_names_of_queues(at: Desk) -> None:
    client = Client(at)
    number = queue(at).number  # type: ignore[attr-defined]
    for named in (
        private(SERVER, number),
        private(SERVER, number, 0x81),
        machine(SERVER, 0x82),
        machine(SERVER, 0x83),
        direct(f"{QUEUE};journal"),
        direct(f"{QUEUE};sub", 8, 5),
    ):
        assert client.open("", named=named) != NULL
    for named, expected in (
        (direct("TCP:127.0.0.1\\private$\\none"), 0xC00E0003),
        (private(uuid.UUID(int=7), number), 0xC00E0003),
        (direct("HTTP://host/msmq/private$/q"), INVALID),
        (struct.pack("<BBHB3x", 0, 0, 0, 0), INVALID),
        (struct.pack("<BBHB3xI", 3, 0, 0, 3, 0), INVALID),
        (machine(SERVER, 0), INVALID),
        (direct("nonsense"), INVALID),
    ):
        assert raised(lambda named=named: client.open("", named=named)) == expected  # type: ignore[misc]
    assert raised(lambda: client.open(QUEUE, 2)) == INVALID
    assert raised(lambda: client.open(QUEUE, share=2)) == INVALID
    assert raised(lambda: client.open("", named=struct.pack("<BBHB3x", 3, 0, 0, 2) + bytes(20))) in (0x1C000006, 0x6F7)
    assert raised(lambda: client.open("", named=struct.pack("<BBHB3x", 9, 0, 0, 9))) == 0x1C000006


def test_handles(at: Desk) -> None:
    client, stranger = Client(at), Client(at)
    handle = client.open(QUEUE)
    for other in (NULL, bytes(4) + bytes(range(16))):
        assert raised(lambda other=other: client.call(6, other)) == MISMATCH  # type: ignore[misc]
    assert raised(lambda: stranger.call(6, handle)) == MISMATCH
    assert client.call(3, handle) == NULL + bytes(4)
    assert raised(lambda: client.call(6, handle)) == MISMATCH
    assert raised(lambda: client.call(3, handle)) == MISMATCH
    assert client.call(3, NULL) == NULL + struct.pack("<I", BAD_HANDLE)
    assert client.call(0) == struct.pack("<I", at.node.planes.port)
    assert raised(lambda: client.call(1)) == RANGE
    assert raised(lambda: client.call(16)) == RANGE
    assert raised(lambda: client.call(6, b"short")) == 0x6F7


def test_rundown(at: Desk) -> None:
    fill(at, b"one", b"two")
    client = Client(at)
    beside = Client(at, group=client.group)
    handle = client.open(QUEUE, share=1)
    assert raised(lambda: Client(at).open(QUEUE)) == 0xC00E0009
    assert client.start(handle).status == 0
    client.close()
    assert status(beside.call(4, handle)) == 0
    beside.close()
    other = Client(at)
    assert bodies(other.start(other.open(QUEUE))) == b"one"


def test_closing_a_queue_ends_its_reads(at: Desk) -> None:
    client = Client(at)
    handle = client.open(QUEUE)
    call = client.send(7, receive(handle, timeout=FOREVER))
    assert client.call(3, handle) == NULL + bytes(4)
    answer = client.hear(call)
    assert isinstance(answer, bytes)
    assert read_answer(answer).status == CANCELLED


def test_a_receive_that_is_not_ended(at: Desk) -> None:
    fill(at, b"one")
    client = Client(at)
    handle = client.open(QUEUE)
    assert client.start(handle).status == 0
    at.clock.turn(299)
    assert client.start(handle, request=2).status == TIMEOUT
    at.clock.turn(2)
    assert client.end(handle) == BAD_HANDLE
    assert client.start(handle, request=2).status == 0


def test_moves(at: Desk) -> None:
    fill(at, b"one", b"two")
    client = Client(at)
    source, lookup = client.open(QUEUE), [position.lookup for position in queue(at).positions]  # type: ignore[attr-defined]
    named = opening(direct(f"{QUEUE};sub", 8, 5), MOVE_ACCESS, 0)
    answer = client.call(11, named)
    assert len(answer) == 28
    target, handle = answer[:8], answer[8:]
    assert client.move(source, target, lookup[0]) == 0
    assert at.messages() == [b"two"]
    assert client.move(source, target, lookup[0]) == NOT_FOUND
    assert client.move(source, bytes(8), lookup[1]) == BAD_HANDLE
    assert client.move(source, target, lookup[1], bytes(range(16))) == 0xC00E0050
    foreign = client.call(11, opening(direct(OTHER), MOVE_ACCESS, 0))[:8]
    assert client.move(source, foreign, lookup[1]) == 0xC000000D
    reader = client.open("", named=direct(f"{QUEUE};sub", 8, 5))
    got = client.start(reader)
    assert bodies(got) == b"one"
    name = got.packet[-28 - 128 : -28 - 64].decode("utf-16-le").rstrip("\0")
    assert name == "sub"
    assert client.move(source, target, lookup[1]) == 0
    assert client.call(3, handle) == NULL + bytes(4)
    assert client.move(source, target, lookup[1]) == BAD_HANDLE
    assert raised(lambda: client.call(11, opening(direct(QUEUE), 1, 0))) == INVALID


def test_transactions_that_cannot_end(at: Desk) -> None:
    fill(at, b"one", queue=TO_TRANSACTIONAL, transaction=(7, 1, 1, 0, 12))
    client = Client(at)
    handle, plain = client.open(OTHER), client.open(QUEUE)
    unit = bytes(range(16))
    token = struct.pack("<II", 4, 4) + b"tokn" + direct(OTHER)
    assert status(client.call(12, unit + token)) == 0xC00E004C
    assert client.start(plain, transaction=unit).status == 0xC00E0050
    assert client.start(handle, PEEK, transaction=unit).status == 0xC00E0050
    got = client.start(handle, transaction=unit)
    assert (got.status, bodies(got)) == (0, b"one")
    lookup = next(iter(queue(at, TRANSACTIONAL).positions)).lookup  # type: ignore[attr-defined]
    rejection = handle + bytes(4) + struct.pack("<QH", lookup, 0xC004)
    assert status(client.call(14, rejection)) == 0xC00E0050
    assert client.end(handle) == INVALID
    assert client.end(handle, opnum=15) == 0
    assert status(client.call(14, rejection)) == 0
    assert status(client.call(14, rejection[:-2] + b"\1\0")) == INVALID
    assert client.start(handle, PEEK).status == TIMEOUT
    assert client.call(3, handle) == NULL + bytes(4)
    handle = client.open(OTHER)
    assert bodies(client.start(handle, transaction=unit)) == b"one"
    assert client.end(handle, ack=NACK, opnum=15) == 0
    assert bodies(client.start(handle)) == b"one"


def test_a_transaction_without_identifier_is_none(at: Desk) -> None:
    fill(at, b"one")
    client = Client(at)
    handle = client.open(QUEUE)
    assert client.start(handle, transaction=bytes(16)).status == 0
    assert client.end(handle, ack=ACK, opnum=15) == 0
    assert at.messages() == []


@pytest.mark.parametrize("big", [False, True])
def test_numbers_of_either_order(at: Desk, big: bool) -> None:
    fill(at, b"one")
    client = Client(at, big=big, fragment=8)
    handle = client.open(QUEUE)
    assert handle != NULL
    number = client.call(4, as_sent(handle, big))
    assert status(number) == 0
    got = client.start(as_sent(handle, big))
    assert bodies(got) == b"one"
    assert client.end(as_sent(handle, big)) == 0


def as_sent(handle: bytes, big: bool) -> bytes:
    """A handle in the order of its sender: a number and a UUID."""
    return handle[:4] + uuid.UUID(bytes_le=handle[4:]).bytes if big else handle


def test_a_long_message_comes_in_fragments(at: Desk) -> None:
    body = bytes(range(256)) * 100
    fill(at, body)
    client = Client(at)
    assert bodies(client.start(client.open(QUEUE))) == body


def test_faults_are_raised(at: Desk) -> None:
    with pytest.raises(Fault, match="0xC00E0003"):
        Client(at).open("OS:.\\private$\\none")


def test_text_that_is_none(at: Desk) -> None:
    client = Client(at)
    for text in ("OS:.\\private$\\\ud800", f"{QUEUE};\ud800", f"{QUEUE};" + "x" * 200):
        wide = text.encode("utf-16-le", "surrogatepass") + b"\0\0"
        named = struct.pack("<BBHB3xIIII", 8, 5, 0, 8, 1, len(wide) // 2, 0, len(wide) // 2) + wide
        assert raised(lambda named=named: client.open("", named=named + bytes(-len(named) % 4))) in (
            INVALID,
            0xC00E0003,
        )  # type: ignore[misc]
    wide = "OS:.\\x\0y\0".encode("utf-16-le")
    named = struct.pack("<BBHB3xIIII", 3, 0, 0, 3, 1, len(wide) // 2, 0, len(wide) // 2) + wide
    assert raised(lambda: client.open("", named=named)) == 0x6F7
