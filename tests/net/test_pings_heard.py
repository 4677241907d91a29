"""A driver of the connector `wire` answers pings while it waits for a connection, and tells how many have come."""

from __future__ import annotations

import socket
import struct
import threading
from pathlib import Path

import pytest
from small_manager import manager

from conformance.adapter.connectors import connect

PING = struct.Struct("<HHI16s")


@pytest.mark.parametrize("taken", [False, True])
def test_pings_are_counted_where_they_are_heard(taken: bool, tmp_path: Path) -> None:
    with manager() as place, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with connect(f"wire:127.0.0.1?qm={place.port}&ping={port}", state_dir=tmp_path) as client:
            ours = client.call("sessions.about").values["listener"]
            answers: list[bytes] = []

            def come() -> None:
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
                    asking.settimeout(0.1)
                    while not answers and not taken:
                        asking.sendto(PING.pack(0, 0x5548, 7, bytes(16)), (ours, port))
                        try:
                            answers.append(asking.recv(100))
                        except OSError:
                            continue
                socket.create_connection((ours, place.port)).close()

            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
                if taken:
                    other.bind((ours, port))
                thread = threading.Thread(target=come)
                thread.start()
                opened = client.call("sessions.open", role="acceptor", ping=True, deadline_ms=20_000)
                thread.join()
    assert opened.ok and ("pings" in opened.values) is not taken
    if not taken:
        assert opened.values["pings"] >= 1 and PING.unpack(answers[0])[2] == 7
