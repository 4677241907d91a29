"""The client that suites call: one implementation, over all processes that its driver needs.

A client belongs to one thread. `call` waits for the answer; `start` does not, so a read can wait while other calls run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from conformance.adapter import protocol
from conformance.adapter.errors import DriverUnusable, NotAccepted, NotOffered
from conformance.adapter.host import Driver, InProcessLink
from conformance.adapter.process import Launcher, Supervisor
from conformance.adapter.protocol import Hello
from conformance.adapter.session import Event, Failure, PendingCall, Result
from conformance.verdict import Json

if TYPE_CHECKING:
    from conformance.adapter.directory_server import DirectoryServer, Handlers

__all__ = ["Client", "Event", "Failure", "Hello", "PendingCall", "Result"]

DEADLINE_MS = 10_000
HELLO_MS = 10_000
RESTART_BUDGET = 100


class RealTime:
    """The clock of this machine."""

    monotonic = staticmethod(time.monotonic)
    sleep = staticmethod(time.sleep)


class Client:
    """An implementation under test, made by `connectors.connect`. Use it as a context manager, or `close` it."""

    def __init__(
        self,
        launcher: Launcher,
        *,
        state_dir: Path,
        deadline_ms: int = DEADLINE_MS,
        hello_ms: int = HELLO_MS,
        restart_budget: int = RESTART_BUDGET,
        namespace: str | None = None,
    ) -> None:
        """Launch the driver and exchange `hello`. Raises DriverUnusable when no session can be opened."""
        self.time = RealTime()
        self._deadline_ms = deadline_ms
        self._supervisor = Supervisor(
            launcher,
            state_dir=state_dir,
            deadline_ms=deadline_ms,
            hello_ms=hello_ms,
            restart_budget=restart_budget,
            namespace=namespace,
        )
        self.on_call: Callable[[str, Mapping[str, Json]], None] | None = None
        """Called with the method and the parameters of each call that is sent."""
        self.directory_handlers: Handlers = {}
        """How the directory speaks other protocols than JSON-RPC."""
        self._directory: DirectoryServer | None = None
        self._offered: dict[str, bool] = {}
        self._offered_epoch = 0
        self._supervisor.session()

    @property
    def hello(self) -> Hello:
        """The driver's answer to `hello` in its latest epoch."""
        hello = self._supervisor.hello
        if hello is None:
            raise DriverUnusable("the driver has not said hello")
        return hello

    @property
    def epoch(self) -> int:
        """Number of the driver process (or connection), from 1. Handles of older epochs are invalid in newer ones."""
        return self._supervisor.epoch

    @property
    def ended(self) -> int:
        """Number of driver processes that ended on this state folder before the one that answers the next call."""
        return self._supervisor.epoch - (self._supervisor._session is not None)

    @property
    def keeps_state(self) -> bool:
        """True if `restart` finds the durable state again. Over TCP it does not: it gives a new namespace."""
        return self._supervisor.session().link.keeps_state

    @property
    def in_process_driver(self) -> Driver | None:
        """The driver object if it runs in this process; None for a child process or a connection."""
        link = self._supervisor.session().link
        return link.driver if isinstance(link, InProcessLink) else None

    def offers(self, method: str) -> bool:
        """True if the driver declares the method of this full name. Raises ValueError for an unknown name."""
        return self.hello.offers(method)

    def need(self, kind: str, *names: str) -> None:
        """Raise NotAccepted unless the driver accepts all of these. kind: as in `accepts` of hello."""
        for name in names:
            if not self.hello.takes(kind, name):
                raise NotAccepted(f"{name} ({kind.replace('_', ' ')})", f"the driver {self.hello.name}")

    def unique(self) -> str:
        """A word that no earlier example has used, for names where nothing can be reset."""
        return f"{time.monotonic_ns():x}"

    def call(self, method: str, /, **params: Json) -> Result:
        """Send a request and wait for its answer.

        Raises DriverFault when the driver breaks (the next call starts a new epoch), DriverUnusable when no session can
        be opened any more, NotOffered, NotAccepted, and ValueError when the parameters do not fit the schema (a mistake
        of the suite).
        """
        return self.start(method, **params).result()

    def start(self, method: str, /, **params: Json) -> PendingCall:
        """Send a request without waiting for its answer. Raises as `call` does."""
        session = self._supervisor.session()
        if session.epoch != self._offered_epoch:
            self._offered = {name: self.hello.offers(name) for name in protocol.methods()}
            self._offered_epoch = session.epoch
        if not self._offered.get(method, False):
            protocol.method(method)
            raise NotOffered(method, session.who)
        refused = self.hello.refuses(method, params)
        if refused is not None:
            raise NotAccepted(refused, session.who)
        deadline_ms = params.get("deadline_ms", -1)
        if deadline_ms == -1:
            deadline_ms = self._deadline(params)
            if deadline_ms is not None:
                params["deadline_ms"] = deadline_ms
        elif deadline_ms is None:
            del params["deadline_ms"]
        protocol.validator(method, "params")(params)
        if self.on_call is not None:
            self.on_call(method, params)
        return session.start(method, params, deadline_ms)

    def wait_blocked_or_done(self, call: PendingCall, within_ms: int) -> bool:
        """Wait until the call blocks or is answered. Returns False when `within_ms` passed, which is not a fault."""
        return self._wait(call, within_ms, or_blocked=True)

    def wait_done(self, call: PendingCall, within_ms: int) -> bool:
        """Wait until the call is answered. Returns False when `within_ms` passed, which is not a fault (no kill).

        A driver may answer a send before the waiting read that it satisfies: allow `hello.settle_ms` and a little more.
        """
        return self._wait(call, within_ms, or_blocked=False)

    def poll(self, within_ms: int = 0) -> None:
        """Process the driver's messages for up to `within_ms`; this marks calls as blocked or done."""
        until = time.monotonic() + within_ms / 1000
        session = self._supervisor.session()
        while session.pump(until):
            pass

    def events(self) -> list[Event]:
        """Return the object events since the last call of this method, in order."""
        return self._supervisor.session().taken_events()

    def told_events(self, within_ms: int = 0) -> list[dict[str, Any]]:
        """Return the object events since the last call, in order, after a `poll`, each as the protocol writes it."""
        self.poll(within_ms)
        return [{"object": one.object, "name": one.name, "arguments": list(one.arguments)} for one in self.events()]

    def directory(self, do: str, /, **params: Json) -> dict[str, Any]:
        """Use the directory that the harness holds for this driver: see `DirectoryServer.desk`."""
        if self._directory is None:
            from conformance.adapter.directory_server import DirectoryServer

            self._directory = DirectoryServer(self.directory_handlers)
        if do == "open":
            params = {"protocol": self.hello.directory_protocols[0], **params}
        done: dict[str, Any] = self._directory.desk(do, **params)
        return done

    def probe(self, method: str, params: dict[str, Json] | None = None) -> dict[str, Any]:
        """Send a method that the protocol lacks. Returns the JSON-RPC error that the driver must answer with."""
        session = self._supervisor.session()
        error: dict[str, Any] = session.start(method, params or {}, self._deadline_ms, probe=True)._wait(None)
        return error

    def restart(self, *, kill: bool) -> bool:
        """End the driver (kill its process group, or stop it gracefully) and launch it again on the same state.

        Calls in flight become indeterminate. Returns True if the driver ended as requested. Raises DriverFault or
        DriverUnusable.
        """
        return self._supervisor.restart(kill=kill)

    def close(self) -> bool:
        """End the session: `stop`, then the end of input, then a kill. Returns True if the driver ended by itself."""
        if self._directory is not None:
            self._directory.close()
        return self._supervisor.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @staticmethod
    def _wait(call: PendingCall, within_ms: int, *, or_blocked: bool) -> bool:
        until = time.monotonic() + within_ms / 1000
        while not (call.done or (or_blocked and call.blocked)):
            if call.indeterminate or not call._session.pump(until, call):
                return False
        return True

    def _deadline(self, params: dict[str, Json]) -> int | None:
        """Return the deadline of a call. One that waits may take its time-out plus the usual deadline.

        A read without time-out has no deadline. Nor has a read on a virtual clock: it ends when the harness advances
        the clock, which may be much later.
        """
        wait = params.get("timeout_ms", params.get("wait_ms", 0))
        if not wait:
            return self._deadline_ms
        if wait == protocol.INFINITE or self.hello.clock == "virtual":
            return None
        return min(self._deadline_ms + int(wait), protocol.INFINITE)
