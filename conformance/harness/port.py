"""Interface through which histories and suites talk to an implementation.

Four classes have it: the client of a driver process (`adapter.client.Client`), the client that ends a test when the
driver breaks (`harness.guarded_client.GuardedClient`), the replay of a stored example (`harness.playback.Playback`),
and a driver in this process without checks (`histories.unchecked_client.Direct`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from conformance.adapter.client import Hello, Result


class Clock(Protocol):
    """Clock of the client's caller. In a replay, sleeping takes no real time."""

    def monotonic(self) -> float:
        """Seconds from some fixed moment."""

    def sleep(self, seconds: float, /) -> None:
        """Wait for so many seconds. May raise the exception that ends a test, once the run's time is over."""


class OpenCall(Protocol):
    """A request that was sent without waiting for its answer.

    id: its number within the epoch. done: it is answered. blocked: the driver has reported that it waits.
    """

    @property
    def id(self) -> int: ...
    @property
    def method(self) -> str: ...
    @property
    def done(self) -> bool: ...
    @property
    def blocked(self) -> bool: ...

    def result(self) -> Result:
        """Wait for the answer. Raises as `Port.call`."""


class Port(Protocol):
    """One implementation. `conformance.adapter.client.Client` documents what each member does."""

    @property
    def hello(self) -> Hello:
        """The driver's hello of its newest epoch."""

    @property
    def keeps_state(self) -> bool:
        """True if the durable state survives `restart`."""

    @property
    def time(self) -> Clock:
        """The clock by which callers wait for the implementation."""

    def unique(self) -> str:
        """Return a word that no earlier example has used, for names on drivers that cannot reset."""

    def offers(self, method: str, /) -> bool:
        """Return True if the driver declares the method of this full name. Raises ValueError for an unknown name."""

    def need(self, kind: str, /, *names: str) -> None:
        """Raise NotAccepted unless the driver takes all of these; kind: as in `accepts` of hello."""

    def call(self, method: str, /, **params: Any) -> Result:
        """Send a request and wait for its answer."""

    def start(self, method: str, /, **params: Any) -> OpenCall:
        """Send a request without waiting for its answer."""

    def wait_blocked_or_done(self, call: Any, /, within_ms: int) -> bool:
        """Return True once the call has blocked or is answered. call: from `start` of the same client."""

    def wait_done(self, call: Any, /, within_ms: int) -> bool:
        """Return True once the call is answered, False after `within_ms`. call: from `start` of the same client."""

    def poll(self, within_ms: int = 0) -> None:
        """Process the driver's messages, for up to `within_ms`."""

    def told_events(self, within_ms: int = 0) -> list[dict[str, Any]]:
        """Return the events of objects since the last call of this method, in order, after a `poll`.

        Each has the members `object`, `name` and `arguments`, as the protocol writes them.
        """

    def directory(self, do: str, /, **params: Any) -> dict[str, Any]:
        """Use the harness's directory: see `adapter.directory_server.DirectoryServer.desk`."""

    def restart(self, *, kill: bool) -> bool:
        """Kill or stop the driver and launch it again on the same state. Return True if it ended as asked."""
