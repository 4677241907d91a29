"""Connections that a test of suites opens, each with a state folder of its own, and closed behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], Client]]:
    clients: list[Client] = []

    def open_(connector: str) -> Client:
        clients.append(connect(connector, state_dir=tmp_path / f"{len(clients)}", in_process=True))
        return clients[-1]

    yield open_
    for client in clients:
        client.close()
