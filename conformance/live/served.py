"""A server of one's own, at loopback addresses of its own, with timers that are short and declared."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from conformance.live.server import Server, ServerGone, Wanted
from conformance.net.addresses import Place

_TIMERS_MS: Final = {
    "session-initialization": 5_000,
    "session-cleanup": 8_000,
    "session-retry-connect": 500,
    "session-ack-wait": 2_000,
    "session-ack-send": 500,
    "transactional-ack-wait": 2_000,
    "message-id-history-cleanup": 3_000,
    "ping-response": 1_000,
}
_CONSUMED_MS: Final = {"mqconform-plain": 500, "mqconform-transactional": 500}
_REPLIES: Final = ("mqconform-transactional",)


@contextmanager
def served(places: tuple[str, str], fault: str | None = None, *, silent: bool = False) -> Iterator[str]:
    """Start a server and yield the connector of a run that judges it. Raises ServerGone and BadInput."""
    host, ours = places
    port, ping = _free_port(places, socket.SOCK_STREAM), _free_port(places, socket.SOCK_DGRAM)
    wanted = Wanted(
        timers=[f"{name}={ms / 1000:g}" for name, ms in _TIMERS_MS.items()],
        faults=() if fault is None else (fault,),
        consume=[f"{queue}={ms / 1000:g}" for queue, ms in _CONSUMED_MS.items()],
        replies=_REPLIES,
        insecure_nacks=not silent,
    )
    server = Server(Place(host, port), ping, port, wanted)
    declared = [
        f"qm={port}", f"ping={ping}", f"listener={ours}", "packets=malformed",
        *(f"timer.{name}={ms}ms" for name, ms in _TIMERS_MS.items()),
        *(f"consume.{queue}={ms}ms" for queue, ms in _CONSUMED_MS.items()),
        *(f"reply.{queue}=" for queue in _REPLIES),
    ]  # fmt: skip
    try:
        yield f"wire:{host}?{'&'.join(declared)}"
    finally:
        server.end()


def addresses(number: int) -> tuple[str, str]:
    """Return addresses of the server and of our own end, which no other run has, in this process or another."""
    process = os.getpid()
    net = f"127.{64 + (process >> 8) % 128}.{process % 256}"
    return f"{net}.{2 * number + 1}", f"{net}.{2 * number + 2}"


def _free_port(hosts: Sequence[str], sort: socket.SocketKind) -> int:
    """Return a port that is free at all of these addresses. Raises ServerGone."""
    for _ in range(20):
        with socket.socket(socket.AF_INET, sort) as first:
            first.bind((hosts[0], 0))
            port: int = first.getsockname()[1]
            try:
                for host in hosts[1:]:
                    with socket.socket(socket.AF_INET, sort) as other:
                        other.bind((host, port))
            except OSError:
                continue
            return port
    raise ServerGone(f"No port is free at both {' and '.join(hosts)}.")
