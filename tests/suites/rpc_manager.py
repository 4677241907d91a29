"""A port of `rpc.*` on the embedded planes in this process, with a clock that only waiting turns."""

from __future__ import annotations

import time
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import embedded_network_peer
import pytest
from embedded_network_peer import Desk, desk
from embedded_rpc_peer import Client, Fault

from conformance.adapter.session import Result
from conformance.harness.recorder import RunOptions
from conformance.net.addresses import Place
from conformance.net.rpc.sending import Sender
from conformance.spec.catalogue import assignment
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE
from conformance.spec.rpc_interfaces import INTERFACES
from conformance.suites.remote import playing
from conformance.wire import encode

QUEUES = ("mqconform-plain", "mqconform-plain-2", "mqconform-transactional,transactional")
HOST = "127.0.0.1"
OPTIONS = RunOptions("msmq-4.0", "may", assignment("windows"), "windows", 0, 1, 1)
_TICK_S = 0.05


class Clock:
    """The time of the desk; sleeping turns it."""

    def __init__(self, at: Desk) -> None:
        self._at, self._began, self.start = at, at.clock.now, time.time()

    def monotonic(self) -> float:
        return self._at.clock.now - self._began

    def time(self) -> float:
        return self.start + self.monotonic()

    def sleep(self, seconds: float) -> None:
        self._at.clock.turn(seconds)
        self._at.node.commit()


class Began:
    """A call that was begun."""

    def __init__(self, port: RpcManager, client: Client, number: int) -> None:
        self._port, self._client, self._number = port, client, number
        self._said: bytes | Fault | None = None

    @property
    def done(self) -> bool:
        if self._said is None:
            self._said = self._client.hear(self._number)
        return self._said is not None

    def result(self) -> Result:
        assert self.done
        assert self._said is not None
        return told(self._said)


def told(said: bytes | Fault) -> Result:
    """Return the answer as a driver has it."""
    if isinstance(said, Fault):
        return Result(0, {"fault": said.status}, None)
    return Result(0, {"bytes": b64encode(said).decode("ascii")}, None)


class RpcManager:
    """Both ends: the calls are answered by the embedded planes, and messages get there as packets."""

    hello = SimpleNamespace(computer=HOST)

    def __init__(self, at: Desk) -> None:
        self.at, self.time = at, Clock(at)
        at.node.planes.port = 2103
        self.clients: dict[str, Client] = {}
        self.sender = Sender(None, Place(HOST, 1801), None)  # type: ignore[arg-type]
        self.peer = at.open()

    def call(self, method: str, **params: Any) -> Result:
        if method == "sessions.about":
            names = [f"private$\\{name.partition(',')[0]}" for name in QUEUES]
            return Result(0, {"host": HOST, "queues": names}, None)
        if method == "queues.create":
            return Result(0, {"format_name": f"DIRECT=OS:{params['path_name']}"}, None)
        if method == "queues.open":
            return Result(0, {"queue": params["format_name"]}, None)
        if method == "sessions.open":
            self.other = self.at.accept()
            return Result(0, {"session": "s"}, None)
        if method == "sessions.send":
            self.other.say(b64decode(params["bytes"]))
            return Result(0, {}, None)
        if method == "sessions.close":
            self.other.session.disconnected()
        if method in ("sessions.received", "sessions.close"):
            return Result(0, {}, None)
        if method == "messages.send":
            self.sender._sent = number = self.sender._sent + 1
            values = self.sender._values(params["message"], params["queue"].replace("OS:", "TCP:"), number)
            values["UserHeader.SentTime"] = int(self.time.time())
            self.peer.say(encode("UserMessage", values))
            return Result(0, {}, None)
        if method == "rpc.open":
            interface = INTERFACES[params["interface"]]
            name = f"a{len(self.clients)}"
            self.clients[name] = Client(self.at, interface.identifier)
            return Result(0, {"association": name}, None)
        if method == "rpc.close":
            self.clients[params["association"]].close()
            return Result(0, {}, None)
        began = self.start(method, **params)
        return began.result() if self.wait_done(began, params["timeout_ms"] + 5000) else Result(0, {}, None)

    def start(self, method: str, **params: Any) -> Began:
        client = self.clients.get(params["association"])
        assert method == "rpc.call"
        assert client is not None, MQ_ERROR_INVALID_HANDLE
        return Began(self, client, client.send(params["opnum"], b64decode(params["bytes"])))

    def wait_done(self, call: Began, within_ms: int) -> bool:
        until = self.time.monotonic() + within_ms / 1000
        while not call.done and self.time.monotonic() < until:
            self.time.sleep(_TICK_S)
        return call.done

    def moment(self) -> float:
        return self.time.time()

    def offers(self, method: str) -> bool:
        return method != "reset"


@contextmanager
def rpc_manager(folder: Path, *faults: str) -> Iterator[RpcManager]:
    """Return the port of a new manager with these faults, at the time of now."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded_network_peer, "STARTED_MS", int(time.time() * 1000))
        with desk(folder, *faults, queues=QUEUES) as at:
            yield RpcManager(at)


@contextmanager
def at_its_time(port: Any) -> Iterator[None]:
    """Let the suite see the time of a port."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(playing, "time", SimpleNamespace(time=port.moment))
        yield
