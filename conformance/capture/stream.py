"""Reassembles one direction of a TCP connection: segments in capture order in, ordered bytes and holes out."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

MAX_WAITING = 4 * 1024 * 1024  # Bytes kept behind a hole; larger windows are not seen in practice.
MAX_WAITING_SEGMENTS = 4096
_FAR = 1 << 28  # A segment this far from the expected one belongs to an earlier or later use of the ports.


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
        if abs(at - self.offset) > _FAR or not payload:
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
        if not ends or min(ends) - self.offset > _FAR:
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
