"""The client a conformance test sees: a driver that crashes, hangs or lies ends the test, not the run.

Hypothesis catches every `Exception` and would run a crashing example dozens of times to shrink it, spending the restart
budget on it. `DriverGone` is therefore no `Exception`: it passes through and the story so far is kept as it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from conformance.adapter.client import Call, Client, Event, Result
    from conformance.adapter.errors import DriverFault
    from conformance.suites.taping import Tape

T = TypeVar("T")


class DriverGone(BaseException):
    """The driver crashed, hung or broke the protocol while a test ran. `fault` says which."""

    def __init__(self, fault: DriverFault, method: str) -> None:
        self.fault = fault
        self.method = method
        super().__init__(fault.sentence)


def refusals() -> tuple[type[BaseException], ...]:
    """What a GuardedClient raises when the implementation's API cannot be asked for something: nothing was done."""
    import pytest

    from conformance.adapter.errors import NotAccepted

    return (NotAccepted, pytest.skip.Exception)


class GuardedCall:
    """An outstanding call whose driver faults end the test."""

    def __init__(self, call: Call, owner: GuardedClient) -> None:
        self._call = call
        self._owner = owner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def result(self, within_ms: int | None = None) -> Result:
        """See `conformance.adapter.client.Call.result`."""
        return self._owner.guarded(self._call.method, lambda: self._call.result(within_ms))


class GuardedClient:
    """A Client for one test. After a driver fault every further call in this test raises the same DriverGone."""

    def __init__(self, client: Client, *, skips: bool = False, tape: Tape | None = None) -> None:
        """skips: a call that gives the driver what it does not accept skips the test; else it raises NotAccepted.

        tape: where what is said is noted.
        """
        self._client = client
        self._gone: DriverGone | None = None
        self._skips = skips
        self._tape = tape

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def guarded(self, method: str, act: Callable[[], T]) -> T:
        """Run `act`, turning a DriverFault into DriverGone."""
        from conformance.adapter.errors import DriverFault, NotAccepted

        if self._gone is not None:
            raise self._gone
        try:
            result = act()
            if self._tape is not None:
                self._tape.settle()
            return result
        except DriverFault as fault:
            self._gone = DriverGone(fault, method)
            raise self._gone from fault
        except NotAccepted as lacking:
            if not self._skips:
                raise
            import pytest

            pytest.skip(f"not offered by the driver: {lacking.what}")

    def need(self, kind: str, *names: str) -> None:
        """See `conformance.adapter.client.Client.need`."""
        self.guarded("need", lambda: self._client.need(kind, *names))

    def call(self, method: str, /, **params: Any) -> Result:
        """See `conformance.adapter.client.Client.call`."""
        return self._taped("call", method, params, lambda: self._client.call(method, **params))

    def start(self, method: str, /, **params: Any) -> GuardedCall:
        """See `conformance.adapter.client.Client.start`."""
        call = self._taped("start", method, params, lambda: self._client.start(method, **params))
        if self._tape is not None:
            self._tape.started(call)
        return GuardedCall(call, self)

    def wait_blocked_or_done(self, call: GuardedCall, within_ms: int) -> bool:
        """See `conformance.adapter.client.Client.wait_blocked_or_done`."""
        return self.guarded(call.method, lambda: self._client.wait_blocked_or_done(call._call, within_ms))

    def wait_done(self, call: GuardedCall, within_ms: int) -> bool:
        """See `conformance.adapter.client.Client.wait_done`."""
        return self.guarded(call.method, lambda: self._client.wait_done(call._call, within_ms))

    def poll(self, within_ms: int = 0) -> None:
        """See `conformance.adapter.client.Client.poll`."""
        self.guarded("poll", lambda: self._client.poll(within_ms))

    def events(self) -> list[Event]:
        """See `conformance.adapter.client.Client.events`."""
        return self.guarded("events", self._client.events)

    def restart(self, *, kill: bool) -> bool:
        """See `conformance.adapter.client.Client.restart`."""
        return self._taped("restart", "", {}, lambda: self._client.restart(kill=kill))

    def unique(self) -> str:
        """A word that no earlier example has used, for names where nothing can be reset."""
        return self._taped("unique", "", {}, lambda: f"{time.monotonic_ns():x}")

    def _taped(self, what: str, method: str, params: dict[str, Any], act: Callable[[], T]) -> T:
        """As `guarded`, noted on the tape."""
        tape = self._tape
        if tape is None:
            return self.guarded(method or what, act)
        return self.guarded(method or what, lambda: tape.taking(what, method, params, act))
