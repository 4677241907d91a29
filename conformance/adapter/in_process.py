"""A driver as an object in the harness's process (`--in-process`), for debugging and speed; it cannot really be killed.

A driver class offers `handle(method, params, reply, pending)`; see `Driver`. The same classes run in a child process
through `conformance.adapter.host`.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import queue
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, cast, runtime_checkable

from conformance.adapter.errors import ConnectorError, DriverUnusable
from conformance.adapter.lines import LinkClosed

_CANCEL = "messages.cancel"
_METHOD_NOT_FOUND = -32601  # JSON-RPC 2.0, 5.1
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
                error = {"code": _METHOD_NOT_FOUND, "message": f"there is no method {method}"}
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
