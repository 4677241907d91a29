"""The sockets of a node: a TCP listener, a UDP port, and connections to others, on one asyncio loop."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

from conformance.embedded.network.acknowledging import Address
from conformance.embedded.network.node import NetworkParts, Node
from conformance.embedded.network.rpc_port import RpcPorts, Stream
from conformance.embedded.network.sender import Route
from conformance.embedded.network.session import Session, State
from conformance.embedded.network.settings import Settings

MOST_CONNECTIONS = 2 * Session.most
MOST_HELD = 64 << 20  # bytes of incomplete packets, of all sessions together
MOST_UNSENT = 8 << 20  # bytes that one other side has not taken
CONNECT_SECONDS = 10.0
WILDCARDS = frozenset({"0.0.0.0", "::", ""})


class LoopScheduler:
    """The clock of an asyncio loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def time(self) -> float:
        return self._loop.time()

    def later(self, seconds: float, action: Callable[[], None]) -> asyncio.TimerHandle:
        return self._loop.call_later(min(seconds, 3e6), action)


class Connection(Stream):
    """One TCP connection: the link of a session. make: returns the session when the connection is there."""

    most_unsent = MOST_UNSENT

    def __init__(self, server: Server, make: Callable[[Connection], Session]) -> None:
        super().__init__()
        self._server = server
        self._make = make
        self._session: Session | None = None
        self.address = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast("asyncio.Transport", transport)
        self.address = str((transport.get_extra_info("peername") or ("",))[0])
        if not self._server.has_room():
            transport.abort()
            return
        self._server.connections[self] = None
        self._session = self._make(self)
        self._server.node.commit()

    def data_received(self, data: bytes) -> None:
        session = self._session
        if session is None:
            return
        session.data(data)
        if self.held and sum(each.held for each in self._server.connections) > MOST_HELD:
            max(self._server.connections, key=lambda each: each.held).abort()
        self._server.node.commit()

    @property
    def held(self) -> int:
        """Bytes of a packet that is not complete."""
        return self._session.frames.held if self._session is not None else 0

    @property
    def turned_away(self) -> bool:
        """True if there was no room for it."""
        return self._session is None

    @property
    def gives_way(self) -> bool:
        """True if others go before it: its session is over, or another side has not initialized it yet."""
        session = self._session
        return session is None or not (session.open or (session.initiates and session.state is not State.CLOSED))

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.pop(self, None)
        if self._session is not None:
            self._session.disconnected()
            self._server.node.commit()

    def abort(self) -> None:
        """End it at once, whether or not the other side has taken what was sent."""
        if self._transport is not None:
            self._transport.abort()
        self.connection_lost(None)


class PingPort(asyncio.DatagramProtocol):
    """The UDP port."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._node.pings.send = cast("asyncio.DatagramTransport", transport).sendto

    def datagram_received(self, data: bytes, addr: Address) -> None:
        self._node.pings.datagram(data, addr)
        self._node.commit()

    def error_received(self, exc: Exception) -> None:
        """A datagram could not be delivered: whoever waits for its answer learns by its timer."""


class Server:
    """A node with its sockets."""

    def __init__(self, settings: Settings, folder: Path, parts: NetworkParts) -> None:
        self._settings = settings
        self._folder = folder
        self._parts = parts
        self.connections: dict[Connection, None] = {}  # the oldest first
        self._tasks: set[asyncio.Task[None]] = set()
        self.node: Node
        self.listen: Address
        self.ping: Address

    async def start(self) -> None:
        """Open the ports and start the node. Raises OSError if a port is taken, StoreError for the folder."""
        loop = asyncio.get_running_loop()
        settings = self._settings
        self._listener = await loop.create_server(
            lambda: Connection(self, lambda link: self.node.accepted(link)),
            settings.host or None,
            settings.port,
            start_serving=False,
        )
        self.listen = self._listener.sockets[0].getsockname()[:2]
        try:
            self._datagrams, _ = await loop.create_datagram_endpoint(
                asyncio.DatagramProtocol, local_addr=(settings.host or "0.0.0.0", settings.ping_port)
            )
            self.ping = self._datagrams.get_extra_info("sockname")[:2]
            port = self.listen[1]
            ping_port = settings.ping_port or self.ping[1]
            known = replace(settings, port=port, ping_port=ping_port, peer_port=settings.peer_port or port)
            self.node = Node(known, self._folder, LoopScheduler(loop), self._parts)
            self.rpc = RpcPorts(self.node)
            await self.rpc.start()
        except BaseException:
            self._listener.close()
            raise
        protocol = PingPort(self.node)
        protocol.connection_made(self._datagrams)
        self._datagrams.set_protocol(protocol)
        self.node.dialler = self._dial
        self.node.start()
        await self._listener.start_serving()

    def has_room(self) -> bool:
        """Return true for one more connection. If there are too many, the oldest of those that give way ends."""
        if len(self.connections) < MOST_CONNECTIONS:
            return True
        oldest = next((each for each in self.connections if each.gives_way), None)
        if oldest is not None:
            oldest.abort()
        return oldest is not None

    async def stop(self) -> None:
        """Close everything."""
        self._listener.close()
        for task in self._tasks:
            task.cancel()
        self.rpc.stop()
        self.node.stop()
        self._datagrams.close()

    def _dial(self, route: Route, pinged: bool) -> None:
        if not self.node.may_connect(route.address or ""):
            print(f"network: {route.address} is not connected to: nobody named it", file=sys.stderr)
            route.failed()
            return
        task = asyncio.get_running_loop().create_task(self._connect(route, pinged))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, route: Route, pinged: bool) -> None:
        loop = asyncio.get_running_loop()
        host, port = self._settings.host, self.node.settings.peer_port
        assert route.address is not None and port is not None
        own = None if host in WILDCARDS else (host, 0)
        connecting = loop.create_connection(
            lambda: Connection(self, lambda link: self.node.connected(link, route, pinged=pinged)),
            route.address,
            port,
            local_addr=own,
        )
        try:
            _, made = await asyncio.wait_for(connecting, CONNECT_SECONDS)
            if made.turned_away:
                raise ConnectionError("there are too many connections")
        except (TimeoutError, OSError, UnicodeError) as error:
            print(f"network: no connection to {route.address}: {error}", file=sys.stderr)
            route.failed()
            self.node.commit()
