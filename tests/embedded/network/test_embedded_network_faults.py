"""Each fault of the network changes what the other side of a session sees, and declares what it breaks."""

from __future__ import annotations

import struct
import tomllib
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from cases import all_of
from embedded_network_peer import (
    ADMIN,
    BACK,
    CLIENT,
    ENCRYPTED,
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
    base,
    establish,
    header,
    parameters,
    session_ack,
    session_header,
)

import conformance.spec
from conformance.embedded.network.deviations import ALTERNATIVES, FAULTS
from conformance.embedded.network.settings import DEFAULT_QUEUES

TRACE = uuid.UUID("abcdefab-cdef-4bcd-8fab-cdefabcdef12").bytes_le

Story = Callable[[Desk], list[object]]


def seen(*peers: Peer) -> list[object]:
    return [thing for peer in peers for thing in (peer.line.sent, peer.line.closed, peer.line.packets() and None)]


def initialization(desk: Desk) -> list[object]:
    """Requests of all kinds, and packets out of their turn."""
    found: list[object] = []
    for said in (
        (establish(server=SERVER.bytes_le), parameters()),
        (establish(server=CLIENT),),
        (establish(system=0x0010), parameters(), establish(), Said().packet()),
        (establish(), parameters(), parameters()),
        (parameters(),),
        (Said(number=9, body=b"early").packet(), establish(), parameters()),
        (session_ack(0), establish(), parameters()),
        (establish(), Said(number=10, body=b"half").packet()),
        (establish(flags=5), establish(), parameters()),
        (b"\x10\0\x0b\0MSMQ" + establish()[8:], establish(), parameters()),
        (establish(), parameters(), base(20, 3) + bytes(4), Said(number=11, body=b"behind").packet()),
    ):
        peer = desk.accept()
        for packet in said:
            if not peer.line.closed:
                peer.say(packet)
        found += seen(peer)
    return [*found, desk.messages()]


def counting(desk: Desk) -> list[object]:
    """Express and recoverable messages, duplicates, and what acknowledges them."""
    peer = desk.open()
    found: list[object] = []

    def wait(seconds: float) -> None:
        desk.clock.turn(seconds)
        found.extend([desk.clock.now, *seen(peer)])

    peer.say(Said(number=1, asks=1, admin=ADMIN).packet(), Said(number=1).packet())
    wait(10.5)
    peer.say(Said(number=2, body=b"two", recoverable=True).packet(), Said(number=3, body=b"two").packet())
    wait(1.5)
    peer.say(Said(number=4, recoverable=True).packet())
    wait(1.5)
    for number in range(5, 42):
        peer.say(Said(number=number, recoverable=True).packet())
    wait(1.5)
    peer.say(Said(number=50).packet())
    wait(0)
    for _ in range(4):
        wait(10.5)
    other = desk.open()
    other.say(Said(number=60, recoverable=True).packet(), session_ack(0, sent=1, recoverable=5))
    return [*found, *seen(other), desk.messages()]


def to_own_address(desk: Desk) -> list[object]:
    """A session that carries messages both ways, so that both counts go on."""
    peer = desk.open(address="127.0.0.1")
    found: list[object] = []
    for number in range(1, 4):
        said = Said(TO_TRANSACTIONAL, number, transaction=(5, 1, number, number - 1, 0))
        peer.say(said.packet())
        desk.clock.turn(5)
        found += seen(peer)
    return found


def sequences(desk: Desk) -> list[object]:
    """Transactional messages in and out of order, consumed, rejected."""
    found: list[object] = []
    peer = desk.open()
    acceptor: Peer | None = None
    numbers = iter(range(1, 100))
    steps = [
        (5, 1, 0),
        (5, 2, 1),
        (5, 2, 1),
        (5, 4, 3),
        (5, 5, 2),
        (5, 9, 3),
        (4, 1, 0),
        (6, 2, 1),
        (6, 1, 0),
        (6, 3, 2),
    ]
    for stamp, number, previous in steps:
        for marks, journal in ((0, 0), (2, 0x200)):
            asked = Said(TO_TRANSACTIONAL, next(numbers), transaction=(stamp, 1, number, previous, marks))
            asked.journal = journal
            peer.say(asked.packet())
        desk.clock.turn(0.6)
        if desk.dialled and acceptor is None:
            acceptor = desk.answer()
        found += seen(peer, *([acceptor] if acceptor else []))
        desk.clock.turn(0.6)
        found += [desk.messages(TRANSACTIONAL), desk.clock.now]
    peer.say(Said(number=200, transaction=(7, 1, 1, 0, 0), asks=4, admin=ADMIN).packet())
    peer.say(Said(TO_TRANSACTIONAL, 201, asks=4, admin=ADMIN).packet())
    desk.clock.turn(3)
    return [*found, *seen(peer, *([acceptor] if acceptor else [])), desk.messages()]


def answers(desk: Desk) -> list[object]:
    """Messages that ask for acknowledgments of every kind, and reports."""
    peer = desk.open()
    late = STARTED_MS // 1000 - 11
    for number, said in enumerate(
        (
            Said(asks=1, admin=ADMIN, recoverable=True, response=BACK),
            Said(asks=1, admin=ADMIN),
            Said(asks=2, admin=ADMIN, body=b"received"),
            Said(asks=0, admin=ADMIN, body=b"unasked"),
            Said("TCP:127.0.0.1\\private$\\none", asks=4, admin=ADMIN),
            Said(TO_TRANSACTIONAL, asks=4, admin=ADMIN),
            Said(TO_TRANSACTIONAL, asks=0, admin=ADMIN),
            Said(TO_TRANSACTIONAL, asks=4, admin=ADMIN, recoverable=True, response=BACK),
            Said(asks=4, admin=ADMIN, reach=10, sent=late, body=b"late"),
            Said(asks=4, admin=ADMIN, reach=0, sent=late, body=b"zero"),
            Said(asks=4, admin=ADMIN, security=SIGNED, body=b"signed"),
            Said(asks=4, admin=ADMIN, security=ENCRYPTED, privacy=3, body=b"encrypted"),
            Said(asks=4, admin=ADMIN, privacy=2, body=b"private"),
            Said(trace=TRACE, body=b"traced"),
            Said(asks=8, admin=ADMIN, lives=0, body=b"expiring"),
            Said("TCP:127.0.0.1\\private$\\mqconform-authenticated"),
            Said("TCP:127.0.0.1\\private$\\mqconform-private"),
        ),
        start=1,
    ):
        said.number = number
        peer.say(said.packet())
    came = [desk.messages(name) for name in (PLAIN, TRANSACTIONAL, "mqconform-authenticated", "mqconform-private")]
    acceptor = desk.answer()
    desk.clock.turn(3)
    return [*came, *seen(peer, acceptor), len(desk.dialled)]


def pings(desk: Desk) -> list[object]:
    """Pings, correct and not."""
    sent: list[object] = []
    desk.node.pings.send = lambda data, address: sent.append((data, address))
    for flags, signature in ((0, 0x5548), (1, 0x5548), (0x7D00, 0x5548), (0, 0x4855)):
        desk.node.pings.datagram(struct.pack("<HHI", flags, signature, 7) + CLIENT, ("127.0.0.2", 4057))
    return sent


def sending(desk: Desk) -> list[object]:
    """The node as initiator: requests, messages, a cut, acknowledgments, resends."""
    peer, found = desk.open(), []
    for number in range(1, 71):
        peer.say(Said(number=number, asks=1, admin=ADMIN).packet())
    for server, flags in ((CLIENT, 18), (CLIENT, 2)):
        route, pinged = desk.dialled.pop(0)
        line = Line(route.address or "")
        acceptor = Peer(desk, line, desk.node.connected(line, route, pinged=pinged))
        found += seen(acceptor)
        acceptor.say(establish(SERVER.bytes_le, server, round(desk.clock.now * 1000), flags=flags))
        found += seen(acceptor)
        desk.clock.turn(6)
    if not acceptor.line.closed:
        acceptor.say(parameters())
    found += seen(acceptor)
    desk.clock.turn(200)
    return [*found, *seen(acceptor), len(desk.dialled)]


def transactional(desk: Desk) -> list[object]:
    """The node sends transactional messages, is cut off, waits for order acknowledgments."""
    peer = desk.open()
    found: list[object] = []
    for number in (1, 2, 3):
        said = Said(TO_TRANSACTIONAL, number, str(number).encode(), response=BACK)
        said.transaction = (7, 1, number, number - 1, 0)
        peer.say(said.packet())
    acceptor = desk.answer()
    found += seen(acceptor)
    acceptor.session.disconnected()
    desk.clock.turn(5.1)
    for _ in desk.dialled[:1]:
        acceptor = desk.answer()
        found += seen(acceptor)
        acceptor.say(session_ack(3, 1, 7))
        for _ in range(4):
            desk.clock.turn(9)
            found += seen(acceptor)
    if not acceptor.line.closed and acceptor.session.open:
        sequence = desk.node.routes["tcp:127.0.0.2"].sequence.identifier
        for index, number in enumerate((1, 3, 5)):
            body = struct.pack("<QII", sequence, number, number - 1) + bytes(20)
            ack = Said("TCP:127.0.0.1\\private$\\order_queue$", 900 + index, body, "QM Ordering Ack", kind=0xFF)
            acceptor.say(session_ack(acceptor.session.sent, 1, 0xFFFF, sent=index), ack.packet())
            said = Said(TO_TRANSACTIONAL, 10 + index, b"more", response=BACK)
            said.transaction = (7, 1, 4 + index, 3 + index, 0)
            peer.say(said.packet())
            found += seen(acceptor)
    return found


def expired(desk: Desk) -> list[object]:
    """A message that is to be passed on waits longer than it may."""
    peer, other = desk.open(), uuid.UUID(int=5).bytes_le
    peer.say(Said(destination=(3, struct.pack("<I", 9)), manager=other, reach=10, body=b"passed on").packet())
    desk.clock.turn(20)
    for number, hops in ((2, 3), (3, 0x1D)):
        said = Said(destination=(3, struct.pack("<I", 9)), manager=other, hops=hops, number=number)
        peer.say(said.packet())
    target = desk.accept("127.0.0.3")
    target.say(establish(other), parameters())
    return seen(peer, target)


def readings(desk: Desk) -> list[object]:
    """What the documents leave open: null identifiers, timeouts, ordinals, rejections, bridges, windows."""
    found: list[object] = []
    for said in (
        (establish(), parameters(wait=1000)),
        (establish(server=CLIENT), parameters()),
    ):
        peer = desk.accept()
        peer.say(*said)
        found += seen(peer)
    peer = desk.open(address="127.0.0.1", window=2)
    found += [peer.session.received_window]
    other = uuid.UUID(int=6).bytes_le
    peer.say(Said(number=1).packet(), Said(number=1, source=other, body=b"of another").packet())
    found += [desk.messages(), *seen(peer)]
    peer.say(Said(TO_TRANSACTIONAL, 2, recoverable=True).packet(), Said(number=3, recoverable=True).packet())
    peer.say(Said(number=4, transaction=(5, 1, 1, 0, 0)).packet())
    peer.say(Said(TO_TRANSACTIONAL, 5, transaction=(5, 1, 2, 1, 0)).packet())
    for number, queue in ((8, "transactional"), (6, "other")):
        peer.say(Said(f"TCP:127.0.0.1\\private$\\mqconform-{queue}", number, transaction=(6, 1, 1, 0, 0)).packet())
    hops = Said(destination=(3, bytes(4)), manager=other, hops=0x1D, transaction=(8, 1, 1, 0, 0), number=7)
    peer.say(hops.packet())
    desk.clock.turn(3)
    return [*found, *seen(peer), desk.messages("mqconform-other")]


STORIES: tuple[Story, ...] = (
    initialization,
    counting,
    to_own_address,
    sequences,
    answers,
    pings,
    sending,
    transactional,
    expired,
    readings,
)


FIRST: dict[str, tuple[Story, ...]] = {
    "counting": (counting, to_own_address),
    "transactional": (sequences,),
    "answering": (answers, pings, expired),
    "sending": (sending, transactional, expired),
}
"""The stories that are most likely to show the faults of a module."""


def told(folder: Path, story: Story, *faults: str) -> list[object]:
    queues = (*DEFAULT_QUEUES, "mqconform-other,transactional")
    consumes = {TRANSACTIONAL: 0.3, PLAIN: 1.0} if story in (sequences, answers) else {}
    replies = frozenset({TRANSACTIONAL} if story is transactional else ())
    desk = Desk(folder, *faults, queues=queues, consumes=consumes, replies=replies)
    try:
        return story(desk)
    except (AssertionError, IndexError, KeyError, struct.error, ValueError) as broken:
        return [type(broken).__name__]  # the other side could make nothing of it


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[object]]:
    return {story.__name__: told(tmp_path_factory.mktemp("good"), story) for story in STORIES}


def test_the_good_stories_are_told_to_their_end(good: dict[str, list[object]], tmp_path: Path) -> None:
    assert all(len(found) > 1 for found in good.values())
    assert good["sequences"] == told(tmp_path, sequences)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name: str, good: dict[str, list[object]], tmp_path: Path) -> None:
    likely = FIRST.get(FAULTS[name].module.rpartition(".")[2], ())
    for story in (*likely, *(each for each in STORIES if each not in likely)):
        folder = tmp_path / story.__name__
        folder.mkdir()
        if told(folder, story, name) != good[story.__name__]:
            return
    raise AssertionError(f"no story shows {name}")


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_an_alternative_is_seen(name: str, good: dict[str, list[object]], tmp_path: Path) -> None:
    for story in (readings, transactional, sending, counting, sequences, to_own_address):
        folder = tmp_path / story.__name__
        folder.mkdir()
        if told(folder, story, name) != good[story.__name__]:
            return
    raise AssertionError(f"no story shows {name}")


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_an_alternative_is_one_of_a_reading(name: str) -> None:
    reading, _, alternative = name.partition("=")
    assert alternative in known_readings()[reading]


@cache
def known_readings() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in (Path(conformance.spec.__file__).parent / "data").glob("*.toml"):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        found |= {each["id"]: list(each["alternatives"]) for each in data.get("reading", [])}
    return found


@cache
def requirements() -> frozenset[str]:
    found: set[str] = set()
    for path in (Path(conformance.spec.__file__).parent / "data").glob("*.toml"):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        found |= {each["id"] for each in data.get("requirement", [])}
    return frozenset(found)


@all_of("name", FAULTS)
def test_a_fault_says_what_it_breaks(name: str) -> None:
    fault = FAULTS[name]
    assert 1 <= len(fault.breaks) <= 5
    assert set(fault.breaks) <= requirements()
    assert fault.says.endswith(".")
    assert fault.says.count(".") <= 3


def test_session_headers_of_the_other_side_are_those_of_the_text() -> None:
    assert header(session_ack(1, 2, 3, 4, 5)) == (1, 2, 3, 4, 5, 64)
    assert session_header(1) == session_ack(1)[20:]
