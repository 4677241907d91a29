"""The TCP ports of the RPC planes: their connections, with a bound for their number, their silence and their bytes."""

from __future__ import annotations

import asyncio
from typing import cast

from conformance.embedded.network.node import Node
from conformance.embedded.rpc.association import Line

MOST_CONNECTIONS = 128
MOST_UNSENT = 16 << 20  # bytes that one client has not taken
FIRST_SECONDS = 30.0  # until the first bind
IDLE_SECONDS = 3600.0  # without a call
Address = tuple[str, int]


class Stream(asyncio.Protocol):
    """A TCP connection that is written to. most_unsent: bytes that the other side has not taken, before it ends."""

    most_unsent = MOST_UNSENT

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None

    def eof_received(self) -> bool:
        """The other side sends no more: the transport is disconnected."""
        return False

    def send(self, data: bytes) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        transport.write(data)
        if transport.get_write_buffer_size() > self.most_unsent:
            transport.abort()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class RpcConnection(Stream):
    """One connection: the link of a line."""

    def __init__(self, ports: RpcPorts) -> None:
        super().__init__()
        self._ports = ports
        self._line: Line | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.address = self.local = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast("asyncio.Transport", transport)
        self.address = str((transport.get_extra_info("peername") or ("",))[0])
        self.local = str((transport.get_extra_info("sockname") or ("",))[0])
        if len(self._ports.connections) >= MOST_CONNECTIONS:
            transport.abort()
            return
        self._ports.connections.add(self)
        self._line = self._ports.node.planes.accepted(self)
        self._rest(FIRST_SECONDS)

    def data_received(self, data: bytes) -> None:
        if self._line is None:
            return
        self._line.data(data)
        if self._line.group is not None and not self._line.held:
            self._rest(IDLE_SECONDS)
        self._ports.node.commit()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ports.connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._line is not None:
            self._line.disconnected()
            self._ports.node.commit()

    def _rest(self, seconds: float) -> None:
        """End the connection after so long, unless it waits for an answer."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._silent)

    def _silent(self) -> None:
        if self._line is not None and self._line.calls:
            self._rest(IDLE_SECONDS)
        else:
            self.close()


class RpcPorts:
    """The port of the planes, and the one of the endpoint mapper if it has one of its own. listen: where it is."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.connections: set[RpcConnection] = set()
        self.listen: Address = ("", 0)
        self._listeners: list[asyncio.Server] = []

    async def start(self) -> None:
        """Open the ports. Raises OSError if one is taken."""
        settings = self.node.settings
        if settings.rpc is None:
            return
        host, port = settings.rpc
        self.listen = await self._open(host, port)
        self.node.planes.port = self.listen[1]
        if settings.rpc_mapper is not None:
            await self._open(host, settings.rpc_mapper)

    async def _open(self, host: str, port: int) -> Address:
        loop = asyncio.get_running_loop()
        try:
            listener = await loop.create_server(lambda: RpcConnection(self), host or None, port)
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"{host}:{port}") from None
        self._listeners.append(listener)
        found = listener.sockets[0].getsockname()
        return str(found[0]), int(found[1])

    def stop(self) -> None:
        """Close everything."""
        for listener in self._listeners:
            listener.close()
        for each in list(self.connections):
            each.close()
            each.connection_lost(None)
