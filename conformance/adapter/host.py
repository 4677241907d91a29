"""A class as a driver: in a process of its own (`python -m conformance.adapter.host pkg.mod:Class`), or in ours."""

from __future__ import annotations

import gc
import importlib
import inspect
import json
import os
import queue
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, cast, runtime_checkable

from conformance.adapter.errors import ConnectorError, DriverUnusable
from conformance.adapter.lines import LinkClosed

_CANCEL = "messages.cancel"
_NO_METHOD = -32601  # JSON-RPC 2.0, 5.1
_LOOK_S = 0.02  # who comes back sooner only looks, and may have more to ask


class MethodNotFound(Exception):
    """Raised by `Driver.handle` for a method that the driver does not have, in place of a reply."""


class Driver(Protocol):
    """The interface of a class of the `python:pkg.mod:Class` connector: made as `Class(state_dir)`, called by `handle`.

    params of messages.cancel: `request` counts the calls of `handle`, the first (hello) being 1.
    reply: call it exactly once per request with the result object, now or during a later `handle`.
    pending: call it at most once, before `reply`, when the request waits.
    """

    def handle(
        self, method: str, params: dict[str, Any], reply: Callable[[dict[str, Any]], None], pending: Callable[[], None]
    ) -> None: ...


@runtime_checkable
class Cooperative(Protocol):
    """A driver that does some of its work only while nobody has anything to ask."""

    def while_idle(self, waits: bool) -> bool:
        """Do a piece of the work; False when none is done.

        waits: nothing more is asked before an answer comes, so what there is must be done; else it may be left.
        """


@runtime_checkable
class Telling(Protocol):
    """A driver whose objects have events. on_event: whoever reads the driver sets it, and is called with each event."""

    on_event: Callable[[dict[str, Any]], None]


def tell_events(driver: object, tell: Callable[[dict[str, Any]], None]) -> None:
    """Have a driver whose objects have events tell of them."""
    if isinstance(driver, Telling):
        driver.on_event = tell


def counted(method: str, params: dict[str, Any], first: int) -> dict[str, Any]:
    """Return the parameters with the id of a request, if they name one, replaced by its number in this driver's life.

    A driver object sees no ids, and ids continue over a restart. first: the id of its first request.
    """
    request = params.get("request")
    return {**params, "request": request - first + 1} if method == _CANCEL and type(request) is int else params


def load_class(spec: str) -> Callable[..., Driver]:
    """Load the class `pkg.mod:Class`; the working folder is searched last. Raises ConnectorError."""
    module_name, _, class_name = spec.partition(":")
    if not module_name or not class_name:
        raise ConnectorError(f"{spec!r} does not name a class: write it as pkg.mod:Class")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as missing:
        raise ConnectorError(
            f"there is no module {missing.name}, which {spec} needs: check the name or PYTHONPATH"
        ) from None
    found: Any = getattr(module, class_name, None)
    if not inspect.isclass(found):
        raise ConnectorError(f"the module {module_name} has no class {class_name}")
    if not callable(getattr(found, "handle", None)):
        raise ConnectorError(f"the class {spec} has no method handle(method, params, reply, pending)")
    return cast(Callable[..., Driver], found)


class _Foreign:
    """Context in which code of the driver runs: an exception is the driver's crash, and is kept for the report."""

    def __init__(self) -> None:
        self.crash = ""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False  # Interrupts come from the user.
        self.crash = "".join(traceback.format_exception(error)).rstrip()
        return True


class InProcessLink:
    """See `lines.Link`. A kill drops the object without calling it."""

    keeps_state = True
    stops = True
    taken = 0

    def __init__(self, make: Callable[..., Driver], arguments: tuple[Any, ...], state_dir: Path, who: str) -> None:
        """make: called with the state folder and `arguments`."""
        self._inbox: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._driver: Driver | None = None
        self._foreign = _Foreign()
        self._first = 0
        with self._foreign:
            self._driver = make(state_dir, *arguments)
        self._works: Cooperative | None = self._driver if isinstance(self._driver, Cooperative) else None
        tell_events(self._driver, self._event)
        if self._driver is None:
            raise DriverUnusable(f"{who} could not be made: {self._foreign.crash.splitlines()[-1]}")

    def _event(self, event: dict[str, Any]) -> None:
        self._inbox.put({"jsonrpc": "2.0", "method": "event", "params": event})

    @property
    def driver(self) -> Driver | None:
        """The driver object; None after a kill."""
        return self._driver

    def send(self, number: int, method: str, params: dict[str, Any], until: float) -> None:
        driver = self._driver
        if driver is None:
            raise LinkClosed
        self._first = self._first or number
        put = self._inbox.put

        def reply(result: dict[str, Any]) -> None:
            put({"jsonrpc": "2.0", "id": number, "result": result})

        def pending() -> None:
            put({"jsonrpc": "2.0", "method": "pending", "params": {"id": number}})

        with self._foreign:
            try:
                driver.handle(method, counted(method, params, self._first), reply, pending)
            except MethodNotFound:
                error = {"code": _NO_METHOD, "message": f"there is no method {method}"}
                put({"jsonrpc": "2.0", "id": number, "error": error})
        if self._foreign.crash:
            self._driver = self._works = None
            raise LinkClosed

    def receive(self, until: float) -> Any:
        waits = until - time.monotonic() > _LOOK_S
        while self._inbox.empty() and self._worked(waits):
            pass
        try:
            return self._inbox.get_nowait()
        except queue.Empty:
            pass
        if self._driver is None:
            raise LinkClosed
        try:
            return self._inbox.get(timeout=max(until - time.monotonic(), 0))
        except queue.Empty:
            return None

    def _worked(self, waits: bool) -> bool:
        """Return True if the driver did a piece of the work it left for later."""
        works = self._works
        if works is None:
            return False
        with self._foreign:
            return works.while_idle(waits)
        self._driver = self._works = None
        return False

    def kill(self) -> None:
        if self._driver is not None:
            while self._worked(waits=True):  # A request in progress ends, so that no thread writes under a successor.
                pass
            self._driver = self._works = None
            gc.collect()  # Close the files it held open, so that its successor can use them.

    def finish(self, within: float) -> bool:
        close = getattr(self._driver, "close", None)
        if callable(close):
            with self._foreign:
                close()
        self.kill()
        return True

    def last_words(self) -> tuple[int | None, str]:
        return None, self._foreign.crash


_PARSE_ERROR, _INVALID_REQUEST, _METHOD_NOT_FOUND, _INVALID_PARAMS = -32700, -32600, -32601, -32602  # JSON-RPC 2.0, 5.1

_encode = json.JSONEncoder(separators=(",", ":")).encode


class Host:
    """Passes requests to the driver and writes its replies. The driver is made at `hello`, which names its folder."""

    def __init__(self, make: Callable[..., Driver], write: Callable[[bytes], None]) -> None:
        self._make = make
        self._write = write
        self._driver: Driver | None = None
        self._offered: set[str] = {"hello"}
        self._first = 0
        self.stopped = False

    def _event(self, event: dict[str, Any]) -> None:
        self._write(f'{{"jsonrpc":"2.0","method":"event","params":{_encode(event)}}}\n'.encode())

    def line(self, line: bytes) -> None:
        """Process one line of input."""
        try:
            request = json.loads(line)
        except ValueError:
            self._error(None, _PARSE_ERROR, "not JSON")
            return
        if (
            not isinstance(request, dict)
            or type(request.get("id")) is not int
            or not isinstance(request.get("method"), str)
        ):
            self._error(None, _INVALID_REQUEST, "not a request")
            return
        number, method, params = request["id"], request["method"], request.get("params", {})
        if method not in self._offered:
            self._first += bool(self._first)  # The driver does not count calls that it does not get.
            self._error(number, _METHOD_NOT_FOUND, f"no method {method}")
            return
        if not isinstance(params, dict):
            self._error(number, _INVALID_PARAMS, "params is not an object")
            return
        if method == "hello":
            if not isinstance(params.get("state_dir"), str):
                self._error(number, _INVALID_PARAMS, "hello names no state_dir")
                return
            if self._driver is None:
                self._driver = self._make(Path(params["state_dir"]))
                tell_events(self._driver, self._event)
        driver = self._driver
        if driver is None:
            self._error(number, _INVALID_REQUEST, "hello comes first")
            return

        def reply(result: dict[str, Any]) -> None:
            if method == "hello":
                self._learn(result)
            elif method == "stop":
                self.stopped = True
            self._write(f'{{"jsonrpc":"2.0","id":{number},"result":{_encode(result)}}}\n'.encode())

        def pending() -> None:
            self._write(f'{{"jsonrpc":"2.0","method":"pending","params":{{"id":{number}}}}}\n'.encode())

        self._first = self._first or number
        driver.handle(method, counted(method, params, self._first), reply, pending)

    def _learn(self, hello: dict[str, Any]) -> None:
        facets = hello.get("facets")
        if isinstance(facets, dict):
            for facet, names in facets.items():
                self._offered.update(name if facet == "manager" else f"{facet}.{name}" for name in names)

    def _error(self, number: int | None, code: int, text: str) -> None:
        self._write(
            _encode({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}).encode() + b"\n"
        )


def serve(make: Callable[..., Driver], source: IO[bytes], write: Callable[[bytes], None]) -> None:
    """Serve requests until `stop` is answered or the input ends."""
    host = Host(make, write)
    while not host.stopped:
        line = source.readline()
        if not line.endswith(b"\n"):
            return  # The end of input, or half a line of a harness that died: nobody waits for an answer.
        host.line(line)


def main(arguments: list[str]) -> int:
    """Host the class. Exit status 2, with one sentence on stderr, if it cannot be loaded."""
    if len(arguments) != 1:
        print("usage: python -m conformance.adapter.host pkg.mod:Class", file=sys.stderr)
        return 2
    protocol_out = os.dup(1)
    os.dup2(2, 1)  # Output of the class goes to the log.
    try:
        make = load_class(arguments[0])
    except ConnectorError as wrong:
        print(wrong.sentence, file=sys.stderr)
        return 2

    def write(data: bytes) -> None:
        while data:
            data = data[os.write(protocol_out, data) :]

    try:
        serve(make, sys.stdin.buffer, write)
    except BrokenPipeError:
        return 0  # the harness is gone
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
