"""Answer pings, and ping before a session is established (MS-MQQB 3.1.5.2.2, 3.1.7.6 to 3.1.7.8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from conformance.embedded.network import codec as net
from conformance.embedded.network.codec import Ping
from conformance.embedded.network.settings import Timer
from conformance.embedded.packet_layout import Malformed

if TYPE_CHECKING:
    from conformance.embedded.network.node import Node

Address = tuple[str, int]


class Pings:
    """The UDP port. send: sends a datagram to an address."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.send: Callable[[bytes, Address], None] = lambda data, address: None
        self.cookie = 0
        self._waiting: dict[int, tuple[Timer, Callable[[bool], None]]] = {}

    def datagram(self, data: bytes, address: Address) -> None:
        """Take a datagram. One that is no ping, or carries another signature, is ignored."""
        try:
            ping = self.node.codec.read_ping(data)
        except Malformed:
            return
        if not self.signed(ping):
            return
        waiting = self._waiting.pop(ping.cookie, None) if ping.manager != self.node.guid else None
        if waiting is not None and ping.cookie == self.cookie:
            timer, done = waiting
            timer.stop()
            done(not ping.flags & net.PING_REFUSED)
        elif waiting is None:
            self.answer(ping, address)

    def signed(self, ping: Ping) -> bool:
        """Return true for the signature of a ping."""
        return ping.signature == net.PING_SIGNATURE

    def answer(self, ping: Ping, address: Address) -> None:
        """Receive Ping Request (3.1.7.7)."""
        self.send(self.node.codec.ping(self.response(ping)), self.response_address(address))

    def response(self, ping: Ping) -> Ping:
        """Return the response to a request."""
        refused = net.PING_REFUSED if self.node.refuses() else 0
        return Ping(ping.flags & net.PING_CLIENT | refused, ping.cookie, self.node.guid)

    def response_address(self, address: Address) -> Address:
        """Return where a response goes: to where the request came from (2.1.2)."""
        return address

    def request(self, address: Address, done: Callable[[bool], None]) -> None:
        """Send Ping Request (3.1.7.6). done: called with whether a session would be accepted, now or in a second."""
        self.cookie = self.cookie + 1 & 0xFFFFFFFF
        cookie = self.cookie

        def over() -> None:
            self._waiting.pop(cookie, None)
            done(False)

        timer = Timer(self.node.scheduler, self.node.guarded(over))
        self._waiting[cookie] = (timer, done)
        timer.start(self.node.durations.fixed("ping-response"))
        self.send(self.node.codec.ping(Ping(0, cookie, self.node.guid)), address)
