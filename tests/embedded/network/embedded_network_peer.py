"""The other side of a session, made from MS-MQQB and MS-MQMQ 2.2.19 and 2.2.20 alone, and a clock to turn."""

from __future__ import annotations

import base64
import heapq
import struct
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.embedded.clock import Clock as QueueClock
from conformance.embedded.network.deviations import parts_with
from conformance.embedded.network.incoming import Kept
from conformance.embedded.network.node import Node
from conformance.embedded.network.sender import Route
from conformance.embedded.network.session import Session
from conformance.embedded.network.settings import DEFAULT_QUEUES, Settings, queue_wanted

LIOR = 0x524F494C
FOREVER = 0xFFFFFFFF
CLIENT = uuid.UUID("11111111-2222-3333-4444-555555555555").bytes_le
SERVER = uuid.UUID("99999999-8888-4777-8666-555555555555")
BEGINNING = 100.0
STARTED_MS = 1_800_000_000_000
NORMAL, ORDER_ACK, ACK_RECEIVE = 0, 0xFF, 0x4000
PLAIN, TRANSACTIONAL = "mqconform-plain", "mqconform-transactional"
ADMIN, BACK = "TCP:127.0.0.2\\private$\\admin", "TCP:127.0.0.2\\private$\\back"
ORDER_QUEUE = "TCP:127.0.0.1\\private$\\order_queue$"
TO_TRANSACTIONAL = f"TCP:127.0.0.1\\private$\\{TRANSACTIONAL}"
SIGNED = struct.pack("<HHHHII", 0x0081, 28, 0, 4, 0, 0) + b"\1\5" + bytes(26) + b"sign"
ENCRYPTED = struct.pack("<HHHHII", 0x00A1, 28, 4, 0, 0, 0) + b"\1\5" + bytes(26) + b"key!"


def base(size: int, flags: int = 0x000B, reach: int = FOREVER) -> bytes:
    return struct.pack("<BBHIII", 0x10, 0, flags, LIOR, size, reach)


def establish(
    client: bytes = CLIENT, server: bytes = bytes(16), stamp: int = 77, system: int = 0x0310, flags: int = 2
) -> bytes:
    return (
        base(572) + struct.pack("<HH", 0, flags) + client + server + struct.pack("<IHH", stamp, system, 0) + bytes(512)
    )


def parameters(recoverable: int = 1000, wait: int = 20_000, window: int = 64) -> bytes:
    return base(32) + struct.pack("<HHIIHH", 0, 3, recoverable, wait, 0, window)


def session_ack(received: int, first: int = 0, bits: int = 0, sent: int = 0, recoverable: int = 0) -> bytes:
    return base(36, 0x001B) + struct.pack("<HH", 0, 1) + session_header(received, first, bits, sent, recoverable)


def session_header(received: int, first: int = 0, bits: int = 0, sent: int = 0, recoverable: int = 0) -> bytes:
    return struct.pack("<HHIHHHH", received, first, bits, sent, recoverable, 64, 0)


def direct(name: str) -> bytes:
    data = name.encode("utf-16-le") + b"\0\0"
    return pad(struct.pack("<H", len(data)) + data)


def pad(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


@dataclass
class Said:
    """A user message to send. transaction: timestamp, ordinal, number, previous number, flags."""

    queue: str = f"TCP:127.0.0.1\\private$\\{PLAIN}"
    number: int = 1
    body: bytes = b"hello"
    label: str = ""
    recoverable: bool = False
    asks: int = 0
    admin: str | None = None
    response: str | None = None
    transaction: tuple[int, int, int, int, int] | None = None
    reach: int = FOREVER
    lives: int = FOREVER
    sent: int | None = None
    journal: int = 0
    kind: int = NORMAL
    security: bytes = b""
    privacy: int = 0
    trace: bytes | None = None
    session: bytes = b""
    manager: bytes = bytes(16)
    destination: tuple[int, bytes] | None = None
    hops: int = 0
    source: bytes = CLIENT

    def packet(self) -> bytes:
        kind, name = self.destination or (7, direct(self.queue))
        flags = self.hops | (0x20 if self.recoverable or self.transaction else 0) | self.journal | kind << 10 | 1 << 21
        names = name
        for given, shift in ((self.admin, 13), (self.response, 16)):
            if given is not None:
                flags |= 7 << shift
                names += direct(given)
        flags |= (1 << 20 if self.transaction else 0) | (1 << 19 if self.security else 0)
        sent = STARTED_MS // 1000 if self.sent is None else self.sent
        user = self.source + self.manager + struct.pack("<IIII", self.lives, sent, self.number, flags) + names
        if self.transaction:
            stamp, ordinal, number, previous, marks = self.transaction
            user += struct.pack("<IIIII", marks, ordinal, stamp, number, previous)
        user += self.security
        label = self.label.encode("utf-16-le") + b"\0\0" if self.label else b""
        properties = struct.pack("<BBH20sII", self.asks, len(label) // 2, self.kind, bytes(20), 0, 0)
        properties += struct.pack("<IIIIII", len(self.body), len(self.body), self.privacy, 0x800E, 0x6610, 0)
        user += pad(properties + label + self.body)
        if self.trace is not None:
            user += struct.pack("<HH", 1, 0) + self.trace
        marks = (0 if self.transaction else 3) | (0x10 if self.session else 0) | (0x120 if self.trace else 0)
        return base(16 + len(user), marks, self.reach) + user + self.session


@dataclass(order=True)
class Call:
    due: float
    order: int
    action: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        self.cancelled = True


class Clock:
    """A scheduler that the test turns."""

    def __init__(self) -> None:
        self.now = BEGINNING
        self._calls: list[Call] = []
        self._count = 0

    def time(self) -> float:
        return self.now

    def later(self, seconds: float, action: Callable[[], None]) -> Call:
        self._count += 1
        call = Call(self.now + seconds, self._count, action)
        heapq.heappush(self._calls, call)
        return call

    def turn(self, seconds: float) -> None:
        until = self.now + seconds
        while self._calls and self._calls[0].due <= until:
            call = heapq.heappop(self._calls)
            self.now = max(self.now, call.due)
            if not call.cancelled:
                call.action()
        self.now = until


class TurnedClock(QueueClock):
    """The clock of the queues, turned with the scheduler. It does not go on by itself."""

    kind = "real"

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def now_ms(self) -> int:
        return STARTED_MS + round((self._clock.now - BEGINNING) * 1000)


class Line:
    """A connection of the node, with what it has sent."""

    def __init__(self, address: str = "127.0.0.2") -> None:
        self.address, self.sent, self.closed = address, b"", False

    def send(self, data: bytes) -> None:
        assert not self.closed
        self.sent += data

    def close(self) -> None:
        self.closed = True

    def packets(self) -> list[bytes]:
        """Take what was sent, packet by packet."""
        found, data = [], self.sent
        self.sent = b""
        while data:
            size = int.from_bytes(data[8:12], "little")
            flags = int.from_bytes(data[2:4], "little")
            size += 16 if flags & 0x10 and (size == 20 or not flags & 8) else 0
            assert size >= 16
            found.append(data[:size])
            data = data[size:]
        return found


class Desk:
    """A node with a clock to turn, and the connections it has made."""

    def __init__(self, folder: Path, *deviations: str, **given: Any) -> None:
        queues = tuple(map(queue_wanted, given.pop("queues", DEFAULT_QUEUES)))
        settings = Settings("127.0.0.1", 1801, 3527, 1801, queues=queues, **given)
        self.clock = Clock()
        kept = Kept(folder / "network.sqlite")
        kept.keep("guid", str(SERVER))
        kept.close()
        self.node = Node(settings, folder, self.clock, parts_with(deviations), TurnedClock(self.clock))
        self.dialled: list[tuple[Route, bool]] = []
        self.node.dialler = lambda route, pinged: self.dialled.append((route, pinged))
        self.node.start()

    def accept(self, address: str = "127.0.0.2") -> Peer:
        line = Line(address)
        return Peer(self, line, self.node.accepted(line))

    def open(self, address: str = "127.0.0.2", client: bytes = CLIENT, **given: int) -> Peer:
        """Return the initiator of an open session."""
        peer = self.accept(address)
        peer.say(establish(client), parameters(**given))
        assert len(peer.heard()) == 2
        return peer

    def answer(self, guid: bytes = CLIENT, window: int = 64) -> Peer:
        """Accept the oldest connection that the node makes; return the acceptor of an open session."""
        route, pinged = self.dialled.pop(0)
        line = Line(route.address or "")
        peer = Peer(self, line, self.node.connected(line, route, pinged=pinged))
        (request,) = peer.heard()
        stamp = int.from_bytes(request[52:56], "little")
        peer.request = request
        peer.say(establish(request[20:36], guid, stamp, int.from_bytes(request[56:58], "little")))
        (asked,) = peer.heard()
        peer.say(asked[:30] + struct.pack("<H", window))
        return peer

    def messages(self, queue: str = PLAIN) -> list[bytes]:
        """The bodies in a queue."""
        found = self.node.manager.queues.find_local(f"DIRECT=OS:.\\private$\\{queue}")
        assert found is not None
        return [base64.b64decode(position.message.fields["body"]) for position in found.positions]


@dataclass
class Peer:
    """The other side of one session."""

    desk: Desk
    line: Line
    session: Session
    request: bytes = b""

    def say(self, *packets: bytes) -> None:
        for packet in packets:
            self.session.data(packet)
        self.desk.node.commit()

    def heard(self) -> list[bytes]:
        return self.line.packets()


def read(packet: bytes) -> dict[str, Any]:
    """Return what a user message says, by the offsets of the text."""
    flags = struct.unpack_from("<I", packet, 60)[0]
    at, found = 64, {"flags": flags, "base": struct.unpack_from("<H", packet, 2)[0], "id": packet[56:60]}
    for name, shift in (("destination", 10), ("admin", 13), ("response", 16)):
        kind = flags >> shift & 7
        if kind == 7:
            size = struct.unpack_from("<H", packet, at)[0]
            found[name] = packet[at + 2 : at + 2 + size].decode("utf-16-le").rstrip("\0")
            at += -(-(2 + size) // 4) * 4
        elif kind:
            found[name] = packet[at : at + (16 if kind == 5 else 20 if kind == 6 else 4 if kind != 1 else 0)]
            at += len(found[name])
    if flags >> 20 & 1:
        found["transaction"] = struct.unpack_from("<IIIII", packet, at)
        at += 20
    _, units, found["class"], found["correlation"], found["body_type"] = struct.unpack_from("<BBH20sI", packet, at)
    size = struct.unpack_from("<I", packet, at + 32)[0]
    found["label"] = packet[at + 56 : at + 56 + 2 * units].decode("utf-16-le").rstrip("\0")
    found["body"] = packet[at + 56 + 2 * units : at + 56 + 2 * units + size]
    return found


def header(packet: bytes) -> tuple[int, ...]:
    """Return the SessionHeader at the end of a packet: received, first, bits, sent, recoverable sent, window."""
    return struct.unpack("<HHIHHHH", packet[-16:])[:6]


@contextmanager
def desk(folder: Path, *deviations: str, **given: Any) -> Iterator[Desk]:
    made = Desk(folder, *deviations, **given)
    yield made
    made.node.stop()
