"""Ways of a queue manager that the text leaves open, over real sockets: each works, with a client of its own."""

from __future__ import annotations

import re
import socket
import struct
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import run

import pytest
from embedded_network_peer import CLIENT, ORDER_ACK, TRANSACTIONAL, Said, desk, establish, header, parameters, read
from embedded_network_process import PATIENCE, Process, is_closed, process, take, taken_again

from conformance.embedded.network.deviations import WAYS

INTERNAL = 0x08
REACHED, RECEIVED, NO_QUEUE = 0x0002, 0x4000, 0x8000
ADMIN = "TCP:127.0.0.2\\private$\\mine"
AT_ONCE = ("--timer", "session-ack-send=0.1", "--timer", "order-ack-send=0.1")
PAGE = Path(__file__).parents[3] / "docs" / "serve.md"


def heard(line: socket.socket) -> Iterator[bytes]:
    """Yield the user messages that come."""
    while True:
        packet = take(line)
        if not int.from_bytes(packet[2:4], "little") & INTERNAL:
            yield packet


def classes(line: socket.socket, count: int) -> set[int]:
    """Return the classes of the next user messages."""
    return {read(packet)["class"] for _, packet in zip(range(count), heard(line), strict=False)}


@contextmanager
def called(*arguments: str) -> Iterator[tuple[socket.socket, Process]]:
    """A process, and a listener of the client, to which the process connects."""
    with socket.create_server(("127.0.0.2", 0)) as listener:
        listener.settimeout(PATIENCE)
        with process(*arguments, "--peer-port", str(listener.getsockname()[1])) as made:
            yield listener, made


def accepted(listener: socket.socket, server: bytes) -> socket.socket:
    """Accept a connection, which names this acceptor, and initialize its session."""
    line, _ = listener.accept()
    line.settimeout(PATIENCE)
    request = take(line)
    assert request[36:52] == server
    line.sendall(establish(request[20:36], CLIENT, *struct.unpack_from("<IH", request, 52)))
    line.sendall(take(line))
    return line


def transactional(number: int) -> bytes:
    said = Said(f"TCP:127.0.0.1\\private$\\{TRANSACTIONAL}", number, transaction=(9, 1, number, number - 1, 0))
    said.asks, said.admin = 1, ADMIN
    return said.packet()


def to_no_queue(made: Process, number: int) -> bytes:
    """A transactional message to a private queue by its number: what answers it goes to a private queue, too."""
    manager = uuid.UUID(made.guid).bytes_le
    return Said(number=number, destination=(3, bytes(4)), manager=manager, transaction=(9, 1, 1, 0, 0)).packet()


def test_each_way_is_named_where_users_look() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert set(WAYS) <= {found[1] for line in lines if (found := re.match(r"\| `([a-z-]+)` \|", line))}


def test_direct_names_get_a_session_of_their_own_by_default() -> None:
    with called(*AT_ONCE) as (listener, made), made.open() as line:
        line.sendall(transactional(1))
        with accepted(listener, bytes(16)) as back:
            assert classes(back, 2) == {ORDER_ACK, REACHED}


def test_acknowledgments_go_over_the_existing_session() -> None:
    with called(*AT_ONCE, "--way", "existing-session") as (listener, made):
        other = bytes(range(16))
        with made.connect() as stranger, made.open() as line:
            stranger.sendall(establish(other) + parameters())
            line.sendall(transactional(1))
            assert classes(line, 2) == {ORDER_ACK, REACHED}
            stranger.sendall(transactional(1).replace(CLIENT, other))
            assert classes(stranger, 2) == {ORDER_ACK, REACHED}
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_what_a_session_leaves_goes_to_the_address() -> None:
    with called(*AT_ONCE, "--way", "existing-session") as (listener, made):
        with made.open() as line:
            line.sendall(transactional(1))
            assert classes(line, 1) == {REACHED}
        with accepted(listener, bytes(16)) as back:
            assert classes(back, 1) == {REACHED}


def test_acknowledgments_go_over_a_session_of_the_acknowledger() -> None:
    with called(*AT_ONCE, "--way", "own-session") as (listener, made), made.open() as line:
        line.sendall(to_no_queue(made, 1))
        with accepted(listener, CLIENT) as back:
            assert classes(back, 1) == {NO_QUEUE}
    with process(*AT_ONCE) as made, made.open() as line:
        line.sendall(to_no_queue(made, 1))
        assert classes(line, 1) == {NO_QUEUE}


def test_a_message_that_comes_again_is_counted() -> None:
    with process(*AT_ONCE, "--way", "duplicates-counted") as made, made.open() as line:
        said = Said(number=1, recoverable=True).packet()
        line.sendall(said + said)
        while header(take(line))[0] != 2:
            pass


def test_a_message_that_comes_again_is_one_message(tmp_path: Path) -> None:
    with desk(tmp_path, "duplicates-counted") as made:
        peer = made.open()
        said = Said(number=1, recoverable=True).packet()
        peer.say(said, said)
        made.clock.turn(10)
        assert made.messages() == [b"hello"]
        assert header(peer.heard()[0])[:3] == (2, 1, 3)


@pytest.mark.parametrize(("ways", "seconds"), [((), 40), (("ack-wait-once",), 20)])
def test_an_acknowledgment_is_waited_for_as_often(ways: tuple[str, ...], seconds: int, tmp_path: Path) -> None:
    with desk(tmp_path, *ways) as made:
        made.open().say(Said(number=1, asks=1, admin=ADMIN).packet())
        peer = made.answer()
        made.clock.turn(seconds - 1)
        peer.session.received_ack = False
        assert not peer.line.closed
        made.clock.turn(seconds + 1)
        assert peer.line.closed


def test_pings_may_be_unanswered() -> None:
    with process(*AT_ONCE, "--way", "no-pings") as made, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as pings:
        pings.sendto(struct.pack("<HHI", 0, 0x5548, 7) + CLIENT, ("127.0.0.1", made.ping))
        with made.open() as line:
            line.sendall(Said(number=1).packet())
            assert header(take(line))[0] == 1
        with pytest.raises(BlockingIOError):
            pings.recv(100, socket.MSG_DONTWAIT)


def test_a_small_window_is_acknowledged_when_it_is_full() -> None:
    with process("--way", "small-window") as made, made.connect() as line:
        line.sendall(establish())
        take(line)
        line.sendall(parameters())
        assert take(line)[30:32] == b"\4\0"
        line.sendall(b"".join(Said(number=number).packet() for number in range(1, 5)))
        assert header(take(line)) == (4, 0, 0, 0, 0, 4)


@pytest.mark.parametrize("way", ["busy", "busy-closes"])
def test_a_busy_manager_takes_a_session_later(way: str) -> None:
    with process("--way", way) as made, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as pings:
        pings.settimeout(PATIENCE)
        with made.open(), made.connect() as half, made.connect() as line:
            half.sendall(establish())
            take(half)
            line.sendall(establish())
            if way == "busy":
                assert take(line)[18] & 0x10
            assert line.recv(1) == b""
            pings.sendto(struct.pack("<HHI", 0, 0x5548, 7) + CLIENT, ("127.0.0.1", made.ping))
            assert pings.recv(100)[0] & 2
        taken_again(made)


def test_a_manager_may_have_plain_queues_alone() -> None:
    with called(*AT_ONCE, "--queue", "mqconform-plain") as (listener, made), made.open() as line:
        line.sendall(transactional(1) + Said(number=2).packet())
        with accepted(listener, bytes(16)) as back:
            assert classes(back, 1) == {NO_QUEUE}
        while header(take(line))[0] != 2:
            pass


def test_a_message_may_be_received_while_its_session_ends() -> None:
    timers = ("--timer", "session-cleanup=2", "--consume", "mqconform-plain=1")
    with called(*timers) as (listener, made), made.open() as line:
        line.sendall(Said(number=1, asks=2, admin=ADMIN).packet())
        with accepted(listener, bytes(16)) as back:
            assert classes(back, 1) == {RECEIVED}
        assert is_closed(line)


def test_a_session_may_end_before_its_acknowledgment_is_due() -> None:
    with process("--timer", "session-cleanup=0.3") as made:
        for _ in range(2):  # What is not acknowledged comes again.
            with made.open() as line:
                line.sendall(Said(number=1, recoverable=True).packet())
                with suppress(ConnectionError):
                    assert line.recv(100) == b""


def test_the_help_of_serve_names_each_way() -> None:
    helped = run([sys.executable, "-m", "conformance", "serve", "--help"], capture_output=True, text=True, check=True)
    text = re.sub(r"-\s+", "-", helped.stdout)  # A line may break behind a hyphen.
    words = set(re.findall(r"[a-z][a-z-]*[a-z]", text))
    assert set(WAYS) <= words
