"""A proxy with a live judge: what `proxy` and `serve` have in common, and the functions behind both."""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.capture.recording_mark import OwnEnd
from conformance.command_options import BadInput, check_chosen, check_folder, check_words
from conformance.live.judge_client import Deviation, Judging, LiveJudge, State
from conformance.live.server import Server, ServerGone, Wanted
from conformance.net.addresses import PING_PORT, Place, Target, near
from conformance.net.proxy import Proxy, Recording, Route
from conformance.verdict import ExitCode

TICK_S = 0.5
_CLIENTS = tuple(f"127.0.0.{last}" for last in range(2, 10))
"""Addresses of this machine at which clients may listen for the server; others once a client comes from there."""

_UNSEEN = "{} is taken: connections of the server to a client there are neither seen nor judged"
_FULL = "no more than {:,} connections can be open at once (ulimit -n): further ones had to wait"


@dataclass(frozen=True, slots=True)
class Ready:
    """Where clients are heard. ping: None when pings are not handed on. guid: of the server of `serve`."""

    listen: Place
    ping: Place | None = None
    guid: str | None = None


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
        return passing.run(Ready(place, ping, server.guid), lambda: server.over)


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
