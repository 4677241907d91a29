"""The passive proxy: hands on other people's connections and pings byte by byte, and records them as pcapng."""

from __future__ import annotations

import ipaddress
import os
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
from pathlib import Path
from typing import Final, Literal

from conformance.capture.recording_mark import OwnEnd
from conformance.net.addresses import MSMQ_PORT, PING_PORT, Place, near

Side = Literal["initiator", "acceptor"]
End = tuple[str, int]
"""An address and a port."""
MAX_BYTES: Final = 8 << 30
"""The longest file; what comes later is counted only."""
_PIECE = 32_768  # Bytes of one made-up segment.
_FIN, _SYN, _RST, _PUSH, _ACK = 1, 2, 4, 8, 16
_TCP, _UDP = 6, 17
_ETHERNET, _NANOSECONDS = 1, 9
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_COMMENT, _RESOLUTION = 1, 9
_WINDOW = 65_535
_FIRST: Final = (0x10000000, 0x20000000)  # First sequence numbers of an initiator and of an acceptor.
_MACS = (b"\x02\x00\x00\x00\x00\x01", b"\x02\x00\x00\x00\x00\x02")


@dataclass(slots=True)
class _Flow:
    """A connection. ends: initiator, acceptor. next: the next sequence number of each. over: the sides that ended."""

    ends: tuple[End, End]
    next: list[int] = field(default_factory=lambda: [first + 1 for first in _FIRST])
    over: set[int] = field(default_factory=set)


class Recording:
    """A pcapng file that grows. Any thread may write; each call is in the file when it returns.

    records: their number. lost: those of them that found no room in the file.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        comment: str = "",
        own: OwnEnd | None = None,
        limit: int = MAX_BYTES,
        clock: Callable[[], int] = time.time_ns,
        feed: Callable[[bytes], object] | None = None,
    ) -> None:
        """Begin a new file. comment: on the interface. own: which end is ours, None for neither. Raises OSError.

        clock: nanoseconds since 1970. path: None keeps nothing. feed: gets the same blocks, each as it is made; it must
        not wait.
        """
        self._clock, self._feed = clock, feed
        self.path, self.records, self.lost, self.problem = path, 0, 0, ""
        self._lock = threading.Lock()
        self._flows: dict[int, _Flow] = {}
        self._last_ns, self._identification, self._left = 0, 0, limit
        self._file = -1
        if path is not None:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        self._keeps = path is not None
        section = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
        if own is not None:
            section += _option(_COMMENT, own.comment.encode()) + bytes(4)
        options = _option(_RESOLUTION, bytes([_NANOSECONDS]))
        options += _option(_COMMENT, comment.encode()) if comment else b""
        options += bytes(4)  # The end of the options.
        begin = _block(_SECTION, section) + _block(_INTERFACE, struct.pack("<HHI", _ETHERNET, 0, 0) + options)
        if feed is not None:
            feed(begin)
        self._write(begin)

    def opened(self, number: int, initiator: End, acceptor: End) -> None:
        """Record that a connection was made. number: the caller's name of it."""
        with self._lock:
            flow = self._flows[number] = _Flow((initiator, (acceptor[0], MSMQ_PORT)))
            for side, flags, sequence, acknowledged in (
                (0, _SYN, _FIRST[0], 0),
                (1, _SYN | _ACK, _FIRST[1], _FIRST[0] + 1),
                (0, _ACK, _FIRST[0] + 1, _FIRST[1] + 1),
            ):
                self._segment(flow, side, flags, b"", sequence, acknowledged)

    def data(self, number: int, side: Side, data: bytes | memoryview) -> int | None:
        """Record bytes that a side sent; return the number of the record with the last of them, from 1 on."""
        with self._lock:
            flow, at = self._flows.get(number), int(side == "acceptor")
            if flow is None:  # The connection is over for both sides: the system takes no more bytes either.
                return None
            for start in range(0, len(data), _PIECE):
                piece = bytes(data[start : start + _PIECE])
                self._segment(flow, at, _PUSH | _ACK, piece, flow.next[at], flow.next[1 - at])
                flow.next[at] = (flow.next[at] + len(piece)) & 0xFFFFFFFF
            return self.records

    def ended(self, number: int, side: Side, how: Literal["fin", "rst"]) -> None:
        """Record that a side closed its direction, or reset the connection. A second end of a side is ignored."""
        with self._lock:
            flow, at = self._flows.get(number), int(side == "acceptor")
            if flow is None or at in flow.over:
                return
            flags = _FIN | _ACK if how == "fin" else _RST | _ACK
            self._segment(flow, at, flags, b"", flow.next[at], flow.next[1 - at])
            flow.next[at] = (flow.next[at] + 1) & 0xFFFFFFFF
            flow.over |= {at} if how == "fin" else {0, 1}
            if len(flow.over) == 2:
                del self._flows[number]

    def forget(self, number: int) -> None:
        """Take notice that nothing more can be seen of a connection, though a side may not have ended."""
        with self._lock:
            self._flows.pop(number, None)

    def datagram(self, source: End, destination: End, data: bytes, *, answer: bool = False) -> None:
        """Record a ping. answer: its source, and not its destination, is the one that is pinged."""
        ends = (source[0], PING_PORT) if answer else source, destination if answer else (destination[0], PING_PORT)
        with self._lock:
            header = struct.pack(">HHHH", ends[0][1], ends[1][1], 8 + len(data), 0)
            self._packet(ends[0][0], ends[1][0], _UDP, header, data, 6, int(answer))

    def close(self) -> None:
        """End the file. Later calls are ignored."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1

    def _segment(self, flow: _Flow, side: int, flags: int, data: bytes, sequence: int, acknowledged: int) -> None:
        source, destination = flow.ends[side], flow.ends[1 - side]
        header = struct.pack(
            ">HHIIBBHHH", source[1], destination[1], sequence, acknowledged, 0x50, flags, _WINDOW, 0, 0
        )
        self._packet(source[0], destination[0], _TCP, header, data, 16, side)

    def _packet(
        self, source: str, destination: str, protocol: int, header: bytes, data: bytes, place: int, side: int
    ) -> None:
        """Write one record. header: of TCP or UDP, with a checksum of 0 at `place`."""
        ends = _packed(source), _packed(destination)
        if len(ends[0]) != len(ends[1]):
            ends = _as_ipv6(ends[0]), _as_ipv6(ends[1])
        length = len(header) + len(data)
        pseudo = ends[0] + ends[1] + struct.pack(">II", length, protocol)
        total = _checksum(pseudo + header + data) or (0xFFFF if protocol == _UDP else 0)
        header = header[:place] + total.to_bytes(2, "big") + header[place + 2 :]
        if len(ends[0]) == 4:
            self._identification = (self._identification + 1) & 0xFFFF
            known = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + length, self._identification, 0, 64, protocol, 0, *ends)
            network = known[:10] + _checksum(known).to_bytes(2, "big") + known[12:]
            kind = b"\x08\x00"
        else:
            network = struct.pack(">IHBB16s16s", 6 << 28, length, protocol, 64, *ends)
            kind = b"\x86\xdd"
        frame = _MACS[1 - side] + _MACS[side] + kind + network + header + data
        now = self._last_ns = max(self._clock(), self._last_ns + 1)
        head = struct.pack("<IIIII", 0, now >> 32, now & 0xFFFFFFFF, len(frame), len(frame))
        block = _block(_PACKET, head + frame)
        self.records += 1
        if self._feed is not None:
            self._feed(block)
        if not self._keeps:
            return
        if self._file < 0 or self.problem or self._left < len(block):
            self.lost += 1
            self.problem = self.problem or f"{self.path} is full: later packets are not recorded"
            return
        self._write(block)

    def _write(self, data: bytes) -> None:
        if self._file < 0:
            return
        self._left -= len(data)
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
        except OSError as error:
            self.problem = f"{self.path} cannot be written ({error.strerror}): later packets are not recorded"


def _packed(address: str) -> bytes:
    found = ipaddress.ip_address(address.partition("%")[0])
    return (getattr(found, "ipv4_mapped", None) or found).packed


def _as_ipv6(packed: bytes) -> bytes:
    return packed if len(packed) == 16 else bytes(10) + b"\xff\xff" + packed


def _checksum(data: bytes) -> int:
    """Return the checksum of the internet: the complement of the sum of all words, found as one remainder."""
    even = data if len(data) % 2 == 0 else data + b"\x00"
    number = int.from_bytes(even, "big")
    rest = number % 0xFFFF
    return 0xFFFF - (0xFFFF if rest == 0 and number else rest)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", 12 + len(body) + -len(body) % 4)
    return struct.pack("<I", kind) + length + body + bytes(-len(body) % 4) + length


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
