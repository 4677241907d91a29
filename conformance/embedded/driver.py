"""The embedded queue manager as a driver: it performs methods of the adapter protocol and returns results."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import conformance
from conformance.embedded.clock import Clock, RealClock
from conformance.embedded.entities import Json, MqError, Result
from conformance.embedded.manager import Manager, Parts
from conformance.embedded.methods import LATER, METHODS, BadParams, check
from conformance.embedded.readings import READINGS
from conformance.embedded.receiving import Caller
from conformance.embedded.scheduler import Scheduler
from conformance.embedded.store import StoreError

PROTOCOLS = ("1.2", "1.1", "1.0")  # the preferred one first
SINCE = {"outgoing": "1.1", "management": "1.2", "objects": "1.2"}  # facets that older versions lack
METHODS_SINCE = {"directory": "1.2"}  # methods that older versions lack
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
        self, method: str, params: dict[str, Json], reply: Reply, pending: Callable[[], None], request: Json
    ) -> None:
        outbox = self._managers.outbox
        self._requests += 1
        number = self._requests if request is None else request
        caller = Caller(self, number, lambda result: outbox.append((reply, result)), pending)
        result: Result | None
        try:
            result = _OWN[method](self, params) if method in _OWN else METHODS[method](self.manager, params, caller)
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
