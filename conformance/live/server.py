"""The embedded queue manager on the network, in a process of its own, also at loopback addresses with short timers."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Thread
from typing import Any, Final

from conformance.command_options import BadInput
from conformance.live.judge_client import child_environment
from conformance.net.addresses import Place, place
from conformance.net.connector import QUEUES
from conformance.suggest import nearest

READY_S: Final = 20.0
_END_S = 5.0
_MODULE = "conformance.embedded.network"
_REFUSED = 2  # Its exit status for an argument that it does not understand; the sentence is on its stderr.
_LINES = 20
_SAYS = "network: "  # Begins its sentences.


class ServerGone(Exception):
    """The server could not be started, or has ended; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How the server is to be. timers: `NAME=SECONDS`; consume: the same for queues; the rest as its options.

    replies: queues whose messages are answered. insecure_nacks: it tells of missing queues and rights, too.
    """

    timers: Sequence[str] = ()
    faults: Sequence[str] = ()
    readings: Sequence[str] = ()
    queues: Sequence[str] = ()
    consume: Sequence[str] = ()
    state_dir: str | None = None
    replies: Sequence[str] = ()
    insecure_nacks: bool = False

    def arguments(self) -> list[str]:
        """Return the options of its command line."""
        several = {
            "--timer": self.timers, "--fault": self.faults, "--reading": self.readings, "--queue": self.queues,
            "--consume": self.consume, "--reply": self.replies,
        }  # fmt: skip
        words = [word for option, values in several.items() for value in values for word in (option, value)]
        words += ["--insecure-nacks"] if self.insecure_nacks else []
        return [*words, *(["--state-dir", self.state_dir] if self.state_dir is not None else [])]


def known_faults() -> list[dict[str, Any]]:
    """Return the faults that the server can have: `name`, `says`, `breaks`. Raises ServerGone."""
    command = [sys.executable, "-P", "-m", _MODULE, "--faults"]
    done = subprocess.run(command, capture_output=True, text=True, env=child_environment(), check=False)
    if done.returncode:
        last = (done.stderr.splitlines() or ["it said nothing"])[-1]
        raise ServerGone(f"The faults cannot be listed: {last}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def refused(why: str, wanted: Wanted) -> str:
    """Return the sentence of a server that refuses an argument, with the name that may be meant."""
    said = why.removeprefix(_SAYS).rstrip(".")
    words = said.split()
    faults = [name for name in wanted.faults if name in words]
    queues = [name for name in (each.partition("=")[0] for each in wanted.consume) if name in words]
    hint = ""
    if faults:
        hint = _hint(faults[0], [each["name"] for each in known_faults()], "serve --faults lists them")
    elif queues:
        made = [each.partition(",")[0] for each in wanted.queues] or list(QUEUES)
        hint = _hint(queues[0], made, f"it has {', '.join(made)}")
    return f"{said[0].upper()}{said[1:]}{hint or '.'}"


def _hint(word: str, known: Sequence[str], otherwise: str) -> str:
    close = nearest(word, known)
    return f"; did you mean {close}?" if close else f"; {otherwise}."


class Server:
    """A running server. listen, ping: where it is. guid: its identifier."""

    def __init__(self, listen: Place, ping_port: int, peer_port: int, wanted: Wanted) -> None:
        """Start it and wait until it is ready. Raises BadInput for what it refuses, ServerGone otherwise."""
        command = [sys.executable, "-P", "-m", _MODULE, "--listen", str(listen), "--ping-port", str(ping_port)]
        command += ["--peer-port", str(peer_port), *wanted.arguments()]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=child_environment(),
            start_new_session=True,
        )
        self._wanted = wanted
        self._said: deque[str] = deque(maxlen=_LINES)
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        ready = self._ready()
        self.listen, self.ping = place(ready["listen"]), place(ready["ping"])
        self.guid: str = ready["guid"]

    @property
    def over(self) -> str | None:
        """Return why the server is gone; None while it runs."""
        status = self._process.poll()
        if status is None:
            return None
        self._reader.join(_END_S)
        last = f": {self._said[-1]}" if self._said else ""
        return f"The server ended by itself with status {status}{last}"

    def end(self) -> None:
        """End the server: its stdin closes; one that goes on is terminated, then killed."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        for harder in (self._process.terminate, self._process.kill, self._process.wait):
            try:
                self._process.wait(_END_S)
                return
            except subprocess.TimeoutExpired:
                harder()

    def _ready(self) -> Mapping[str, Any]:
        assert self._process.stdout is not None
        until = time.monotonic() + READY_S
        line = b""
        while not line.endswith(b"\n"):
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                self.end()
                raise ServerGone(f"The server was not ready within {READY_S:g} s.")
            more = self._process.stdout.read1(65_536)  # type: ignore[attr-defined]
            if not more:
                self._process.wait()
                self._reader.join(_END_S)
                why = self._said[-1] if self._said else "it said nothing"
                if self._process.returncode == _REFUSED:
                    raise BadInput(refused(why, self._wanted))
                raise ServerGone(f"The server did not start: {why}")
            line += more
        found: Mapping[str, Any] = json.loads(line)["ready"]
        return found

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._said.append(line[:2_000].decode("utf-8", "replace").rstrip())


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
