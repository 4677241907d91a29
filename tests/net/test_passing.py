"""The passive proxy: what it hands on is what came, whatever the ends do, and the recording has all of it."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dialogues import events, shown
from small_manager import manager, turns

from conformance.capture import Closed, Opened
from conformance.net.addresses import Place
from conformance.net.proxy import Proxy, Recording, Route


@contextmanager
def proxy(target: Path, set_up: Callable[[Proxy], Place]) -> Iterator[tuple[Proxy, Place]]:
    recording = Recording(target)
    made = Proxy(recording)
    place = set_up(made)
    thread = threading.Thread(target=made.run)
    thread.start()
    try:
        yield made, place
    finally:
        made.stop()
        thread.join()
        recording.close()


def to(place: Place) -> Callable[[Proxy], Place]:
    return lambda made: made.route(Route(Place("127.0.0.1", 0), place))


def whole(sock: socket.socket, length: int) -> bytes:
    got = b""
    while len(got) < length:
        data = sock.recv(length - len(got))
        assert data, "the connection ended early"
        got += data
    return got


@contextmanager
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(20)
        yield listener


def test_a_session_goes_through(tmp_path: Path) -> None:
    target = tmp_path / "said.pcapng"
    with (
        manager() as server,
        proxy(target, to(server)) as (_, place),
        socket.create_connection(place.pair, 20, source_address=("127.0.0.5", 0)) as client,
    ):
        for said, answer in zip(turns("initiator"), turns("acceptor"), strict=False):
            client.sendall(said)
            assert whole(client, len(answer)) == answer
    found = events(target)
    opened = next(each for each in found if isinstance(each, Opened))
    assert opened.initiator.address == "127.0.0.5" and opened.acceptor.port == 1801
    answered = turns("initiator")[: len(turns("acceptor"))]
    sides = {
        side: b"".join(data for _, each, data in shown(target) if each == side) for side in ("initiator", "acceptor")
    }
    assert sides == {"initiator": b"".join(answered), "acceptor": b"".join(turns("acceptor"))}


def test_the_server_sees_the_address_of_its_client(tmp_path: Path) -> None:
    with (
        listening() as listener,
        proxy(tmp_path / "f", to(Place(*listener.getsockname()))) as (_, place),
        socket.create_connection(place.pair, 20, source_address=("127.0.0.7", 0)),
    ):
        made, peer = listener.accept()
        made.close()
        assert peer[0] == "127.0.0.7"


def test_nothing_is_lost_when_one_side_is_slow(tmp_path: Path) -> None:
    data = bytes(range(256)) * 40_000
    with (
        listening() as listener,
        proxy(tmp_path / "f", to(Place(*listener.getsockname()))) as (_, place),
        socket.create_connection(place.pair, 20) as client,
    ):
        made, _ = listener.accept()
        sending = threading.Thread(target=client.sendall, args=(data,))
        with made:
            made.settimeout(20)
            made.sendall(b"first")
            assert whole(client, 5) == b"first"  # The other direction goes on meanwhile.
            sending.start()
            assert whole(made, len(data)) == data
            sending.join()
    assert (tmp_path / "f").stat().st_size > len(data)


def test_the_end_of_one_direction_leaves_the_other_open(tmp_path: Path) -> None:
    target = tmp_path / "f"
    with (
        listening() as listener,
        proxy(target, to(Place(*listener.getsockname()))) as (_, place),
        socket.create_connection(place.pair, 20) as client,
    ):
        made, _ = listener.accept()
        with made:
            made.settimeout(20)
            client.sendall(b"last")
            client.shutdown(socket.SHUT_WR)
            assert whole(made, 4) == b"last" and made.recv(1) == b""
            made.sendall(b"answer")
            assert whole(client, 6) == b"answer"
        assert client.recv(1) == b""
    assert [each.how for each in events(target) if isinstance(each, Closed)] == ["fin"]


@pytest.mark.parametrize("by", ["client", "server"])
def test_a_reset_is_handed_on(by: str, tmp_path: Path) -> None:
    target = tmp_path / "f"
    with listening() as listener, proxy(target, to(Place(*listener.getsockname()))) as (_, place):
        client = socket.create_connection(place.pair, 20)
        made, _ = listener.accept()
        made.settimeout(20)
        first, second = (client, made) if by == "client" else (made, client)
        second.sendall(b"x")
        assert whole(first, 1) == b"x"
        first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        first.close()
        with pytest.raises(ConnectionResetError):
            second.recv(1)
        second.close()
    closed = next(each for each in events(target) if isinstance(each, Closed))
    assert (closed.how, closed.by) == ("rst", "initiator" if by == "client" else "acceptor")


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with proxy(tmp_path / "f", to(Place(*taken.getsockname()))) as (made, place):
            for _ in range(2):  # It goes on.
                with pytest.raises(ConnectionResetError), socket.create_connection(place.pair, 20) as client:
                    client.recv(1)
            assert made.refused == 2


def test_when_it_is_full_further_connections_wait(tmp_path: Path) -> None:
    with listening() as listener, proxy(tmp_path / "f", to(Place(*listener.getsockname()))) as (made, place):
        made.most = 1
        with socket.create_connection(place.pair, 20) as first:
            one, _ = listener.accept()
            with one, socket.create_connection(place.pair, 20) as second:
                second.sendall(b"late")
                listener.settimeout(0.2)
                with pytest.raises(TimeoutError):
                    listener.accept()
                first.close()
                assert one.recv(1) == b""
                one.close()
                listener.settimeout(20)
                two, _ = listener.accept()
                with two:
                    assert whole(two, 4) == b"late"
        assert (made.connections, made.refused) == (2, 0) and made.full


def test_connections_back_to_a_client_go_through(tmp_path: Path) -> None:
    target = tmp_path / "f"
    with listening() as listener, socket.create_server(("127.0.0.6", 0)) as of_client:
        back = Place("127.0.0.6", of_client.getsockname()[1])
        port: list[int] = []

        def set_up(made: Proxy) -> Place:
            with socket.create_server(("127.0.0.6", 0)) as free:
                port.append(free.getsockname()[1])
            made.reverse(lambda address: Route(Place(address, port[0]), back, reverse=True))
            return made.route(Route(Place("127.0.0.1", 0), Place(*listener.getsockname())))

        with (
            proxy(target, set_up) as (_, place),
            socket.create_connection(place.pair, 20, source_address=("127.0.0.6", 0)) as client,
        ):
            made, _ = listener.accept()
            made.sendall(b"come")
            assert whole(client, 4) == b"come"
            with socket.create_connection(("127.0.0.6", port[0]), 20) as server:
                server.sendall(b"ack")
                taken, _ = of_client.accept()
                assert whole(taken, 3) == b"ack"
                taken.close()
            made.close()
    opened = [each for each in events(target) if isinstance(each, Opened)]
    assert [each.acceptor.address for each in opened] == ["127.0.0.1", "127.0.0.6"]


def test_a_place_that_is_taken_is_told(tmp_path: Path) -> None:
    with listening() as listener, proxy(tmp_path / "f", to(Place(*listener.getsockname()))) as (made, place):
        taken = Place(*listener.getsockname())
        made.also(Route(taken, place, reverse=True))
        assert list(made.unseen) == [taken]


def test_pings_go_through(tmp_path: Path) -> None:
    target = tmp_path / "f"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(20)
        there = Place(*server.getsockname())
        with proxy(target, lambda made: made.pings(Place("127.0.0.1", 0), there)) as (_, place):
            clients = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3)]
            for number, client in enumerate(clients):
                client.settimeout(20)
                client.sendto(bytes([number]), place.pair)
                data, peer = server.recvfrom(100)
                server.sendto(data * 2, peer)
                assert client.recvfrom(100) == (bytes([number]) * 2, place.pair)
                client.close()
    assert [data for _, _, data in shown(target)] == [b"\x00", b"\x00\x00", b"\x01", b"\x01\x01", b"\x02", b"\x02\x02"]
