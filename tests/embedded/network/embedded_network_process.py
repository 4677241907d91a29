"""The process of the embedded queue manager on the network, its connections, and what is read from them."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from embedded_network_peer import establish, parameters

COMMAND = (sys.executable, "-m", "conformance.embedded.network")
PATIENCE = 20.0


class Process:
    """A running process. port, ping: where it listens."""

    def __init__(self, *arguments: str, command: tuple[str, ...] = COMMAND) -> None:
        given = (*command, "--listen", "127.0.0.1:0", "--ping-port", "0", *arguments)
        self.child = subprocess.Popen(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.child.stdout is not None
        ready = json.loads(self.child.stdout.readline())["ready"]
        self.port = int(ready["listen"].rpartition(":")[2])
        self.ping = int(ready["ping"].rpartition(":")[2])
        self.rpc = int(ready.get("rpc", ":0").rpartition(":")[2])
        self.guid = ready["guid"]

    def connect(self, address: str = "127.0.0.2") -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE, (address, 0))

    def open(self, address: str = "127.0.0.2") -> socket.socket:
        made = self.connect(address)
        made.sendall(establish())
        take(made)
        made.sendall(parameters())
        take(made)
        return made

    def resident_kb(self) -> int:
        status = Path(f"/proc/{self.child.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0])

    def end(self) -> int:
        assert self.child.stdin is not None
        self.child.stdin.close()
        return self.child.wait(PATIENCE)


@contextmanager
def process(*arguments: str, command: tuple[str, ...] = COMMAND) -> Iterator[Process]:
    made = Process(*arguments, command=command)
    try:
        yield made
    finally:
        made.child.kill()
        made.child.wait()
        for pipe in (made.child.stdin, made.child.stdout):
            assert pipe is not None
            pipe.close()


def take(line: socket.socket) -> bytes:
    """Receive one packet."""
    data = exactly(line, 16)
    size, flags = int.from_bytes(data[8:12], "little"), int.from_bytes(data[2:4], "little")
    return data + exactly(line, size - 16 + (16 if flags & 0x10 and not flags & 8 else 0))


def exactly(line: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = line.recv(count - len(data))
        assert more, "the connection was closed"
        data += more
    return data


def is_closed(line: socket.socket) -> bool:
    """Read on until the connection is closed. Raises TimeoutError if it is not."""
    with suppress(ConnectionError):
        while line.recv(65536):
            continue
    return True


def taken_again(made: Process) -> None:
    """Open a session as soon as the process has seen that others are over."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            made.open().close()
            return
        except (AssertionError, OSError):
            assert time.monotonic() < deadline
