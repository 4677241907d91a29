"""Our ends of connections and of pings, the packets they receive, and what may be sent: how fast and how much."""

from __future__ import annotations

import selectors
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from conformance.capture.framing import Framer, Piece
from conformance.net.addresses import Permit, Place, Target
from conformance.net.proxy import Recording, Side
from conformance.wire import Packet, dissect

KEPT_OF_REST: Final = 65_536
"""Bytes that are kept of a stream once it is no sequence of packets."""


@dataclass(slots=True)
class Packets:
    """One direction of a connection, from its first byte on.

    lost: bytes of the rest that were not kept. A packet of at most the largest PacketSize is held.
    """

    lost: int = 0
    _framer: Framer = field(default_factory=lambda: Framer(found=True))
    _rest: bytearray = field(default_factory=bytearray)
    _broken: bool = False

    @property
    def broken(self) -> bool:
        """True when the stream is no sequence of packets any more: all that comes is rest."""
        return self._broken

    @property
    def held(self) -> int:
        """Bytes that are part of no packet that was returned."""
        return len(self._rest)

    def feed(self, data: bytes) -> list[bytes]:
        """Add bytes; return the packets that they complete."""
        self._rest += data
        if self._broken:
            self._shorten()
            return []
        return self._taken(lambda: self._framer.feed(data))

    def settle(self) -> list[bytes]:
        """Decide what was left open for the next bytes, because none come for now."""
        return [] if self._broken else self._taken(self._framer.settle)

    def take_rest(self) -> bytes:
        """Return the bytes that are no packet, and forget them: what follows is no packet either."""
        rest, self._rest, self._broken = bytes(self._rest), bytearray(), True
        return rest

    def _taken(self, cut: Callable[[], list[Piece]]) -> list[bytes]:
        whole: list[bytes] = []
        for piece in cut():
            if piece.trouble is not None or piece.gap_before:
                self._broken = True  # The framer found packets again behind the rest; a live peer is not forgiven.
                break
            whole.append(piece.data)
            del self._rest[: len(piece.data)]
        self._broken = self._broken or not self._framer.found
        if self._broken:
            self._shorten()
        return whole

    def _shorten(self) -> None:
        self.lost += max(0, len(self._rest) - KEPT_OF_REST)
        del self._rest[KEPT_OF_REST:]


MAX_ANSWERS: Final = 64
"""Datagrams that are kept of the answers to one ping."""
_GRACE_S = 0.1  # Time for a second answer to come.
_LONGEST = 65_535


@dataclass(frozen=True, slots=True)
class Answer:
    """A datagram that came from the host that was pinged. at_ms: as in the clock that was given."""

    data: bytes
    at_ms: float


def ping(
    place: Place,
    data: bytes,
    wait_s: float,
    *,
    source: str | None = None,
    recording: Recording | None = None,
    now_ms: Callable[[], float] = lambda: time.monotonic() * 1000,
) -> list[Answer]:
    """Send one datagram and return the answers: all that come until shortly after the first, or in the time given.

    Only the pinged host and port are heard. Raises OSError when it cannot be sent.
    """
    answers: list[Answer] = []
    with socket.socket(socket.AF_INET6 if ":" in place.host else socket.AF_INET, socket.SOCK_DGRAM) as ours:
        if source is not None:
            ours.bind((source, 0))
        ours.connect(place.pair)
        local = ours.getsockname()[:2]
        if recording is not None:
            recording.datagram(local, place.pair, data)
        ours.send(data)
        until = time.monotonic() + wait_s
        while (left := until - time.monotonic()) > 0 and len(answers) < MAX_ANSWERS:
            ours.settimeout(left)
            try:
                got = ours.recv(_LONGEST)
            except TimeoutError:
                break
            except OSError:  # Nothing listens there, says the host.
                break
            if recording is not None:
                recording.datagram(place.pair, local, got, answer=True)
            answers.append(Answer(got, now_ms()))
            until = min(until, time.monotonic() + _GRACE_S)
    return answers


Sort = Literal["correct", "odd", "malformed"]
"""Packets that a run may send: those of a queue manager; also reserved bits that are set, packets out of turn, and
numbers and times that no queue manager sends; also what breaks the layout."""
SORTS: Final[tuple[Sort, ...]] = get_args(Sort)
PREFIX: Final = "mqconform-"
"""The names of queues that a run may touch begin with this."""
ORDER_QUEUE: Final = "order_queue$"
ACK_LABEL: Final = "QM Ordering Ack"
"""The label of each OrderAck and FinalAck (MS-MQQB 2.2.4, 2.2.5)."""
MAX_MESSAGE_S: Final = 60
"""Seconds of the longest time a message may have to be received in."""
MAX_BYTES: Final = 64 << 10
PER_SECOND: Final = 20
_LABEL = "mqconform"


def may_send(sort: Sort, target: Target, permit: Permit) -> str | None:
    """Return why packets of this sort must not be sent to a host; None if they may."""
    if sort == "malformed" and not target.loopback and not permit.lab:
        return f"malformed packets stay on this machine: {target.word} needs --lab, and must be in one."
    return None


def refusal(data: bytes, target: Target, sort: Sort) -> str | None:
    """Return why these bytes must not be sent to a host, in a few words; None if they may."""
    if target.loopback:
        return None
    if len(data) > MAX_BYTES:
        return f"{len(data):,} bytes, and {target.word} gets at most {MAX_BYTES:,} at once"
    if sort == "malformed":
        return None
    cut = Packets()
    packets = [*cut.feed(data), *cut.settle()]
    if cut.held:
        return f"bytes that are no whole packet, and {target.word} gets no malformed ones"
    for each in packets:
        why = _unfit(dissect(each, transport="tcp"))
        if why is not None:
            return why
    return None


def packets_in(data: bytes) -> int:
    """Return how many packets these bytes hold; what is no whole packet counts as one."""
    cut = Packets()
    return len([*cut.feed(data), *cut.settle()]) + bool(cut.held)


def _unfit(packet: Packet) -> str | None:
    if not packet.whole:
        return f"a packet that does not decode ({packet.trouble[0].says})"
    if packet.kind not in ("UserMessage", "OrderAck", "FinalAck"):
        return None
    name = packet.fields.get("UserHeader.DestinationQueue.DirectFormatName")
    if not isinstance(name, str):
        return "a message to a queue that is not named by a direct format name"
    queue = name.rpartition("\\")[2].lower()
    label = packet.fields.get("MessagePropertiesHeader.Label")
    if packet.kind != "UserMessage":
        if queue != ORDER_QUEUE:
            return f"an acknowledgment to {name}, which is not {ORDER_QUEUE}"
        return None if label == ACK_LABEL else f"an acknowledgment whose label is not {ACK_LABEL}"
    if not queue.startswith(PREFIX):
        return f"a message to {name}, and only queues named {PREFIX}* are touched"
    if not isinstance(label, str) or not label.startswith(_LABEL):
        return f"a message whose label does not begin with {_LABEL}"
    lives = packet.fields.get("UserHeader.TimeToBeReceived")
    if not isinstance(lives, int) or lives > MAX_MESSAGE_S:
        return f"a message that may stay longer than {MAX_MESSAGE_S} s"
    return None


@dataclass(slots=True)
class Pace:
    """Holds sending back to `PER_SECOND` packets in any second. Packets sent at once wait together beforehand."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    _sent: list[float] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def wait(self, packets: int = 1) -> None:
        """Return when so many more may be sent."""
        with self._lock:
            for _ in range(packets):
                self._wait()

    def _wait(self) -> None:
        now = self.clock()
        if len(self._sent) >= PER_SECOND and (left := self._sent[-PER_SECOND] + 1 - now) > 0:
            self.sleep(left)
            now += left
        self._sent = [*self._sent[1 - PER_SECOND :], now]


MAX_HELD: Final = 8 << 20
"""Bytes of a session that wait to be asked for, each packet with what it costs to keep it and to look at it."""
MAX_WAITING: Final = 16
"""Connections that wait to be taken; further ones are closed at once."""
MAX_SESSIONS: Final = 256
MAX_STRANGERS: Final = 16
"""Addresses that are remembered of those that connected though nobody expected them."""
_COST = 32_768  # What one packet costs beside its bytes: of the smallest, 256 wait.
_CHUNK = 8_192  # Bytes that are read at once.
_QUIET_S = 0.03  # After this long without bytes, a packet that may go on is decided.
_LINGER_NONE = struct.pack("ii", 1, 0)

Ended = Literal["closed", "reset"] | None
How = Literal["close", "half", "reset"]


class NotConnectedError(OSError):
    """A connection could not be made, or is over; the message is one sentence."""


class TooManyError(Exception):
    """All sessions that we hold are open; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """A packet. at_ms: milliseconds since the ends were made. rest: the bytes are no packet. record: see `Session`."""

    data: bytes
    at_ms: float
    rest: bool = False
    record: int | None = None


@dataclass(slots=True, eq=False)
class Session:
    """One connection. local, remote: the addresses of both ends, as the system tells them. sent, came: the records of
    the recording that have the last byte of each direction; None without one."""

    number: int
    role: Side
    socket: socket.socket
    local: Place
    remote: Place
    packets: Packets = field(default_factory=Packets)
    arrived: deque[Arrived] = field(default_factory=deque)
    held: int = 0
    ended: Ended = None
    last_s: float = 0.0
    reading: bool = True
    half: bool = False
    closed: bool = False
    sent: int | None = None
    came: int | None = None

    @property
    def other(self) -> Side:
        """The role of the other side."""
        return "acceptor" if self.role == "initiator" else "initiator"


class Ends:
    """All our ends against one host. recording: gets every byte. Use it from one thread; a second one reads."""

    def __init__(self, recording: Recording | None = None) -> None:
        self.began = time.monotonic()
        self._recording = recording
        self._selector = selectors.DefaultSelector()
        self._changed = threading.Condition()
        self._waiting: dict[str, deque[Session]] = {}
        self._listeners: dict[str, socket.socket] = {}
        self._allowed: frozenset[str] = frozenset()
        self._strangers: dict[str, None] = {}
        self._count = 0
        self._open = 0
        self._over = False
        self._inner, self._outer = socket.socketpair()
        self._inner.setblocking(False)
        self._selector.register(self._inner, selectors.EVENT_READ, None)
        self._reader = threading.Thread(target=self._read_all, name="network", daemon=True)
        self._reader.start()

    def now_ms(self) -> float:
        """Milliseconds since the ends were made."""
        return round((time.monotonic() - self.began) * 1000, 3)

    def listen(self, place: Place, allowed: frozenset[str]) -> Place:
        """Listen for connections from these addresses alone; others are closed. Returns the place. Raises OSError."""
        listener = socket.socket(socket.AF_INET6 if ":" in place.host else socket.AF_INET, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place.pair)
            listener.listen(MAX_WAITING)
            listener.setblocking(False)
        except OSError:
            listener.close()
            raise
        with self._changed:
            self._allowed |= allowed
            self._listeners[place.host] = listener
            self._waiting[place.host] = deque()
        self._ask_reader(listener, place.host)
        return Place(place.host, listener.getsockname()[1])

    def connect(self, place: Place, deadline_s: float, source: str | None = None) -> Session:
        """Connect to a place. source: our address. Raises NotConnectedError, TooManyError."""
        if self._open >= MAX_SESSIONS:
            raise TooManyError(f"{MAX_SESSIONS} sessions are open, which is the most.")
        try:
            made = socket.create_connection(
                place.pair, max(deadline_s, 0.001), source_address=(source, 0) if source else None
            )
            session = self._session(made, "initiator")
        except TimeoutError:
            raise NotConnectedError(f"{place} did not answer within {deadline_s:g} s.") from None
        except OSError as error:
            raise NotConnectedError(f"{place} cannot be reached ({error.strerror or error}).") from None
        self._ask_reader(made, session)
        return session

    def accept(self, host: str, deadline_s: float) -> Session | None:
        """Return the next connection to our listener at this address; None when none comes in time.

        Raises NotConnectedError when nothing listens there.
        """
        until = time.monotonic() + deadline_s
        with self._changed:
            waiting = self._waiting.get(host)
            if waiting is None:
                raise NotConnectedError(f"There is no listener at {host}.")
            while not waiting:
                left = until - time.monotonic()
                if left <= 0:
                    return None
                self._changed.wait(left)
            return waiting.popleft()

    def strangers(self) -> tuple[str, ...]:
        """Return the addresses that connected and were not allowed to, since this was asked last."""
        with self._changed:
            found = tuple(self._strangers)
            self._strangers.clear()
        return found

    def send(self, session: Session, data: bytes, pieces: tuple[int, ...], gap_s: float, deadline_s: float) -> float:
        """Send bytes in these pieces; what the pieces leave is the last one. Returns when it began, in milliseconds.

        Raises NotConnectedError when the connection is over, or the peer does not read in time.
        """
        until = time.monotonic() + deadline_s
        at, began = 0, self.now_ms()
        for size in (*pieces, len(data)):
            piece = data[at : at + size]
            if not piece:
                break
            if at and gap_s:
                time.sleep(max(0.0, min(gap_s, until - time.monotonic())))
            at += len(piece)
            self._send(session, piece, until)
        return began

    def received(self, session: Session, wait_s: float, count: int) -> tuple[list[Arrived], Ended]:
        """Return what arrived, once `count` packets are there, the connection has ended or the time is over."""
        until = time.monotonic() + wait_s
        with self._changed:
            while len(session.arrived) < count and session.ended is None and session.reading:
                if session.packets.broken:
                    break
                now = time.monotonic()
                quiet = session.last_s + _QUIET_S
                if session.packets.held and quiet <= now and self._keep(session, session.packets.settle()):
                    continue
                if now >= until:
                    break
                self._changed.wait(min(until, quiet if session.packets.held and quiet > now else until) - now)
            self._keep(session, session.packets.settle())
            taken = list(session.arrived)
            session.arrived.clear()
            session.held = 0
            if session.packets.held and (session.packets.broken or session.ended is not None):
                taken.append(Arrived(session.packets.take_rest(), self.now_ms(), rest=True))
            if not session.reading and session.ended is None and not session.closed:
                session.reading = True
                self._ask_reader(session.socket, session)
            return taken, session.ended

    def close(self, session: Session, how: How) -> None:
        """Close a session, only our direction of it (`half`), or reset it."""
        if session.closed:
            return
        if how == "half":
            self._half(session)
            return
        if how == "reset":
            session.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NONE)
        with self._changed:
            session.closed = True
            self._open -= 1
            self._forget(session.socket)
            if self._recording is not None and not session.half:
                self._recording.ended(session.number, session.role, "rst" if how == "reset" else "fin")
            if self._recording is not None:
                self._recording.forget(session.number)
            session.socket.close()

    def end(self) -> None:
        """Close everything; the reader ends."""
        self._over = True
        self._outer.send(b"x")
        self._reader.join(5)
        for listener in self._listeners.values():
            listener.close()
        for key in list(self._selector.get_map().values()):
            if isinstance(key.data, Session):
                self.close(key.data, "close")
        self._selector.close()
        self._inner.close()
        self._outer.close()

    def _session(self, made: socket.socket, role: Side) -> Session:
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        local, remote = Place(*made.getsockname()[:2]), Place(*made.getpeername()[:2])
        with self._changed:
            self._count += 1
            self._open += 1
            session = Session(self._count, role, made, local, remote, last_s=time.monotonic())
        if self._recording is not None:
            ends = (local.pair, remote.pair) if role == "initiator" else (remote.pair, local.pair)
            self._recording.opened(session.number, *ends)
        return session

    def _send(self, session: Session, piece: bytes, until: float) -> None:
        view = memoryview(piece)
        while view:
            if session.closed or session.half:
                raise NotConnectedError("Our direction of the session is closed.")
            try:
                with self._changed:  # The record has our bytes before any answer to them.
                    sent = session.socket.send(view)
                    if self._recording is not None:
                        session.sent = self._recording.data(session.number, session.role, view[:sent])
                view = view[sent:]
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise NotConnectedError(f"{session.remote} does not read what it is sent.") from None
                time.sleep(0.001)
            except OSError as error:
                raise NotConnectedError(f"{session.remote} has ended the session ({error.strerror}).") from None

    def _half(self, session: Session) -> None:
        with self._changed:
            session.half = True
            try:
                session.socket.shutdown(socket.SHUT_WR)
            except OSError:
                return
            if self._recording is not None:
                self._recording.ended(session.number, session.role, "fin")

    def _ask_reader(self, sock: socket.socket, data: Session | str) -> None:
        self._selector.register(sock, selectors.EVENT_READ, data)
        self._outer.send(b"x")

    def _forget(self, sock: socket.socket) -> None:
        try:
            self._selector.unregister(sock)
        except (KeyError, ValueError):
            return

    def _read_all(self) -> None:
        while not self._over:
            for key, _ in self._selector.select(1.0):
                if key.data is None:
                    self._inner.recv(4096)
                elif isinstance(key.data, Session):
                    self._read(key.data)
                else:
                    self._accept(self._listeners[key.data], key.data)

    def _accept(self, listener: socket.socket, host: str) -> None:
        try:
            made, peer = listener.accept()
        except OSError:
            return
        waiting = self._waiting[host]
        if peer[0] not in self._allowed and len(self._strangers) < MAX_STRANGERS:
            with self._changed:
                self._strangers[peer[0]] = None
        if peer[0] not in self._allowed or len(waiting) >= MAX_WAITING or self._open >= MAX_SESSIONS:
            made.close()
            return
        try:
            session = self._session(made, "acceptor")
        except OSError:  # It was reset before it was looked at.
            made.close()
            return
        with self._changed:
            waiting.append(session)
            self._selector.register(made, selectors.EVENT_READ, session)
            self._changed.notify_all()

    def _read(self, session: Session) -> None:
        with self._changed:
            if session.closed:
                return
            try:
                data = session.socket.recv(_CHUNK)
            except BlockingIOError:
                return
            except OSError:
                self._ends(session, "reset")
                return
            if not data:
                self._ends(session, "closed")
                return
            if self._recording is not None:
                session.came = self._recording.data(session.number, session.other, data)
            session.last_s = time.monotonic()
            self._keep(session, session.packets.feed(data))
            if session.held > MAX_HELD:
                session.reading = False
                self._forget(session.socket)
            self._changed.notify_all()

    def _ends(self, session: Session, how: Literal["closed", "reset"]) -> None:
        self._keep(session, session.packets.settle())
        session.ended = how
        self._forget(session.socket)
        if self._recording is not None:
            self._recording.ended(session.number, session.other, "rst" if how == "reset" else "fin")
        self._changed.notify_all()

    def _keep(self, session: Session, packets: list[bytes]) -> bool:
        """Add packets that came. Returns whether there were any."""
        at_ms = round((session.last_s - self.began) * 1000, 3)
        session.arrived += [Arrived(data, at_ms, record=session.came) for data in packets]
        session.held += sum(len(data) + _COST for data in packets)
        return bool(packets)
