"""Reassembles IP datagrams from fragments, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

MAX_DATAGRAMS = 256  # Datagrams waiting for fragments at once; the oldest is given up.
MAX_LENGTH = 65_535  # Of the payload, in both versions of IP.
WAIT_NS = 30_000_000_000  # RFC 791 and RFC 8200 give up after 15 and 60 seconds.


@dataclass(frozen=True, slots=True)
class Fragment:
    """One fragment. identifier: shared by the fragments of a datagram. offset: in bytes. last: nothing follows it."""

    source: str
    destination: str
    protocol: int
    identifier: int
    offset: int
    last: bool
    payload: bytes

    @property
    def datagram(self) -> tuple[str, str, int, int]:
        """The key that fragments of one datagram share."""
        return self.source, self.destination, self.protocol, self.identifier


@dataclass(slots=True)
class _Waiting:
    time_ns: int
    pieces: dict[int, bytes] = field(default_factory=dict)
    held: int = 0
    length: int | None = None
    count: int = 0


class Fragments:
    """The datagrams of a capture whose fragments are incomplete. given_up: fragments of datagrams never completed."""

    def __init__(self) -> None:
        self.given_up = 0
        self._waiting: OrderedDict[tuple[str, str, int, int], _Waiting] = OrderedDict()

    def add(self, time_ns: int, fragment: Fragment) -> bytes | None:
        """Add a fragment; return the whole payload once it is complete, else None. The first copy of a byte wins."""
        self._forget_old(time_ns)
        if not fragment.payload:
            self.given_up += 1
            return None
        key = fragment.datagram
        waiting = self._waiting.setdefault(key, _Waiting(time_ns))
        waiting.count += 1
        end = fragment.offset + len(fragment.payload)
        if end > MAX_LENGTH or (fragment.offset not in waiting.pieces and waiting.held > MAX_LENGTH):
            self._drop(key)
            return None
        if fragment.offset not in waiting.pieces:
            waiting.pieces[fragment.offset] = fragment.payload
            waiting.held += len(fragment.payload)
        if fragment.last and waiting.length is None:
            waiting.length = end
        if waiting.length is None or waiting.held < waiting.length:
            while len(self._waiting) > MAX_DATAGRAMS:
                self._drop(next(iter(self._waiting)))
            return None
        whole = _joined(waiting)
        if whole is not None:
            del self._waiting[key]
        return whole

    def end(self) -> None:
        """End the capture and give up incomplete datagrams."""
        for key in list(self._waiting):
            self._drop(key)

    def _forget_old(self, time_ns: int) -> None:
        while self._waiting:
            key, oldest = next(iter(self._waiting.items()))
            if time_ns - oldest.time_ns <= WAIT_NS:
                return
            self._drop(key)

    def _drop(self, key: tuple[str, str, int, int]) -> None:
        self.given_up += self._waiting.pop(key).count


def _joined(waiting: _Waiting) -> bytes | None:
    out = bytearray()
    for offset in sorted(waiting.pieces):
        if offset > len(out):
            return None
        out += waiting.pieces[offset][len(out) - offset :]
    assert waiting.length is not None
    return bytes(out[: waiting.length]) if len(out) >= waiting.length else None
