"""Reassembles one direction of a connection and cuts its bytes into MSMQ packets, resynchronising after damage."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Literal

from conformance.capture.events import Trouble
from conformance.wire import dissect, frame_length
from conformance.wire.extents import ASTRAY, doubtful, extent
from conformance.wire.framing import BASE_SIZE, is_head
from conformance.wire.headers import SESSION_HEADER_SIZE

MAX_WAITING = 4 * 1024 * 1024  # Bytes kept behind a hole; larger windows are not seen in practice.
MAX_WAITING_SEGMENTS = 4096
FAR = 1 << 28  # A segment this far from the expected one belongs to an earlier or later use of the ports.


def distance(later: int, earlier: int) -> int:
    """Return how far sequence number `later` is after `earlier`, negative when before; they wrap at 2**32."""
    return ((later - earlier + 0x80000000) & 0xFFFFFFFF) - 0x80000000


@dataclass(slots=True)
class Stream:
    """Reassembly of one direction. Nothing is delivered twice; the first copy of a byte wins.

    expected: the sequence number of the next byte, None until known. offset: bytes delivered or given up so far.
    Segments behind a hole wait under their own offset, which does not wrap.
    """

    expected: int | None = None
    offset: int = 0
    ended: int | None = None  # The offset after the last byte, known from a FIN.
    waiting_bytes: int = 0
    _waiting: dict[int, bytes] = field(default_factory=dict)
    _order: list[int] = field(default_factory=list)  # A heap of the keys of _waiting.

    def position(self, sequence: int) -> int:
        """Return the offset of the byte with this sequence number; negative when it was delivered before."""
        if self.expected is None:
            self.expected = sequence
        return self.offset + distance(sequence, self.expected)

    def add(self, sequence: int, payload: bytes) -> bytes:
        """Add a segment; return the bytes that are now in order (often none)."""
        at = self.position(sequence)
        if abs(at - self.offset) > FAR or not payload:
            return b""
        if at > self.offset:
            known = self._waiting.get(at)
            if known is None:
                heapq.heappush(self._order, at)
            if known is None or len(known) < len(payload):
                self._waiting[at] = payload
                self.waiting_bytes += len(payload) - len(known or b"")
            return b""
        fresh = payload[self.offset - at :]
        self._advance(len(fresh))
        return fresh + self._drain() if fresh and self._order else fresh

    @property
    def overfull(self) -> bool:
        """True when waiting any longer would use too much memory."""
        return self.waiting_bytes > MAX_WAITING or len(self._order) > MAX_WAITING_SEGMENTS

    def skip(self, upto: int | None = None) -> tuple[int, bytes]:
        """Give up the next hole; return its length, and the bytes behind it; (0, b"") when there is none.

        A hole ends where a segment waits, or at the offset `upto` (which exists because the peer acknowledged it).
        """
        ends = [at for at in (self._order[0] if self._order else None, upto) if at is not None and at > self.offset]
        if not ends or min(ends) - self.offset > FAR:
            return 0, b""
        hole = min(ends) - self.offset
        self._advance(hole)
        return hole, self._drain()

    def _advance(self, count: int) -> None:
        assert self.expected is not None
        self.expected = (self.expected + count) & 0xFFFFFFFF
        self.offset += count

    def _drain(self) -> bytes:
        """Return the waiting bytes that have become contiguous."""
        out = bytearray()
        while self._order and self._order[0] <= self.offset:
            at = heapq.heappop(self._order)
            payload = self._waiting.pop(at)
            self.waiting_bytes -= len(payload)
            fresh = payload[self.offset - at :]
            out += fresh
            self._advance(len(fresh))
        return bytes(out)


_SIGNATURE = b"LIOR"
_SIGN_AT = 4  # Offset of the signature in a BaseHeader; the version is the byte at 0.
_SESSION_ACK = 0x0018  # Flags IN and SH.
SHORT_SESSION_ACK = BASE_SIZE + 4  # A SessionAck with its InternalHeader alone.
TELLING = 8  # Bytes needed to recognise a header.
_KEPT_OF_JUNK = 4096  # Bytes of an unintelligible piece that are shown; enough for any fixed-size packet.
_SEARCHED = 65536  # Bytes after which a search for the next packet reports the bytes it has passed.

Ending = Literal["ended", "aborted", "replaced", "not-captured"]
When = Literal["fed", "answered", "ended"]
"""The state of the bytes that are here: more may come; the other side has answered them; no more will come."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A packet, or the bytes where one should be. offset: stream offset of its first byte. For the others see Frame."""

    data: bytes
    offset: int
    gap_before: int
    trouble: Trouble | None = None
    stray: int = 0


@dataclass(slots=True)
class Framer:
    """Cuts packets out of one direction of a connection.

    found: a packet header is known to start the buffer. waits: the packet there is as long as it announces, and waits
    for the bytes behind it.
    """

    found: bool
    offset: int = 0
    gap: int = 0
    stray: int = 0
    waits: bool = False
    _known: bool = False  # A packet header was found at least once.
    _buffer: bytearray = field(default_factory=bytearray)
    _trouble: Trouble | None = None  # Why the junk at the front of the buffer is not a packet.
    _searched: int = 0

    def __post_init__(self) -> None:
        self._known = self.found

    @property
    def buffered(self) -> int:
        """The number of bytes held."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[Piece]:
        """Add bytes; return the packets they complete."""
        self._buffer += data
        return self._cut("fed")

    def lose(self, length: int) -> list[Piece]:
        """Record that `length` bytes are missing here. A packet they were part of is returned as incomplete."""
        pieces = self._cut("ended") if self.waits else []
        pieces += self._remains(Trouble("not-captured", f"{length} bytes within or after it were not captured"))
        self.found = False
        self.gap += length
        self.offset += length
        return pieces

    def settle(self) -> list[Piece]:
        """Decide packets that were left open for the next bytes: the other side has answered what is here so far."""
        return self._cut("answered")

    def finish(self, ending: Ending) -> list[Piece]:
        """End the stream. An incomplete packet is returned, with any packets found inside it."""
        pieces = self._cut("ended")
        while self._buffer:
            trouble = Trouble(ending, _ending_text(ending, self._buffer))
            following = _header_after(self._buffer, BASE_SIZE) if self.found else -1
            if following < 0:
                pieces += self._remains(trouble)
                break
            pieces.append(self._take(following, trouble))
            pieces += self._cut("ended")
        return pieces

    def _cut(self, when: When) -> list[Piece]:
        pieces: list[Piece] = []
        self.waits = False
        while self._buffer and (self.found or self._search(pieces)) and len(self._buffer) >= BASE_SIZE:
            head = frame_length(bytes(self._buffer[:BASE_SIZE]))
            if head.trouble is not None:
                kind: Literal["packet-size", "no-header"] = (
                    "packet-size" if head.trouble.code == "packet-size" else "no-header"
                )
                self.found, self._trouble, self._searched = False, Trouble(kind, head.trouble.says), 1
                continue
            length = self._end(_lengths(self._buffer, head.lengths), when)
            if length is None:
                break
            pieces.append(self._take(length, None))
        return pieces

    def _end(self, lengths: tuple[int, ...], when: When) -> int | None:
        """Return the length of the packet at the front; None while it is not all here, or undecided."""
        length = self._choose(lengths, when != "fed")
        if length is not None and len(self._buffer) >= length:
            if not doubtful(self._buffer, length):
                return length
            decided = self._decide(length, when)
            self.waits = decided is None
            return decided
        have, announced = len(self._buffer), max(lengths)
        if when != "fed" and announced <= have + ASTRAY:
            own = extent(self._buffer, have)
            if max(1, announced - ASTRAY) <= own <= have and self._follows(own):
                return own  # It announces more than it has.
        return None

    def _decide(self, announced: int, when: When) -> int | None:
        """Return where a doubtful packet ends: where the next one begins, or else where it announces."""
        have = len(self._buffer)
        own = extent(self._buffer, announced)
        if 0 < own < announced:
            if have >= own + TELLING:
                return own if self._follows(own) else announced
            return None if when == "fed" else announced
        if self._follows(announced):
            return announced if have >= announced + TELLING or when != "fed" else None
        own = extent(self._buffer, min(have, announced + ASTRAY))
        if own == 0 or abs(own) > announced + ASTRAY:
            return announced
        if have < abs(own):
            return announced if when == "ended" else None
        if not self._follows(own):
            return announced
        return own if have >= own + TELLING or when != "fed" else None

    def _follows(self, at: int) -> bool:
        """Return True when a packet header may start at `at`, as far as its bytes are here."""
        return is_head(bytes(self._buffer[at : at + TELLING]), 0)

    def _choose(self, lengths: tuple[int, ...], final: bool) -> int | None:
        """Return the length that the packet at the front announces; None while it is undecided.

        Only a packet with a SessionHeader has two lengths, without and with it. Eight bytes behind the shorter one
        decide; without them, and when the answer is needed now, the packet's own headers decide.
        """
        short, long = min(lengths), max(lengths)
        if short == long or len(self._buffer) < short:
            return short
        if len(self._buffer) >= short + TELLING:
            return short if is_head(bytes(self._buffer[short : short + TELLING]), 0) else long
        if final and len(self._buffer) == short:
            inside = dissect(bytes(self._buffer)).fields.get("Packet.SessionHeaderPlacement") == "inside"
            return short if inside else None
        return None

    def _search(self, pieces: list[Piece]) -> bool:
        """Move to the next packet header; return False when more bytes are needed."""
        while (at := _header_after(self._buffer, self._searched)) >= 0:
            if len(self._buffer) < at + BASE_SIZE:
                return False
            if frame_length(bytes(self._buffer[at : at + BASE_SIZE])).trouble is None:
                self._drop(at, pieces)
                self.found = self._known = True
                return True
            self._searched = at + 1
        self._searched = max(self._searched, len(self._buffer) - (TELLING - 1))
        if len(self._buffer) > _SEARCHED:
            self._drop(self._searched, pieces)
        return False

    def _drop(self, count: int, pieces: list[Piece]) -> None:
        """Leave `count` bytes of junk behind: a piece of its own where a packet should have been, else a gap."""
        if self._known:
            self.stray += count
        if self._trouble is not None and count:
            pieces.append(self._take(count, self._trouble, keep=_KEPT_OF_JUNK))
            self._trouble = None
        else:
            del self._buffer[:count]
            self.gap += count
            self.offset += count
        self._searched = 0

    def _remains(self, trouble: Trouble) -> list[Piece]:
        """Return everything buffered as one incomplete packet, or count it into the gap where no packet was found."""
        pieces: list[Piece] = []
        if self.found and self._buffer:
            pieces.append(self._take(len(self._buffer), trouble))
        else:
            self._drop(len(self._buffer), pieces)
        return pieces

    def _take(self, count: int, trouble: Trouble | None, keep: int | None = None) -> Piece:
        data = bytes(self._buffer[: min(count, keep or count)])
        piece = Piece(data, self.offset, self.gap, trouble, self.stray)
        del self._buffer[:count]
        self.offset += count
        self.gap = self.stray = 0
        return piece


def _lengths(buffer: bytearray, lengths: tuple[int, ...]) -> tuple[int, ...]:
    """Return the possible lengths: a SessionAck has two when PacketSize excludes its SessionHeader."""
    flags = int.from_bytes(buffer[2:4], "little")
    if flags & _SESSION_ACK == _SESSION_ACK and lengths == (SHORT_SESSION_ACK,):
        return (SHORT_SESSION_ACK, SHORT_SESSION_ACK + SESSION_HEADER_SIZE)
    return lengths


def _header_after(buffer: bytearray, start: int) -> int:
    """Return where the next packet header can start at or after `start`; -1 when nowhere."""
    at = buffer.find(_SIGNATURE, start + _SIGN_AT)
    while at >= 0 and not is_head(bytes(buffer[at - _SIGN_AT : at + _SIGN_AT]), 0):
        at = buffer.find(_SIGNATURE, at + 1)
    return at - _SIGN_AT if at >= 0 else -1


def _ending_text(ending: Ending, buffer: bytearray) -> str:
    end = {
        "ended": "the sender closed",
        "aborted": "the connection was reset",
        "replaced": "another connection took its place",
        "not-captured": "the capture stops",
    }[ending]
    if len(buffer) < BASE_SIZE:
        return f"{end} {len(buffer)} bytes into a packet header"
    return f"PacketSize is {int.from_bytes(buffer[8:12], 'little')}, {end} after {len(buffer)} bytes"
