"""The passive proxy: hands on other people's connections and pings byte by byte, and records them.

One thread moves the bytes with what the system tells it is ready, so nothing waits for a slow connection. What an end
does is done to the other end: its bytes in their order, the end of its direction, a reset. At most `_CHUNK` bytes wait
in each direction; while they do, nothing more is read there, as TCP has it.
"""

from __future__ import annotations

import resource
import selectors
import socket
import struct
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from conformance.net.addresses import Place, near
from conformance.net.recording import Recording, Side

MAX_CONNECTIONS: Final = 4_096
MAX_PINGING: Final = 512
"""Hosts whose pings are handed on at once; the one silent longest is forgotten."""
CONNECT_S: Final = 10.0
_BESIDE = 48
"""Descriptors that are left to the rest of the process."""
_CHUNK = 65_536
_SIDES: tuple[Side, Side] = ("initiator", "acceptor")
_LINGER_NONE = struct.pack("ii", 1, 0)

Act = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Route:
    """Connections to `listen` are handed on to `to`. reverse: it is the server that makes them."""

    listen: Place
    to: Place
    reverse: bool = False


@dataclass(slots=True, eq=False)
class _Passed:
    """A connection. sockets: of the initiator, of the acceptor. waiting: what each of them still has to be sent."""

    number: int
    sockets: tuple[socket.socket, socket.socket]
    connected: bool = False
    since: float = field(default_factory=time.monotonic)
    waiting: list[memoryview] = field(default_factory=lambda: [memoryview(b""), memoryview(b"")])
    read_over: list[bool] = field(default_factory=lambda: [False, False])
    told_over: list[bool] = field(default_factory=lambda: [False, False])
    events: list[int] = field(default_factory=lambda: [0, 0])


class Proxy:
    """Hands on connections until `stop`. recording: gets every byte before it is handed on.

    connections, refused: numbers so far; refused ones found nobody to be handed on to. most: connections at once, as
    many as the system has descriptors for; while there are so many, further ones wait in the queue of the system.
    full: how often that happened. unseen: places for more connections (`also`) that could not be listened at.
    """

    def __init__(self, recording: Recording, most: int | None = None) -> None:
        self.connections = self.refused = self.full = 0
        self.most = room() if most is None else most
        self.unseen: dict[Place, None] = {}
        self._recording = recording
        self._selector = selectors.DefaultSelector()
        self._open: dict[int, _Passed] = {}
        self._listeners: dict[Place, socket.socket] = {}
        self._acts: dict[socket.socket, Act] = {}
        self._paused = False
        self._pingers: OrderedDict[tuple[str, int], socket.socket] = OrderedDict()
        self._closing: list[socket.socket] = []
        self._reverse: Callable[[str], Route | None] | None = None
        self._over = threading.Event()
        self._inner, self._outer = socket.socketpair()
        self._selector.register(self._inner, selectors.EVENT_READ, lambda events: self._inner.recv(16))

    def route(self, route: Route) -> Place:
        """Listen, and hand on what comes. Returns the place, with the port that was free. Raises OSError."""
        listener = socket.socket(_family(route.listen), socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(route.listen.pair)
            listener.listen(128)
            listener.setblocking(False)
        except OSError:
            listener.close()
            raise
        place = Place(route.listen.host, listener.getsockname()[1])
        self._listeners[route.listen] = listener
        self._acts[listener] = partial(self._accept, listener, route)
        if not self._paused:
            self._selector.register(listener, selectors.EVENT_READ, self._acts[listener])
        return place

    def pings(self, listen: Place, to: Place) -> Place:
        """Hand on datagrams and their answers as well. Raises OSError."""
        listener = socket.socket(_family(listen), socket.SOCK_DGRAM)
        try:
            listener.bind(listen.pair)
            listener.setblocking(False)
        except OSError:
            listener.close()
            raise
        place = Place(listen.host, listener.getsockname()[1])
        self._selector.register(listener, selectors.EVENT_READ, partial(self._pinged, listener, place, to))
        self._closing.append(listener)
        return place

    def reverse(self, make: Callable[[str], Route | None]) -> None:
        """Set what is listened to once a client of this address has come, for connections to it."""
        self._reverse = make

    def run(self) -> None:
        """Hand on until `stop` is called; then close everything."""
        looked = time.monotonic()
        while not self._over.is_set():
            for key, events in self._selector.select(1.0):
                key.data(events)
            now = time.monotonic()
            if now - looked > 1:
                looked = now
                self._give_up(now - CONNECT_S)
                self._go_on()
        for passed in list(self._open.values()):
            self._reset(passed, None)
        for each in (*self._listeners.values(), *self._closing, *self._pingers.values(), self._inner, self._outer):
            each.close()
        self._selector.close()

    def stop(self) -> None:
        """End `run`; from any thread, or a handler of a signal."""
        self._over.set()
        with suppress(OSError):
            self._outer.send(b"x")

    def _accept(self, listener: socket.socket, route: Route, events: int) -> None:
        if self._paused:  # By a listener that was ready in the same moment.
            return
        if len(self._open) >= self.most:
            self._pause()
            return
        try:
            client, peer = listener.accept()
        except (BlockingIOError, ConnectionError):
            return
        except OSError:  # No descriptor is left: the connection would be told of again at once.
            self._pause()
            return
        try:
            server = socket.socket(_family(route.to), socket.SOCK_STREAM)
        except OSError:
            self.refused += 1
            client.close()
            self._pause()
            return
        try:
            for each in (client, server):
                each.setblocking(False)
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if near(peer[0]) and near(route.to.host) and (":" in peer[0]) == (":" in route.to.host):
                server.bind((peer[0], 0))  # The server sees the address that its client has.
            server.connect_ex(route.to.pair)
        except OSError:
            self.refused += 1
            client.close()
            server.close()
            return
        self.connections += 1
        passed = _Passed(self.connections, (client, server))
        self._open[passed.number] = passed
        acceptor = route.to if route.reverse else Place(client.getsockname()[0], route.listen.port)
        self._recording.opened(passed.number, peer[:2], acceptor.pair)
        self._wait(passed)
        if self._reverse is not None and not route.reverse:
            self.also(self._reverse(peer[0]))

    def _pause(self) -> None:
        """Take no connections until one ends, or a second has passed."""
        self.full += 1
        self._paused = True
        for listener in self._acts:
            self._selector.unregister(listener)

    def _go_on(self) -> None:
        """Take connections again, if there is room."""
        if not self._paused or len(self._open) >= self.most:
            return
        self._paused = False
        for listener, act in self._acts.items():
            self._selector.register(listener, selectors.EVENT_READ, act)

    def also(self, route: Route | None) -> None:
        """Listen for this route as well, if it can be and is not yet."""
        if route is not None and route.listen not in self._listeners:
            try:
                self.route(route)
            except OSError:  # Somebody else has the port.
                self.unseen[route.listen] = None

    def _wait(self, passed: _Passed) -> None:
        """Ask the system about what can be done next."""
        for side in (0, 1):
            wanted = 0
            if side == 1 and not passed.connected:
                wanted = selectors.EVENT_WRITE
            elif passed.connected:
                if not passed.read_over[side] and not passed.waiting[1 - side]:
                    wanted |= selectors.EVENT_READ
                if passed.waiting[side]:
                    wanted |= selectors.EVENT_WRITE
            if wanted == passed.events[side]:
                continue
            sock, act = passed.sockets[side], partial(self._ready, passed, side)
            if not wanted:
                self._selector.unregister(sock)
            elif passed.events[side]:
                self._selector.modify(sock, wanted, act)
            else:
                self._selector.register(sock, wanted, act)
            passed.events[side] = wanted

    def _ready(self, passed: _Passed, side: int, events: int) -> None:
        if passed.number not in self._open:
            return
        sock = passed.sockets[side]
        if not passed.connected:
            if sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                self.refused += 1
                self._reset(passed, 1)
                return
            passed.connected = True
        if events & selectors.EVENT_WRITE and not self._write(passed, side):
            return
        if events & selectors.EVENT_READ and not self._read(passed, side):
            return
        self._wait(passed)

    def _read(self, passed: _Passed, side: int) -> bool:
        """Read from a side and hand it on. Returns False when the connection is gone."""
        if passed.waiting[1 - side] or passed.read_over[side]:
            return True
        try:
            data = passed.sockets[side].recv(_CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            self._reset(passed, side)
            return False
        if data:
            self._recording.data(passed.number, _SIDES[side], data)
        else:
            self._recording.ended(passed.number, _SIDES[side], "fin")
            passed.read_over[side] = True
        passed.waiting[1 - side] = memoryview(data)
        return self._write(passed, 1 - side)

    def _write(self, passed: _Passed, side: int) -> bool:
        """Send a side what waits for it. Returns False when the connection is gone."""
        sock = passed.sockets[side]
        try:
            while passed.waiting[side]:
                passed.waiting[side] = passed.waiting[side][sock.send(passed.waiting[side]) :]
            if passed.read_over[1 - side] and not passed.told_over[side]:
                sock.shutdown(socket.SHUT_WR)
                passed.told_over[side] = True
        except BlockingIOError:
            return True
        except OSError:
            self._reset(passed, side)
            return False
        if all(passed.told_over):
            self._forget(passed)
            return False
        return True

    def _reset(self, passed: _Passed, by: int | None) -> None:
        """Reset the connection, because a side did, or, for None, because the proxy ends."""
        if by is not None:
            self._recording.ended(passed.number, _SIDES[by], "rst")
        for sock in passed.sockets:
            with suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NONE)
        self._forget(passed)

    def _forget(self, passed: _Passed) -> None:
        del self._open[passed.number]
        for side, sock in enumerate(passed.sockets):
            if passed.events[side]:
                self._selector.unregister(sock)
            sock.close()
        self._go_on()

    def _give_up(self, before: float) -> None:
        for passed in [each for each in self._open.values() if not each.connected and each.since < before]:
            self.refused += 1
            self._reset(passed, 1)

    def _pinged(self, listener: socket.socket, place: Place, to: Place, events: int) -> None:
        with suppress(OSError):
            data, peer = listener.recvfrom(_CHUNK)
            ours = self._pingers.pop(peer[:2], None)
            if ours is None:
                ours = _to(to, peer[0])
                answer = partial(self._answered, ours, listener, place, peer)
                self._selector.register(ours, selectors.EVENT_READ, answer)
            self._pingers[peer[:2]] = ours
            if len(self._pingers) > MAX_PINGING:
                _, silent = self._pingers.popitem(last=False)
                self._selector.unregister(silent)
                silent.close()
            self._recording.datagram(peer[:2], place.pair, data)
            ours.send(data)

    def _answered(
        self, ours: socket.socket, listener: socket.socket, place: Place, peer: tuple[str, int], events: int
    ) -> None:
        with suppress(OSError):
            data = ours.recv(_CHUNK)
            self._recording.datagram(place.pair, peer[:2], data, answer=True)
            listener.sendto(data, peer)


def _to(place: Place, pinger: str) -> socket.socket:
    """Return a socket by which pings of this address are handed on. Raises OSError."""
    ours = socket.socket(_family(place), socket.SOCK_DGRAM)
    try:
        if near(pinger) and near(place.host):
            ours.bind((pinger, 0))
        ours.connect(place.pair)
        ours.setblocking(False)
    except OSError:
        ours.close()
        raise
    return ours


def room() -> int:
    """Return how many connections at once the system has descriptors for; asks it for more when it has few."""
    wanted = 2 * MAX_CONNECTIONS + MAX_PINGING + _BESIDE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return MAX_CONNECTIONS
    left = soft - _BESIDE
    return max(1, (left - min(MAX_PINGING, left // 4)) // 2)


def _family(place: Place) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in place.host else socket.AF_INET
