"""The client the suites call: one implementation, whatever process speaks for it.

A client belongs to one thread. `call` waits for its answer; `start` does not, and leaves a read open while others run.
"""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType
from typing import Any

from conformance.adapter import protocol
from conformance.adapter.errors import DriverUnusable, NotAccepted, NotOffered
from conformance.adapter.hello import Hello
from conformance.adapter.in_process import Driver, InProcessLink
from conformance.adapter.session import Call, Event, Failure, Result
from conformance.adapter.supervisor import Launcher, Supervisor
from conformance.verdict import Json

__all__ = ["Call", "Client", "Event", "Failure", "Hello", "Result"]

DEADLINE_MS = 10_000
HELLO_MS = 10_000
RESTART_BUDGET = 100


class Client:
    """An implementation under test. Made by `connectors.connect`; use it as a context manager, or `close` it."""

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
        """Launches the driver and greets it. Raises DriverUnusable when no session can be had."""
        self._deadline_ms = deadline_ms
        self._supervisor = Supervisor(
            launcher,
            state_dir=state_dir,
            deadline_ms=deadline_ms,
            hello_ms=hello_ms,
            restart_budget=restart_budget,
            namespace=namespace,
        )
        self._offered: dict[str, bool] = {}
        self._offered_epoch = 0
        self._supervisor.session()

    @property
    def hello(self) -> Hello:
        """What the driver said of itself, in its newest epoch."""
        hello = self._supervisor.hello
        if hello is None:
            raise DriverUnusable("the driver has not said hello")
        return hello

    @property
    def epoch(self) -> int:
        """Counts driver processes (or connections) from 1. Handles of an older epoch mean nothing in a newer one."""
        return self._supervisor.epoch

    @property
    def keeps_state(self) -> bool:
        """Whether `restart` finds the durable state again: not over TCP, where it gives a new namespace."""
        return self._supervisor.session().link.keeps_state

    @property
    def in_process_driver(self) -> Driver | None:
        """The driver itself, where it lives in this process; None where a process or a connection is between."""
        link = self._supervisor.session().link
        return link.driver if isinstance(link, InProcessLink) else None

    def offers(self, method: str) -> bool:
        """Whether the driver declares the method of this full name. Raises ValueError for a name that is none."""
        return self.hello.offers(method)

    def need(self, kind: str, *names: str) -> None:
        """Raise NotAccepted unless the driver takes all of these; kind: as in `accepts` of hello."""
        for name in names:
            if not self.hello.takes(kind, name):
                raise NotAccepted(f"{name} ({kind.replace('_', ' ')})", f"the driver {self.hello.name}")

    def call(self, method: str, /, **params: Json) -> Result:
        """Send a request and wait for its answer.

        Raises DriverFault when the driver breaks (the next call starts a new epoch), DriverUnusable when it can't be
        had any more, NotOffered, NotAccepted, and ValueError when the parameters are not the schema's (the suite's
        mistake).
        """
        return self.start(method, **params).result()

    def start(self, method: str, /, **params: Json) -> Call:
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
        return session.start(method, params, deadline_ms)

    def wait_blocked_or_done(self, call: Call, within_ms: int) -> bool:
        """True once the call has blocked or is answered; False when `within_ms` passed, which is no fault."""
        return self._wait(call, within_ms, or_blocked=True)

    def wait_done(self, call: Call, within_ms: int) -> bool:
        """True once the call is answered; False when `within_ms` passed, which is no fault: nobody is killed.

        A driver may answer a send before the waiting read it satisfied: allow `hello.settle_ms` and a little more.
        """
        return self._wait(call, within_ms, or_blocked=False)

    def poll(self, within_ms: int = 0) -> None:
        """Take in what the driver has said, for up to `within_ms`; marks calls blocked or done."""
        until = time.monotonic() + within_ms / 1000
        session = self._supervisor.session()
        while session.pump(until):
            pass

    def events(self) -> list[Event]:
        """The object events that came since the last time, in order."""
        session = self._supervisor.session()
        taken = list(session.events)
        session.events.clear()
        return taken

    def probe(self, method: str, params: dict[str, Json] | None = None) -> dict[str, Any]:
        """Send a method the protocol lacks and return the JSON-RPC error it must be answered with."""
        session = self._supervisor.session()
        error: dict[str, Any] = session.start(method, params or {}, self._deadline_ms, probe=True)._wait(None)
        return error

    def restart(self, *, kill: bool) -> bool:
        """End the driver (kill its process group, or stop it gracefully) and launch it again on the same state.

        Calls in flight become indeterminate. True if it ended as asked. Raises DriverFault or DriverUnusable.
        """
        return self._supervisor.restart(kill=kill)

    def close(self) -> bool:
        """End the session for good: `stop`, then the end of input, then a kill. True if it went by itself."""
        return self._supervisor.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @staticmethod
    def _wait(call: Call, within_ms: int, *, or_blocked: bool) -> bool:
        until = time.monotonic() + within_ms / 1000
        while not (call.done or (or_blocked and call.blocked)):
            if call.indeterminate or not call._session.pump(until, call):
                return False
        return True

    def _deadline(self, params: dict[str, Json]) -> int | None:
        """A waiting read may take its time-out and then the usual deadline.

        One that waits without end has no deadline, and neither has one on a virtual clock: it ends when we let time
        pass, and that may be any time later.
        """
        wait = params.get("timeout_ms", 0)
        if not wait:
            return self._deadline_ms
        if wait == protocol.INFINITE or self.hello.clock == "virtual":
            return None
        return min(self._deadline_ms + int(wait), protocol.INFINITE)
