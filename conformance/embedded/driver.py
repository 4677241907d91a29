"""The embedded queue manager as a driver: JSON-RPC 2.0 over stdio or TCP, and methods of the adapter protocol."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import conformance
from conformance.embedded.clock import Clock, RealClock
from conformance.embedded.entities import MqError, Result
from conformance.embedded.manager import Manager, Parts
from conformance.embedded.methods import LATER, METHODS, BadParams, check
from conformance.embedded.readings import READINGS
from conformance.embedded.receiving import Caller
from conformance.embedded.scheduler import Scheduler
from conformance.embedded.store import StoreError

PROTOCOLS = ("1.4", "1.3", "1.2", "1.1", "1.0")  # the preferred one first
# Facets that older versions lack.
SINCE = {
    "outgoing": "1.1",
    "management": "1.2",
    "objects": "1.2",
    "security": "1.3",
    "coordinator": "1.3",
    "directory": "1.3",
}
METHODS_SINCE = {"directory": "1.2", "harden": "1.3"}  # methods that older versions lack
MAX_BODY_BYTES = 4_000_000  # leaves room for headers in a packet of 4 MiB

Reply = Callable[[Result], None]
PROFILES = ("msmq-1.0", "msmq-2.0", "msmq-3.0", "msmq-4.0", "msmq-5.0", "msmq-6.0")


class UnknownMethod(Exception):
    """The protocol has no such method, or this driver does not offer it."""


class EmbeddedDriver:
    """A queue manager in this process. Threads may share it: each call is atomic.

    state_dir: the folder of durable state. faults: names of deviations (see `conformance.embedded.faults`), and
    alternatives as `READING=ALTERNATIVE` (see `conformance.embedded.alternatives`). seed: decides the order of
    requests where a fault lets several in at once.
    Raises KeyError for an unknown fault, ValueError for an unknown profile or clock.
    """

    def __init__(
        self,
        state_dir: Path | str | None = None,
        faults: Sequence[str] = (),
        *,
        clock: str = "virtual",
        profile: str = "msmq-4.0",
        seed: int = 0,
        registry: Managers | None = None,
    ) -> None:
        self._managers = registry or Managers(faults, clock=clock, profile=profile, seed=seed)
        self._folder = Path(state_dir) if state_dir is not None else None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._namespace = ""
        self._requests = 0
        self._offered = [*_OWN, *METHODS]
        if not self._managers.virtual:
            self._offered.remove("clock.advance")
        self._manager: Manager | None = None
        self.stopped = False
        self.on_event: Callable[[Result], None] = lambda event: None  # set by whoever passes events on

    @property
    def manager(self) -> Manager:
        """The manager of the namespace this driver is attached to."""
        if self._manager is None:
            self._manager = self._managers.get(self._home(), self._namespace)
        return self._manager

    def _home(self) -> Path:
        if self._folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="mqconform-")
            self._folder = Path(self._temporary.name)
        return self._folder

    def handle(
        self,
        method: str,
        params: dict[str, Json],
        reply: Reply,
        pending: Callable[[], None] = lambda: None,
        *,
        request: Json = None,
    ) -> None:
        """Perform one request. Calls `reply` once with the result, now or during a later call; `pending` if it waits.

        request: the id under which `messages.cancel` can name this request; without it, requests are numbered from 1 in
        order of arrival. Raises UnknownMethod, BadParams or StoreError before it changes anything. Gives a result out
        only after the changes it reports are durable.
        """
        if method not in self._offered:
            raise UnknownMethod(method)
        check(method, params)
        if self._managers.races:
            self._managers.scheduler.run(lambda: self._perform(method, params, reply, pending, request))
        else:
            with self._managers.lock:
                self._perform(method, params, reply, pending, request)

    def _perform(
        self,
        method: str,
        params: dict[str, Json],
        reply: Reply,
        pending: Callable[[], None],
        request: Json,
    ) -> None:
        outbox = self._managers.outbox
        self._requests += 1
        number = self._requests if request is None else request
        caller = Caller(self, number, lambda result: outbox.append((reply, result)), pending)
        result: Result | None
        try:
            if method in _OWN:
                result = _OWN[method](self, params)
            else:
                self.manager.security.called_by(params.get("as"))
                result = METHODS[method](self.manager, params, caller)
        except MqError as failure:
            result = {"status": failure.status, **failure.values}
        if result is not LATER:
            outbox.append((reply, {"status": 0, **(result or {})}))
        self._managers.deliver()

    def emit(self, event: Result) -> None:
        """Send an event of an object, after what was to be answered before it."""
        self._managers.outbox.append((lambda told: self.on_event(told), event))

    def do_meanwhile(self, others: Callable[[], None]) -> None:
        """Set the function to call when a request lets others go first; for a caller that performs one at a time."""
        self._managers.meanwhile = others
        self._managers.races = False

    def while_idle(self, waits: bool = True) -> bool:
        """Resume a request that let others go first; return False if there is none.

        waits: the caller sends nothing more before it gets an answer. Otherwise the request may stay stopped.
        """
        return self._managers.scheduler.idle(waits)

    def patience_s(self) -> float | None:
        """Return the seconds to wait for the next request before `while_idle`; None if no request has stopped."""
        return self._managers.scheduler.patience_s()

    def run_due(self) -> None:
        """On a real clock: run the timers that are due."""
        if self._manager is not None:
            with self._managers.lock:
                self._manager.clock.run_due()
                self._managers.deliver()

    def next_due_ms(self) -> int | None:
        """On a real clock: return the time of the next call of `run_due`, in milliseconds since 1970."""
        return self._manager.clock.next_due_ms() if self._manager else None

    def close(self) -> None:
        """Write everything and release the state folder."""
        if self._manager is not None:
            self._managers.deliver()
            self._managers.close()
            self._manager = None
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    # Methods of the manager facet.

    def hello(self, params: dict[str, Json]) -> Result:
        """The `hello` method."""
        protocol = next((version for version in PROTOCOLS if version in params["versions"]), None)
        if protocol is None:
            spoken = ", ".join(reversed(PROTOCOLS))
            raise BadParams(f"this driver speaks versions {spoken} of the protocol, the harness offers others")
        if self._folder is None and params["state_dir"]:
            self._folder = Path(params["state_dir"])
        manager = self.manager
        facets: dict[str, list[str]] = {}
        for method in self._offered:
            facet, dot, name = method.rpartition(".")
            if METHODS_SINCE.get(method, SINCE.get(facet, "1.0")) > protocol:
                continue
            facets.setdefault(facet if dot else "manager", []).append(name)
        return {
            "protocol": protocol,
            "name": "embedded",
            "version": conformance.__version__,
            "profile": manager.profile,
            "computer": manager.computer,
            "queue_manager": manager.guid,
            "facets": facets,
            "limits": {"max_body_bytes": MAX_BODY_BYTES},
            **({"security": manager.security.declared()} if "security" in facets else {}),
            **({"directory_protocols": list(manager.parts.directory_protocols)} if protocol == PROTOCOLS[0] else {}),
            "clock": manager.clock.kind,
            "settle_ms": 0,
            "slack_ms": 0 if manager.clock.kind == "virtual" else 250,
            "readings": {**READINGS, **self._managers.readings},
        }

    def attach(self, params: dict[str, Json]) -> Result:
        """The `attach` method: a namespace is a queue manager of its own."""
        self._namespace = params["namespace"]
        self._manager = self._managers.get(self._home(), self._namespace)
        return {}

    def stop(self, params: dict[str, Json]) -> Result:
        """The `stop` method: the process exits after the answer."""
        self.stopped = True
        return {}


def _parts(faults: Sequence[str]) -> Parts:
    if not faults:
        return Parts()
    from conformance.embedded.faults import apply_faults  # hundreds of classes: only imported on demand

    return apply_faults(faults)


class Managers:
    """The managers of one process, by folder and namespace, and their shared parts, clock and pending answers."""

    def __init__(
        self,
        faults: Sequence[str] = (),
        *,
        clock: str = "virtual",
        profile: str = "msmq-4.0",
        seed: int = 0,
        parts: Parts | None = None,
    ) -> None:
        """Begin with none open. parts: in the place of those that the faults make."""
        if clock not in ("virtual", "real"):
            raise ValueError(f"there is no clock {clock!r}: choose virtual or real")
        if profile not in PROFILES:
            raise ValueError(f"there is no profile {profile!r}: choose one of {', '.join(PROFILES)}")
        self._parts = _parts(faults) if parts is None else parts
        self.readings = self._parts.readings
        self._profile = profile
        self._clock = clock
        self.virtual = clock == "virtual"
        self._open: dict[tuple[str, str], Manager] = {}
        self.lock = threading.RLock()
        self.scheduler = Scheduler(self.lock, seed)
        self.meanwhile: Callable[[], None] = self.scheduler.hole
        self.races = self._parts.races
        self.outbox: list[tuple[Reply, Result]] = []

    def get(self, folder: Path, namespace: str) -> Manager:
        """Return the manager of a namespace, and open it at the first call. Raises StoreError."""
        key = (str(folder), namespace)
        if key not in self._open:
            clock = Clock() if self._clock == "virtual" else RealClock()
            manager = Manager(folder, namespace, profile=self._profile, clock=clock, parts=self._parts)
            manager.meanwhile = lambda: self.meanwhile()
            self._open[key] = manager
        return self._open[key]

    def all(self) -> list[Manager]:
        """Every open manager."""
        return list(self._open.values())

    def deliver(self) -> None:
        """Write the changes to disk, then send the answers. Raises StoreError before any answer if that fails."""
        try:
            for manager in self._open.values():
                manager.store.flush()
        except StoreError:
            self.outbox.clear()
            raise
        while self.outbox:
            answers, self.outbox[:] = list(self.outbox), []
            for reply, result in answers:
                reply(result)

    def close(self) -> None:
        """Close every manager."""
        for manager in self._open.values():
            manager.close()
        self._open.clear()


_OWN: dict[str, Callable[[EmbeddedDriver, dict[str, Json]], Result]] = {
    "hello": EmbeddedDriver.hello,
    "attach": EmbeddedDriver.attach,
    "stop": EmbeddedDriver.stop,
}

_CHUNK = 1 << 16


class ArrivingLines:
    """The lines of a descriptor. too_long: true after a line longer than `longest` bytes, which ends them."""

    def __init__(self, descriptor: int, longest: int) -> None:
        self._descriptor = descriptor
        self._longest = longest
        self._lines: list[bytes] = []  # the next one last
        self._rest = b""
        self._ended = False
        self.too_long = False

    def next(self, within_s: float | None = None) -> bytes:
        """Return the next line; empty at the end, or if a time (in seconds) is given and passes without a line."""
        while not self._lines:
            if self._ended:
                line, self._rest = self._rest, b""
                return line
            if within_s is not None and not select.select([self._descriptor], [], [], within_s)[0]:
                return b""
            self._read()
        return self._lines.pop()

    def _read(self) -> None:
        chunk = os.read(self._descriptor, _CHUNK)
        if not chunk:
            self._ended = True
            return
        if b"\n" not in chunk and len(self._rest) < self._longest:
            self._rest += chunk
            return
        lines = (self._rest + chunk).split(b"\n")
        self._rest = lines.pop()
        self._lines = [line + b"\n" for line in reversed(lines)]
        if any(len(line) > self._longest + 1 for line in self._lines) or len(self._rest) > self._longest:
            self._ended = self.too_long = True
            self._lines, self._rest = [], b""


Json = Any
MAX_LINE = 16 << 20  # bytes; a packet of 4 MiB in base64 is 6 MiB
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
_OPENED = {"queues.open": "queue", "transactions.begin": "transaction"}


class Session:
    """One connection: its input and output lines, and the handles to release at its end."""

    def __init__(self, driver: EmbeddedDriver, write: Callable[[bytes], None]) -> None:
        self.driver = driver
        self._write = write
        self._open: dict[str, str] = {}  # handle to the method that opened it
        driver.on_event = self._event

    def line(self, line: bytes) -> None:
        """Perform the request of one line."""
        if not line.strip():
            return
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            self._error(None, PARSE_ERROR, "the line is not JSON")
            return
        identifier = request.get("id") if isinstance(request, dict) else None
        if (
            not isinstance(request, dict)
            or request.get("jsonrpc") != "2.0"
            or type(identifier) is not int
            or not isinstance(request.get("method"), str)
            or not isinstance(request.get("params", {}), dict)
        ):
            self._error(identifier if type(identifier) is int else None, INVALID_REQUEST, "not a JSON-RPC 2.0 request")
            return
        self._perform(identifier, request["method"], request.get("params", {}))

    def _perform(self, identifier: int, method: str, params: dict[str, Json]) -> None:
        def reply(result: dict[str, Json]) -> None:
            opened = result.get(_OPENED.get(method, ""))
            if opened is not None:
                self._open[opened] = method
            self._send({"jsonrpc": "2.0", "id": identifier, "result": result})

        def pending() -> None:
            self._send({"jsonrpc": "2.0", "method": "pending", "params": {"id": identifier}})

        try:
            self.driver.handle(method, params, reply, pending, request=identifier)
        except UnknownMethod:
            self._error(identifier, METHOD_NOT_FOUND, f"this driver does not offer {method[:80]}")
        except BadParams as wrong:
            self._error(identifier, INVALID_PARAMS, str(wrong))
        except StoreError as unusable:
            self._error(identifier, INTERNAL_ERROR, str(unusable))
            if method not in ("hello", "attach"):  # the state in memory is no longer the durable one
                print(f"embedded: {unusable}", file=sys.stderr)
                self.driver.stopped = True

    def _event(self, event: dict[str, Json]) -> None:
        self._send({"jsonrpc": "2.0", "method": "event", "params": event})

    def gone(self) -> None:
        """End the connection: close its handles and undo its transactions."""
        self._write = lambda line: None
        for handle, method in reversed(self._open.items()):
            undo = "queues.close" if method == "queues.open" else "transactions.abort"
            name = "queue" if method == "queues.open" else "transaction"
            self.driver.handle(undo, {name: handle}, lambda result: None)

    def _error(self, identifier: int | None, code: int, text: str) -> None:
        self._send({"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": text}})

    def _send(self, message: dict[str, Json]) -> None:
        self._write(json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n")


def serve_stdio(driver: EmbeddedDriver, source: BinaryIO, sink: BinaryIO, *, real_clock: bool) -> None:
    """Serve until `stop` or the end of input."""

    def write(line: bytes) -> None:
        sink.write(line)
        sink.flush()

    session = Session(driver, write)
    with contextlib.suppress(BrokenPipeError):
        if real_clock:
            lines: queue.Queue[tuple[Session, bytes | None]] = queue.Queue(maxsize=1000)
            threading.Thread(target=_read_lines, args=(session, source, lines), daemon=True).start()
            _loop(lines, lambda: [driver], ends_with=session)
        else:
            arrived = ArrivingLines(source.fileno(), MAX_LINE)
            while not driver.stopped and (line := _next(driver, arrived)):
                session.line(line)
            if arrived.too_long:
                print("embedded: a line longer than 16 MiB was sent; ending", file=sys.stderr)
    driver.close()


def _next(driver: EmbeddedDriver, arrived: ArrivingLines) -> bytes:
    """Return the next line, empty at the end. While none comes, resume requests that let others go first."""
    while (patience_s := driver.patience_s()) is not None:
        if line := arrived.next(within_s=patience_s):
            return line
        driver.while_idle()
    return arrived.next()


def serve_tcp(make: Callable[[], EmbeddedDriver], managers: Managers, listener: socket.socket) -> None:
    """Serve every connection until one says `stop`. Connections of one namespace share its queue manager."""
    lines: queue.Queue[tuple[Session, bytes | None]] = queue.Queue(maxsize=1000)
    drivers: list[EmbeddedDriver] = []

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            driver = make()
            drivers.append(driver)
            session = Session(driver, _writer(connection))
            reader = connection.makefile("rb")
            threading.Thread(target=_read_lines, args=(session, reader, lines), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    _loop(lines, lambda: drivers, ends_with=None)
    listener.close()
    managers.close()


def _writer(connection: socket.socket) -> Callable[[bytes], None]:
    def write(line: bytes) -> None:
        with contextlib.suppress(OSError):  # the peer is gone: the reader thread informs the session
            connection.sendall(line)

    return write


def _read_lines(session: Session, source: BinaryIO, lines: queue.Queue[tuple[Session, bytes | None]]) -> None:
    """Put the lines of a connection in the queue, and None at its end or when a line is too long."""
    try:
        while (line := source.readline(MAX_LINE + 1)) and len(line) <= MAX_LINE:
            lines.put((session, line))
    except (OSError, ValueError):
        pass  # a broken connection counts as its end
    lines.put((session, None))


def _loop(
    lines: queue.Queue[tuple[Session, bytes | None]],
    drivers: Callable[[], list[EmbeddedDriver]],
    *,
    ends_with: Session | None,
) -> None:
    """Perform requests as they arrive and timers as they fall due, until a driver stops or `ends_with` ends."""
    while True:
        present = list(drivers())
        due = [at for at in (driver.next_due_ms() for driver in present) if at is not None]
        waits = [max(0.0, (min(due) - time.time_ns() // 1_000_000) / 1000), 60.0] if due else []
        waits += [each for each in (driver.patience_s() for driver in present) if each is not None]
        try:
            arrived = lines.get(timeout=min(waits, default=None))
        except queue.Empty:
            arrived = None
            for driver in present:
                driver.while_idle()
        for driver in present:
            driver.run_due()
        if arrived is None:
            continue
        session, line = arrived
        if line is None:
            if session is ends_with:
                return
            session.gone()
            continue
        session.line(line)
        if session.driver.stopped:
            return
