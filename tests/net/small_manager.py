"""A host with the first steps of a session, made of the packets of a fixture: it answers what it is sent in turn."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dialogues import CONSISTENT, frames

from conformance.net.addresses import Place

FRAMES = [frame for frame in frames(CONSISTENT) if frame.connection == 1]
"""The first connection of the fixture."""


def turns(side: str) -> list[bytes]:
    """What a side sends, as long as the other side is silent, in one piece each."""
    found: list[bytes] = []
    before = None
    for frame in FRAMES:
        if frame.side == side:
            found += [frame.data] if before != side else []
            found[-1] = found[-1] + frame.data if before == side else found[-1]
        before = frame.side
    return found


@contextmanager
def manager(address: str = "127.0.0.1") -> Iterator[Place]:
    """A host that plays the acceptor of the fixture to each connection, one turn for each piece that comes."""
    listener = socket.create_server((address, 0))

    def serve() -> None:
        while True:
            try:
                made, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=play, args=(made,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield Place(address, listener.getsockname()[1])
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def play(made: socket.socket) -> None:
    with made:
        try:
            for said, answer in zip(turns("initiator"), turns("acceptor"), strict=False):
                got = 0
                while got < len(said):
                    data = made.recv(len(said) - got)
                    if not data:
                        return
                    got += len(data)
                made.sendall(answer)
            while made.recv(65_536):
                pass
        except OSError:
            return
