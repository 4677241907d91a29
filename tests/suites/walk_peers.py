"""Queue managers that do wrong when the network does: `session_peer` with further defects, each named after its own."""

from __future__ import annotations

import base64
from typing import Any

from session_peer import TIMEOUT, TX, UH, Link, Peer

from conformance.wire import Packet, dissect


class WalkPeer(Peer):
    """The driver. defects: those of `Peer`, and what is asked for here."""

    def __init__(self, state_dir: str = "") -> None:
        super().__init__(state_dir)
        self.dead = False
        self.left_over = b""
        self.before = self.ahead = 0
        self.cut = False
        self.broken: set[str] = set()

    def sessions_open(self, params: dict[str, Any]) -> dict[str, Any]:
        if self.dead:
            return {"status": TIMEOUT}
        opened = super().sessions_open(params)
        link = self.links.get(opened.get("session", ""))
        if link is not None and not link.outgoing:
            if self.has("mixes-connections"):
                link.inbound, self.left_over = self.left_over, b""
            if self.has("goes-on-counting"):
                link.received = self.before
        return opened

    def sessions_close(self, params: dict[str, Any]) -> dict[str, Any]:
        link = self.links[params["session"]]
        part = link.inbound
        if part and self.has("dies-on-half-a-packet"):
            self.dead = True
        self.left_over, self.before = part, link.received
        if len(part) > 250 and self.has("takes-half-a-message"):
            fields = padded(part).fields
            self.history[str(fields[UH + "SourceQueueManager"]), int(fields[UH + "MessageID"])] = self.now
        if self.has("forgets-identifiers-after-a-cut"):
            self.history.clear()
        if params["how"] == "half" and self.has("keeps-half-closed-sessions"):
            return {"status": 0}
        self.cut = self.cut or link.outgoing
        return super().sessions_close(params)

    def connected(self) -> None:
        """Connect to deliver what waits."""
        if self.cut and self.has("never-connects-again"):
            self.connecting = False
            return
        super().connected()

    def take(self, link: Link, data: bytes) -> None:
        """Take bytes that came in one write."""
        begun = bool(link.inbound)
        whole = not begun and len(data) == int.from_bytes(data[8:12], "little")
        if not whole and self.has("wants-whole-writes"):
            self.close(link)
            return
        if not begun and not whole and link.state == "open":
            if self.has("counts-half-a-message") and len(data) > 16:
                link.received += 1
                self.broken.add(link.name)
            if self.has("marks-half-a-message") and len(data) > 16:
                link.flags = (link.flags << 1) | 1
            if self.has("tells-of-half-a-message") and len(data) > 250:
                self.nack(padded(data), 2, 1)
        super().take(link, data)

    def packet(self, link: Link, packet: Packet) -> None:
        """Take a packet that is there as a whole."""
        if link.name in self.broken:
            self.broken.discard(link.name)
            link.received -= 1  # it was counted when it began
        word = packet.kind.lower()
        twice = self.has(f"closes-on-a-second-{word}") and packet.data == getattr(link, "last", b"")
        object.__setattr__(link, "last", packet.data)
        if twice or (self.has("closes-on-acknowledgments") and packet.kind == "SessionAck"):
            self.close(link)
            return
        super().packet(link, packet)

    def sessions_send(self, params: dict[str, Any]) -> dict[str, Any]:
        """Take what this end sends, in the pieces in which it does."""
        link, data, at = self.links[params["session"]], base64.b64decode(params["bytes"]), self.now
        if self.has("loses-what-comes-in-pieces") and params.get("pieces") and link.state == "open":
            return {"status": 0, "at_ms": at}
        for size in (*params.get("pieces", ()), len(data)):
            piece, data = data[:size], data[size:]
            if piece and not link.closed:
                self.take(link, piece)
        return {"status": 0, "at_ms": at}

    def in_order(self, link: Link, packet: Packet) -> bool:
        """Tell whether a transactional message is accepted."""
        if self.has("begins-again-after-a-cut") and self.of_link is not link:
            self.sequence, self.numbered = (0, 0), 0
        self.ahead = max(self.ahead, int(packet.fields[TX + "TxSequenceNumber"]))
        return super().in_order(link, packet)

    def order_ack(self) -> None:
        """Acknowledge what was accepted, or all that came."""
        accepted = self.numbered
        if self.has("orders-what-it-rejects"):
            self.numbered = self.ahead
        super().order_ack()
        self.numbered = accepted


def padded(part: bytes) -> Packet:
    """Return what a queue manager reads that takes a packet as whole, with nothing in place of what lacks."""
    size = int.from_bytes(part[8:12], "little")
    packet = dissect(part.ljust(size, b"\0"))
    assert packet.fields[UH + "MessageID"]
    return packet
