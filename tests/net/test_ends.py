"""Our ends of connections, against plain sockets that behave in every way a host can."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from dialogues import CONSISTENT, frames, shown

from conformance.net import ends as ends_module
from conformance.net.addresses import Place
from conformance.net.ends import KEPT_OF_REST, Ends, NotConnectedError, TooManyError, ping
from conformance.net.proxy import Recording

SENT = [frame.data for frame in frames(CONSISTENT) if frame.connection == 1 and frame.side == "acceptor"]
LONG_S = 20.0


@contextmanager
def host(act: Callable[[socket.socket], None]) -> Iterator[Place]:
    """A host that does this to each connection, in a thread, and then closes it."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                made, _ = listener.accept()
            except OSError:
                return
            with made:
                try:
                    act(made)
                except OSError:
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield Place("127.0.0.1", listener.getsockname()[1])
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


@contextmanager
def our(recording: Recording | None = None) -> Iterator[Ends]:
    made = Ends(recording)
    try:
        yield made
    finally:
        made.end()


@pytest.mark.parametrize("size", [1, 7, 16, 1000, 1_000_000])
def test_packets_come_whole_however_they_are_cut(size: int) -> None:
    stream = b"".join(SENT)

    def act(made: socket.socket) -> None:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(0, min(len(stream), 400 * size), size):
            made.sendall(stream[at : at + size])
        made.sendall(stream[400 * size :])

    with host(act) as place, our() as ends:
        session = ends.connect(place, LONG_S)
        got, ended = [], None
        while ended is None:
            more, ended = ends.received(session, LONG_S, 10_000)
            got += more
    assert [one.data for one in got] == SENT and ended == "closed"
    assert [one.at_ms for one in got] == sorted(one.at_ms for one in got)


def test_one_packet_is_given_without_waiting_for_the_next() -> None:
    """A SessionAck may go on behind its PacketSize: silence decides."""
    for data in SENT:
        with host(lambda made, data=data: (made.sendall(data), made.recv(1))) as place, our() as ends:
            session = ends.connect(place, LONG_S)
            got, ended = ends.received(session, LONG_S, 1)
            assert [one.data for one in got] == [data] and ended is None


def test_another_protocol_is_the_rest() -> None:
    with host(lambda made: (made.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"), made.recv(1))) as place, our() as ends:
        session = ends.connect(place, LONG_S)
        got, ended = ends.received(session, LONG_S, 3)
        assert [(one.data[:8], one.rest) for one in got] == [(b"HTTP/1.1", True)] and ended is None


@pytest.mark.parametrize("size", [0, 15, 0x7FFFFFFF, 0xFFFFFFFF])
def test_a_lie_about_the_size_is_the_rest(size: int) -> None:
    data = struct.pack("<BBHII", 0x10, 0, 0x0B, 0x524F494C, size) + bytes(100)
    with host(lambda made: (made.sendall(SENT[0] + data), made.recv(1))) as place, our() as ends:
        got, _ = ends.received(ends.connect(place, LONG_S), LONG_S, 2)
        assert [one.rest for one in got] == [False, True]


def test_a_packet_that_is_cut_by_the_end_is_the_rest() -> None:
    with host(lambda made: made.sendall(SENT[0][:20])) as place, our() as ends:
        got, ended = ends.received(ends.connect(place, LONG_S), LONG_S, 1)
        assert [(one.data, one.rest) for one in got] == [(SENT[0][:20], True)] and ended == "closed"


def test_a_silent_host_gives_nothing_in_time() -> None:
    with host(lambda made: made.recv(1)) as place, our() as ends:
        assert ends.received(ends.connect(place, LONG_S), 0.05, 1) == ([], None)


def test_a_reset_is_told() -> None:
    def act(made: socket.socket) -> None:
        made.recv(1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with host(act) as place, our() as ends:
        session = ends.connect(place, LONG_S)
        ends.send(session, b"x", (), 0, LONG_S)
        assert ends.received(session, LONG_S, 1) == ([], "reset")
        with pytest.raises(NotConnectedError):
            for _ in range(3):
                ends.send(session, b"x", (), 0, 1)


def test_a_flood_is_held_back_and_nothing_of_it_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 50
    monkeypatch.setattr(ends_module, "MAX_HELD", most * ends_module._COST)
    times = 2_000
    with host(lambda made: made.sendall(SENT[0] * times)) as place, our() as ends:
        session = ends.connect(place, LONG_S)
        got, ended = 0, None
        while ended is None:
            more, ended = ends.received(session, LONG_S, 10_000)
            assert len(more) <= most + 2 * (ends_module._CHUNK // len(SENT[0]) + 1), "what one read brings comes on top"
            got += len(more)
        assert got == times


def test_a_flood_of_anything_else_is_bounded() -> None:
    with host(lambda made: made.sendall(bytes(5_000_000))) as place, our() as ends:
        session = ends.connect(place, LONG_S)
        total, ended = 0, None
        while ended is None:
            more, ended = ends.received(session, LONG_S, 1)
            total += sum(len(one.data) for one in more)
            assert all(one.rest and len(one.data) <= KEPT_OF_REST for one in more)
    assert ended == "closed"


def test_writes_are_cut_into_pieces_and_recorded(tmp_path: Path) -> None:
    heard: list[bytes] = []

    def act(made: socket.socket) -> None:
        while data := made.recv(65_536):
            heard.append(data)
        made.sendall(SENT[0])

    recording = Recording(tmp_path / "said.pcapng")
    with host(act) as place, our(recording) as ends:
        session = ends.connect(place, LONG_S)
        ends.send(session, SENT[0], (1, 3, 5), 0.001, LONG_S)
        ends.close(session, "half")
        got, _ = ends.received(session, LONG_S, 1)
        assert b"".join(heard) == SENT[0] and len(heard) > 1
        assert [one.data for one in got] == [SENT[0]]
        with pytest.raises(NotConnectedError):
            ends.send(session, b"x", (), 0, 1)
        ends.received(session, LONG_S, 1)
        ends.close(session, "close")
    recording.close()
    assert shown(recording.path) == [("tcp", "initiator", SENT[0]), ("tcp", "acceptor", SENT[0])]


@pytest.mark.parametrize("how", ["close", "reset", "half"])
def test_a_session_that_we_end_is_forgotten(how: Literal["close", "half", "reset"], tmp_path: Path) -> None:
    recording = Recording(tmp_path / "said.pcapng")
    ends = Ends(recording)
    with host(lambda made: made.recv(1) and None) as place:
        for _ in range(3):
            session = ends.connect(place, LONG_S)
            ends.close(session, how)
            ends.close(session, "close")
            before = recording.records
            recording.data(session.number, session.role, b"later")
            assert recording.records == before
    ends.end()
    recording.close()


def test_connections_that_come_early_are_kept_and_others_are_closed() -> None:
    with our() as ends:
        place = ends.listen(Place("127.0.0.2", 0), frozenset({"127.0.0.1"}))
        assert ends.accept("127.0.0.2", 0.02) is None
        with pytest.raises(NotConnectedError):
            ends.accept("127.0.0.3", 0.02)
        with socket.create_connection(place.pair, source_address=("127.0.0.9", 0)) as stranger:
            assert stranger.recv(1) == b""
        with socket.create_connection(place.pair, source_address=("127.0.0.1", 0)) as known:
            known.sendall(SENT[0])
            session = ends.accept("127.0.0.2", LONG_S)
            assert session is not None and session.local == place
            assert [one.data for one in ends.received(session, LONG_S, 1)[0]] == [SENT[0]]
            ends.close(session, "reset")
            with pytest.raises(ConnectionResetError):
                known.recv(1)


def test_a_host_that_refuses_is_told_in_one_sentence() -> None:
    with socket.socket() as taken, our() as ends:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(NotConnectedError, match=r"cannot be reached"):
            ends.connect(Place(*taken.getsockname()), 1)


def test_a_ping_is_answered_or_not(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "pings.pcapng")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        place = Place(*other.getsockname())
        assert ping(place, b"lost", 0.02, recording=recording) == []
        other.recv(100)

        def echo() -> None:
            data, peer = other.recvfrom(100)
            other.sendto(data[::-1], peer)

        thread = threading.Thread(target=echo)
        thread.start()
        assert [one.data for one in ping(place, b"abc", LONG_S, recording=recording)] == [b"cba"]
        thread.join()
    assert ping(place, b"nobody", LONG_S) == []
    recording.close()
    assert [data for _, _, data in shown(recording.path)] == [b"lost", b"abc", b"cba"]


def test_more_sessions_than_we_hold_are_our_limit_until_one_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that the host has ended is held until it is closed: what came on it can still be asked for."""
    monkeypatch.setattr(ends_module, "MAX_SESSIONS", 2)
    with host(lambda made: None) as place, our() as ends:
        held = [ends.connect(place, LONG_S) for _ in range(2)]
        assert [ends.received(one, LONG_S, 1)[1] for one in held] == ["closed", "closed"]
        with pytest.raises(TooManyError, match="2 sessions are open"):
            ends.connect(place, LONG_S)
        ends.close(held[0], "close")
        ends.connect(place, LONG_S)
