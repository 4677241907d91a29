"""JSON-RPC 2.0 for the embedded driver: one object a line, UTF-8, over stdio or TCP."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, BinaryIO

from conformance.embedded.driver import EmbeddedDriver, Managers, UnknownMethod
from conformance.embedded.methods import BadParams
from conformance.embedded.store import StoreError

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
