"""Cuts what one live connection receives into packets by PacketSize; what is no packet stays as it came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from conformance.capture.framing import Framer, Piece

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
