"""Whose packet is it? Clients are judged, and the server is not, whichever of them connected."""

from __future__ import annotations

import pytest

from conformance.capture import Endpoint, Frame
from conformance.captures.judge import from_client

SERVER, CLIENT = Endpoint("127.0.0.1", 1801), Endpoint("127.0.0.2", 1801)
NEAR, AWAY = Endpoint("127.0.0.1", 50000), Endpoint("127.0.0.2", 50001)


def frame(source: Endpoint, destination: Endpoint, side: str | None) -> Frame:
    transport = "udp" if side is None else "tcp"
    return Frame(1, 1, 0, source, destination, transport, b"", side=side)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "destination", "side", "client"),
    [
        (AWAY, SERVER, "initiator", True),
        (SERVER, AWAY, "acceptor", False),
        (NEAR, SERVER, "initiator", True),  # A client that has the address of the server.
        (SERVER, NEAR, "acceptor", False),
        (NEAR, CLIENT, "initiator", False),  # The server connects to a client.
        (CLIENT, NEAR, "acceptor", True),
        (AWAY, Endpoint("127.0.0.1", 3527), None, True),
        (Endpoint("127.0.0.1", 3527), AWAY, None, False),
    ],
)
def test_a_packet_is_of_a_client_or_of_the_server(
    source: Endpoint, destination: Endpoint, side: str | None, client: bool
) -> None:
    assert from_client(frame(source, destination, side), "127.0.0.1") is client
