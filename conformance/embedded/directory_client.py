"""The manager's side of the line to its directory: one request, one answer (MS-MQDMPR 3.1.1.17).

Each request has a connection of its own, so that a directory that went and came back is one that was never away.
"""

from __future__ import annotations

import importlib.util
import json
import socket
import time
from collections.abc import Callable
from typing import Any, Final

Json = Any
SUCCESS, FAILED, NOT_CONNECTED = "Success", "GenericError", "DirectoryNotConnected"
NO_OBJECT, NO_ATTRIBUTE, END, EXISTS = "ObjectNotFound", "AttributeNotFound", "EndOfData", "ObjectAlreadyExists"
RESULTS: Final = (SUCCESS, FAILED, NOT_CONNECTED, NO_OBJECT, NO_ATTRIBUTE, END, EXISTS)
DEFAULT_WAIT_MS: Final = 2000
_MOST_BYTES: Final = 1 << 24


def is_ldap(address: str | None) -> bool:
    """Return true for the address of an LDAP directory."""
    return address is not None and address.startswith("ldap://")


def has_ldap() -> bool:
    """Return true if the extra `ldap` is installed."""
    return importlib.util.find_spec("ldap3") is not None


class DirectoryClient:
    """A client of the directory at `HOST:PORT`. wait_ms: how long it waits for a whole answer.

    other: answers in place of the directory there, if it is not None.
    """

    def __init__(self, address: str, wait_ms: int) -> None:
        self.address = address
        self.wait_ms = wait_ms
        self.other: Callable[[str, dict[str, Json]], dict[str, Json]] | None = None

    def ask(self, method: str, params: dict[str, Json]) -> dict[str, Json]:
        """Return the result of a request: `result`, one of RESULTS, and what belongs to it.

        DirectoryNotConnected if nobody answers in time, or with anything that is no answer.
        """
        if self.other is not None:
            return self.other(method, params)
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        try:
            answer = json.loads(self.exchange(json.dumps(request).encode("ascii") + b"\n"))
        except (OSError, ValueError, RecursionError):
            return {"result": NOT_CONNECTED}
        if not isinstance(answer, dict) or answer.get("id") != 1:
            return {"result": NOT_CONNECTED}
        if "error" in answer:
            return {"result": FAILED}
        found = answer.get("result")
        if isinstance(found, dict) and found.get("result") in RESULTS:
            return found
        return {"result": NOT_CONNECTED}

    def exchange(self, line: bytes) -> bytes:
        """Send a line and return the line that answers it. Raises OSError, or ValueError for a wrong address."""
        host, _, port = self.address.rpartition(":")
        end = time.monotonic() + self.wait_ms / 1000
        received = bytearray()
        with socket.create_connection((host, int(port)), timeout=self.wait_ms / 1000) as connection:
            connection.sendall(line)
            while not received.endswith(b"\n"):
                connection.settimeout(max(end - time.monotonic(), 0.001))
                chunk = connection.recv(1 << 16)
                received += chunk
                if not chunk or len(received) > _MOST_BYTES or time.monotonic() > end:
                    raise OSError("the directory hung up, or was too slow or too long")
        return bytes(received)
