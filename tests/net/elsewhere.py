"""Run in a network namespace of its own: a host that is not this machine, as far as addresses tell.

Its two addresses are the arguments. Ends with 0 when everything is as it should be.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from base64 import b64decode, b64encode
from pathlib import Path

from small_manager import FRAMES, manager, turns

from conformance.adapter.connectors import connect
from conformance.adapter.errors import ConnectorError, NotAccepted
from conformance.net.addresses import OWNED
from conformance.wire import dissect

ORDERS = next(frame.data for frame in FRAMES if dissect(frame.data).kind == "UserMessage")
"""A message to a queue that no run may touch."""


def text(data: bytes) -> str:
    return b64encode(data).decode()


def main(host: str, ours: str) -> None:
    folder = Path(tempfile.mkdtemp())
    with manager(host) as place:
        connector = f"wire:{host}?qm={place.port}&listener={ours}"
        try:
            connect(connector, state_dir=folder)
        except ConnectorError as error:
            assert f"--i-own-this {host}" in error.sentence
        else:
            raise AssertionError("a host was used that was not named twice")
        os.environ[OWNED] = host
        with connect(connector, state_dir=folder) as client:
            opened = client.call("sessions.open", role="initiator").values
            for wrong in (FRAMES[0].data[:-1], b"GET / HTTP/1.1\r\n\r\n", ORDERS):
                try:
                    client.call("sessions.send", session=opened["session"], bytes=text(wrong))
                except NotAccepted:
                    continue
                raise AssertionError(f"this was sent: {wrong[:16]!r}")
            assert client.call("sessions.send", session=opened["session"], bytes=text(FRAMES[0].data)).ok
            came = client.call("sessions.received", session=opened["session"], wait_ms=10_000).values
            assert b64decode(came["packets"][0]["bytes"]) == turns("acceptor")[0]
            with socket.create_connection((ours, place.port), 10, source_address=(ours, 0)) as stranger:
                assert stranger.recv(1) == b"", "only the named host may connect back"
            try:
                client.call("sessions.open", role="acceptor", deadline_ms=400)
            except NotAccepted as error:
                assert f"?from={ours}" in str(error), error
            else:
                raise AssertionError("a connection from elsewhere is not told")
            with socket.create_connection((ours, place.port), 10, source_address=(host, 0)):
                assert client.call("sessions.open", role="acceptor").ok
        with connect(f"{connector}&from={ours}", state_dir=folder) as client:
            assert client.call("sessions.about").ok  # It listens from now on.
            with socket.create_connection((ours, place.port), 10, source_address=(ours, 0)):
                assert client.call("sessions.open", role="acceptor").ok


if __name__ == "__main__":
    main(*sys.argv[1:])
