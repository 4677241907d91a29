"""Cut the bytes of a connection into packets; refuse early what cannot become one (MS-MQQB 3.1.5.1)."""

from __future__ import annotations

from collections.abc import Callable

from conformance.embedded import packet_layout as lay
from conformance.embedded.network.codec import INTERNAL_SIZES
from conformance.embedded.packet_bytes import Malformed, require

_SIGNED = 8  # bytes that hold version and signature


class Frames:
    """Holds the bytes of a packet that is not complete. No more than one packet is held.

    announced: called once for each packet, with BaseHeader.Flags, when its size is known; it may raise Malformed.
    """

    def __init__(self, announced: Callable[[int], None]) -> None:
        self._held = bytearray()
        self._wanted = 0
        self._announced = announced

    @property
    def held(self) -> int:
        """The number of bytes held."""
        return len(self._held)

    def feed(self, data: bytes) -> None:
        """Add bytes that arrived."""
        self._held += data

    def next(self) -> bytes | None:
        """Return the next packet, SessionHeader included; None if it is not complete. Raises Malformed."""
        if not self._wanted and len(self._held) >= _SIGNED:
            self.signed(bytes(self._held[:_SIGNED]))
        if not self._wanted and len(self._held) >= lay.BASE.size:
            self._wanted = self.whole(bytes(self._held[: lay.BASE.size]))
        if not self._wanted or len(self._held) < self._wanted:
            return None
        packet = bytes(self._held[: self._wanted])
        del self._held[: self._wanted]
        self._wanted = 0
        return packet

    def signed(self, start: bytes) -> None:
        """Verify version and signature (3.1.5.1.2). Raises Malformed."""
        require(start[0] == lay.VERSION and int.from_bytes(start[4:8], "little") == lay.SIGNATURE)

    def whole(self, header: bytes) -> int:
        """Return the size of a packet with its SessionHeader, from its BaseHeader. Raises Malformed."""
        _, _, flags, _, size, _ = lay.BASE.unpack(header)
        internal = bool(flags & lay.BASE_INTERNAL)
        require(lay.BASE.size < size <= lay.MAX_PACKET and size % 4 == 0)
        require(not internal or size in INTERNAL_SIZES)
        self._announced(flags)
        apart = flags & lay.BASE_SESSION and (not internal or size == min(INTERNAL_SIZES))
        return int(size + (lay.SESSION.size if apart else 0))


__all__ = ["Frames", "Malformed"]
