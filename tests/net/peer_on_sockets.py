"""The queue manager of `session_peer` behind a real socket: it sends what it has to say on sessions that exist."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from session_peer import Peer
from session_peer_state import Link

from conformance.net.addresses import Place


class Now(Peer):
    """The peer with the time of this machine."""

    @property
    def now_s(self) -> int:
        return int(time.time())


@contextmanager
def sends_on_sessions_that_exist(*ways: str, back: str = "127.0.0.2") -> Iterator[Place]:
    """A host with further ways or defects of the peer. back: where it connects to, at the port that it listens at."""
    peer = Now()
    peer.defects = {"sends-on-sessions-that-exist", *ways}
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()
    serving = threading.Thread(target=_serve, args=(peer, listener, back, over), daemon=True)
    serving.start()
    try:
        yield Place(*listener.getsockname()[:2])
    finally:
        over.set()
        serving.join(5)
        listener.close()


def _serve(peer: Peer, listener: socket.socket, back: str, over: threading.Event) -> None:
    links: dict[socket.socket, Link] = {}
    began = time.monotonic() - 1
    while not over.is_set():
        ready, _, _ = select.select([listener, *links], [], [], 0.01)
        peer.run(int((time.monotonic() - began) * 1000), lambda: False)
        for one in ready:
            if one is listener:
                made, _ = listener.accept()
                link = links[made] = Link(f"S{len(peer.links) + 1}")
                peer.links[link.name] = link
            else:
                _take(peer, links[one], one)
        for link in peer.knocking:
            with suppress(OSError):
                made = socket.create_connection((back, listener.getsockname()[1]), 1)
                links[made] = peer.links[link.name] = link
        peer.knocking.clear()
        for made, link in list(links.items()):
            with suppress(OSError):
                made.sendall(b"".join(data for _, data in link.outbox))
            link.outbox.clear()
            if link.closed:
                made.close()
                del links[made]
    for made in links:
        made.close()


def _take(peer: Peer, link: Link, made: socket.socket) -> None:
    try:
        data = made.recv(65_536)
    except OSError:
        data = b""
    if data:
        peer.take(link, data)
    else:
        link.gone = link.closed = True
        peer.lost(link)
