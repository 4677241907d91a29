"""A proxy with a live judge, and the embedded queue manager on the network in a process of its own."""

from __future__ import annotations

import ipaddress
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread
from typing import Any, Final

from conformance.capture.recording_mark import OwnEnd
from conformance.command_options import BadInput, check_chosen, check_folder, check_words
from conformance.live.judge_client import Deviation, Judging, LiveJudge, State, child_environment
from conformance.net.addresses import PING_PORT, Place, Target, near, place
from conformance.net.connector import QUEUES, TIMERS
from conformance.net.proxy import Proxy, Recording, Route
from conformance.suggest import nearest
from conformance.verdict import ExitCode

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

    ways: what it does otherwise within the documents. replies: queues whose messages are answered. insecure_nacks: it
    tells of missing queues and rights, too. rpc: `[HOST:]PORT` of the RPC planes. rpc_epm: one more port of theirs.
    """

    timers: Sequence[str] = ()
    faults: Sequence[str] = ()
    readings: Sequence[str] = ()
    ways: Sequence[str] = ()
    queues: Sequence[str] = ()
    consume: Sequence[str] = ()
    state_dir: str | None = None
    replies: Sequence[str] = ()
    insecure_nacks: bool = False
    rpc: str | None = None
    rpc_epm: int | None = None

    def arguments(self) -> list[str]:
        """Return the options of its command line."""
        several = {
            "--timer": self.timers, "--fault": self.faults, "--reading": self.readings, "--way": self.ways,
            "--queue": self.queues, "--consume": self.consume, "--reply": self.replies,
        }  # fmt: skip
        words = [word for option, values in several.items() for value in values for word in (option, value)]
        words += ["--insecure-nacks"] if self.insecure_nacks else []
        words += ["--rpc", self.rpc] if self.rpc is not None else []
        words += ["--rpc-epm", str(self.rpc_epm)] if self.rpc_epm is not None else []
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
    timers = [name for name in (each.partition("=")[0] for each in wanted.timers) if name in words]
    hint = ""
    if timers:
        hint = _hint(timers[0], TIMERS, f"it has {', '.join(TIMERS)}")
    elif faults:
        hint = _hint(faults[0], [each["name"] for each in known_faults()], "serve --faults lists them")
    elif "way" in words:
        hint = "; serve --help lists them."
    elif queues:
        made = [each.partition(",")[0] for each in wanted.queues] or list(QUEUES)
        hint = _hint(queues[0], made, f"it has {', '.join(made)}")
    return f"{said[0].upper()}{said[1:]}{hint or '.'[said.endswith('?') :]}"


def _hint(word: str, known: Sequence[str], otherwise: str) -> str:
    close = nearest(word, known)
    return f"; did you mean {close}?" if close else f"; {otherwise}."


class Server:
    """A running server. listen, ping, rpc: where it is. guid: its identifier."""

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
        self.rpc = place(ready["rpc"]) if "rpc" in ready else None
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
_READ: Final = ("mqconform-plain", "mqconform-plain-2", "mqconform-transactional,transactional")
"""The queues of a server whose RPC planes are judged: nothing there receives but the run."""


@contextmanager
def served(
    places: tuple[str, str], fault: str | None = None, *, silent: bool = False, rpc: bool = False
) -> Iterator[str]:
    """Start a server and yield the connector of a run on it; rpc: on its RPC planes. Raises ServerGone and BadInput."""
    host, ours = places
    port, ping = _free_port(places, socket.SOCK_STREAM), _free_port(places, socket.SOCK_DGRAM)
    faults = () if fault is None else (fault,)
    wanted = Wanted(faults=faults, queues=_READ, rpc="0") if rpc else Wanted(
        timers=[f"{name}={ms / 1000:g}" for name, ms in _TIMERS_MS.items()],
        faults=faults,
        consume=[f"{queue}={ms / 1000:g}" for queue, ms in _CONSUMED_MS.items()],
        replies=_REPLIES,
        insecure_nacks=not silent,
    )  # fmt: skip
    server = Server(Place(host, port), ping, port, wanted)
    declared = [f"qm={port}", f"ping={ping}", f"listener={ours}", "packets=malformed"]
    if server.rpc is not None:
        declared += [f"rpc={server.rpc.port}", f"queues={','.join(name.partition(',')[0] for name in _READ)}"]
    else:
        declared += [
            *(f"timer.{name}={ms}ms" for name, ms in _TIMERS_MS.items()),
            *(f"consume.{queue}={ms}ms" for queue, ms in _CONSUMED_MS.items()),
            *(f"reply.{queue}=" for queue in _REPLIES),
            "ack-timeout=20s", "window-size=64",
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


TICK_S = 0.5
_CLIENTS = tuple(f"127.0.0.{last}" for last in range(2, 10))
"""Addresses of this machine at which clients may listen for the server; others once a client comes from there."""

_UNSEEN = "{} is taken: connections of the server to a client there are neither seen nor judged"
_FULL = "no more than {:,} connections can be open at once (ulimit -n): further ones had to wait"


@dataclass(frozen=True, slots=True)
class Ready:
    """Where clients are heard. ping: None when pings are not handed on. guid, rpc: of the server of `serve`."""

    listen: Place
    ping: Place | None = None
    guid: str | None = None
    rpc: Place | None = None


@dataclass(slots=True)
class Now:
    """The traffic at one moment. records: blocks of the recording. behind: the judge does not keep up."""

    state: State
    connections: int = 0
    refused: int = 0
    records: int = 0
    behind: bool = False
    left_out: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passed:
    """The end. exit_code: of what was judged. sentence: why it is not that of the verdicts."""

    now: Now
    exit_code: ExitCode
    sentence: str | None


@dataclass(frozen=True, slots=True)
class Watch:
    """Calls back to the caller, and the end: `stop` is set, or the time is over. on_now: called twice a second."""

    on_ready: Callable[[Ready], object]
    on_now: Callable[[Now], object] = lambda now: None
    on_deviation: Callable[[Deviation], object] = lambda deviation: None
    stop: threading.Event = field(default_factory=threading.Event)
    budget_s: float | None = None


def proxy(
    listen: Place,
    to: Target,
    port: int,
    *,
    judging: Judging,
    watch: Watch,
    record: Path | None = None,
    pings: tuple[Place, int] | None = None,
) -> Passed:
    """Hand on connections to `listen` to this host and port, and judge both directions.

    pings: where pings are heard, and the port they are handed on to. Raises BadInput for a file or address that cannot
    be used.
    """
    _check(judging)
    comment = f"connections to {listen} were handed on to {to.word}:{port}"
    with _Passing(judging, watch, record, comment) as passing:
        place = passing.listen(Route(listen, Place(to.address, port)))
        ping = None if pings is None else passing.hear(pings[0], Place(to.address, pings[1]))
        return passing.run(Ready(place, ping), lambda: None)


def serve(
    listen: Place,
    *,
    wanted: Wanted,
    judging: Judging,
    watch: Watch,
    ping_port: int = PING_PORT,
    record: Path | None = None,
) -> Passed:
    """Be a queue manager at `listen`, and judge what clients send to it.

    ping_port: 0 is any free one. Raises BadInput, and ServerGone when the server does not start.
    """
    if not near(listen.host):
        raise BadInput(
            f"{listen.host} is no loopback address, and serve listens on this machine alone: give 127.0.0.1:1801."
        )
    if not near((wanted.rpc or "").rpartition(":")[0].strip("[]") or listen.host):
        raise BadInput(f"{wanted.rpc} is no loopback address, and serve listens on this machine alone: give a port.")
    _check(judging)
    judging = replace(judging, clients_of=_plain(listen.host))
    comment = f"the port of the server is {listen.port}"
    with _Passing(judging, watch, record, comment, OwnEnd("server", _plain(listen.host))) as passing:
        # The server gets a port of its own; the proxy has the public one, and the one it connects to its clients by.
        back = _free(listen.host, socket.SOCK_STREAM)
        server = Server(Place(listen.host, 0), 0, back, wanted)
        passing.atexit(server.end)
        place = passing.listen(Route(listen, server.listen))
        ping = passing.hear(Place(listen.host, ping_port), server.ping)

        def reverse(client: str) -> Route | None:
            if _plain(listen.host) == client or not near(client):
                return None
            return Route(Place(client, back), Place(client, place.port), reverse=True)

        passing.proxy.reverse(reverse)
        for client in _CLIENTS:  # A client may have acknowledgments sent to another address than it comes from.
            passing.proxy.also(reverse(client))
        return passing.run(Ready(place, ping, server.guid, server.rpc), lambda: server.over)


class _Passing:
    """The judge, the recording and the proxy, as a context that ends all three."""

    def __init__(
        self, judging: Judging, watch: Watch, record: Path | None, comment: str, own: OwnEnd | None = None
    ) -> None:
        self._judging, self._watch, self._record, self._comment, self._own = judging, watch, record, comment, own
        self._stack = ExitStack()
        self._broke: str | None = None

    def __enter__(self) -> _Passing:
        self.judge = LiveJudge(self._judging, self._watch.on_deviation)
        self._stack.callback(self.judge.end, 5.0)
        try:
            self.recording = Recording(self._record, comment=self._comment, own=self._own, feed=self.judge.feed)
        except OSError as error:
            self._stack.close()
            raise BadInput(f"{self._record} cannot be written ({error.strerror}); name another file.") from None
        self._stack.callback(self.recording.close)
        self.proxy = Proxy(self.recording)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def atexit(self, end: Callable[[], object]) -> None:
        """Call this at the end, before the judge ends."""
        self._stack.callback(end)

    def listen(self, route: Route) -> Place:
        """Listen for connections. Raises BadInput."""
        try:
            return self.proxy.route(route)
        except OSError as error:
            raise BadInput(_taken(route.listen, "--listen", error)) from None

    def hear(self, listen: Place, to: Place) -> Place:
        """Hear pings. Raises BadInput."""
        try:
            return self.proxy.pings(listen, to)
        except OSError as error:
            raise BadInput(_taken(listen, "--ping-port", error)) from None

    def run(self, ready: Ready, gone: Callable[[], str | None]) -> Passed:
        """Hand on until the end. gone: tells why it must end early."""
        watch = self._watch
        until = None if watch.budget_s is None else time.monotonic() + watch.budget_s
        moving = threading.Thread(target=self._move, name="proxy")
        moving.start()
        why = None
        try:
            watch.on_ready(ready)
            while not watch.stop.wait(TICK_S if until is None else max(0, min(TICK_S, until - time.monotonic()))):
                watch.on_now(self._now())
                why = gone()
                if why is not None or not moving.is_alive() or (until is not None and time.monotonic() >= until):
                    break
        finally:
            self.proxy.stop()
            moving.join()
        self.judge.end()
        now = self._now()
        watch.on_now(now)
        code = now.state.exit_code
        assert code is not None  # `end` has set it.
        for sentence, instead in ((self._broke, ExitCode.HARNESS_ERROR), (why, ExitCode.UNUSABLE)):
            if sentence is not None:
                return Passed(now, code if code is ExitCode.DEVIATES else instead, sentence)
        sentence = now.state.sentence
        if code is ExitCode.NOTHING_JUDGED:
            came = "no connection" if not now.connections else f"of {now.connections:,} connections no MSMQ packet"
            sentence = f"Nothing was judged: {came} came."
        return Passed(now, code, sentence)

    def _move(self) -> None:
        try:
            self.proxy.run()
        except Exception as error:  # It is told at the end, in one sentence.
            self._broke = f"The proxy broke, and what came later was not seen: {type(error).__name__}: {error}"

    def _now(self) -> Now:
        problems = [self.recording.problem] if self.recording.problem else []
        if self.proxy.full:
            problems.append(_FULL.format(self.proxy.most))
        problems += [_UNSEEN.format(place) for place in tuple(self.proxy.unseen)]
        return Now(
            self.judge.state,
            self.proxy.connections,
            self.proxy.refused,
            self.recording.records,
            self.judge.behind,
            self.judge.left_out,
            tuple(problems),
        )


def _check(judging: Judging) -> None:
    check_words(profile=judging.profile, level=judging.level, readings=judging.readings)
    check_chosen(judging.chosen)
    check_folder(judging.out)


def _plain(host: str) -> str:
    return str(ipaddress.ip_address("127.0.0.1" if host.lower() == "localhost" else host))


def _free(host: str, kind: socket.SocketKind) -> int:
    """Return a port that is free now."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind) as asking:
        asking.bind((host, 0))
        port: int = asking.getsockname()[1]
        return port


def _taken(place: Place, option: str, error: OSError) -> str:
    return f"{place} cannot be listened at ({error.strerror}): name another address or port with {option}."


__all__ = ["Now", "Passed", "Ready", "ServerGone", "Wanted", "Watch", "proxy", "serve"]
