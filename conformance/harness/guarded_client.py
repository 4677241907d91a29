"""Client that a conformance test uses: a driver that crashes, hangs or breaks the protocol ends the test, not the run.

Hypothesis catches every `Exception` and would run a crashing example dozens of times to shrink it, which spends the
restart budget. `DriverGone` is therefore not an `Exception`: hypothesis lets it through, and the story stays as it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from conformance.adapter.client import Client, Hello, PendingCall, Result
    from conformance.adapter.errors import DriverFault
    from conformance.harness.tape import Tape

T = TypeVar("T")
OUT_OF_TIME = "the run's time budget is spent"
ENOUGH = "the run has found the number of deviations after which it was to stop"
LEFT_OUT = frozenset({OUT_OF_TIME, ENOUGH})
"""Reasons of the run as a whole for which a test is not begun or not continued."""
NOT_OFFERED = "not offered by the driver: "
"""Begins the reason of a skip for what the driver lacks."""


class DriverGone(BaseException):
    """The driver crashed, hung or broke the protocol while a test ran; `fault` is the error."""

    def __init__(self, fault: DriverFault, method: str) -> None:
        self.fault = fault
        self.method = method
        super().__init__(fault.sentence)


def leaving_out(why: str) -> BaseException:
    """Return the exception that ends a test for a reason of LEFT_OUT: not an `Exception`, and a skip for pytest."""
    import pytest

    return pytest.skip.Exception(why)


def refusals() -> tuple[type[BaseException], ...]:
    """Return the exceptions that a GuardedClient raises, with nothing sent, for what the driver does not offer."""
    import pytest

    from conformance.adapter.errors import NotAccepted

    return (NotAccepted, pytest.skip.Exception)


def lacking(error: BaseException) -> str | None:
    """Return what the driver does not offer if one of `refusals` says so; None for any other exception."""
    from conformance.adapter.errors import NotAccepted

    if isinstance(error, NotAccepted):
        return error.what
    told = getattr(error, "msg", None)
    refused = isinstance(error, refusals()) and isinstance(told, str) and told.startswith(NOT_OFFERED)
    return told.removeprefix(NOT_OFFERED) if refused and isinstance(told, str) else None


class GuardedCall:
    """An outstanding call; a driver fault in it ends the test."""

    def __init__(self, call: PendingCall, owner: GuardedClient) -> None:
        self._call = call
        self._owner = owner

    @property
    def id(self) -> int:
        """See `conformance.adapter.client.PendingCall`; so for the other members."""
        return self._call.id

    @property
    def method(self) -> str:
        """Full name of the method."""
        return self._call.method

    @property
    def done(self) -> bool:
        """True once the call is answered."""
        return self._call.done

    @property
    def blocked(self) -> bool:
        """True once the driver has reported that the call waits."""
        return self._call.blocked

    def result(self, within_ms: int | None = None) -> Result:
        """See `conformance.adapter.client.PendingCall.result`."""
        return self._owner.guarded(self._call.method, lambda: self._call.result(within_ms))


class _UntilOutOfTime:
    """Clock of a test with a time limit: a sleep beyond the limit ends at the limit, and with it the test."""

    monotonic = staticmethod(time.monotonic)

    def __init__(self, until: float, tape: Tape | None) -> None:
        self.until = until
        self._tape = tape

    def sleep(self, seconds: float) -> None:
        """Wait for so many seconds: a driver may declare waits of up to a minute for each call."""
        if self._tape is not None:
            self._tape.slept(seconds)
        left = self.until - time.monotonic()
        time.sleep(max(0.0, min(seconds, left)))
        if seconds > left:
            raise leaving_out(OUT_OF_TIME)


class GuardedClient:
    """A Client for one test. After a driver fault every further call in this test raises the same DriverGone."""

    def __init__(
        self,
        client: Client,
        *,
        skips: bool = False,
        tape: Tape | None = None,
        heard: Callable[[int], None] | None = None,
        until: float = float("inf"),
    ) -> None:
        """skips: a call with something that the driver does not accept skips the test; else it raises NotAccepted.

        tape: records calls and answers. heard: called with the size of each answer in bytes. until: the
        `time.monotonic()` after which no call is made any more.
        """
        self._client = client
        self._gone: DriverGone | None = None
        self._skips = skips
        self._tape = tape
        self._heard = heard
        self._until = until
        self.time = _UntilOutOfTime(until, tape)

    def renewed(self) -> GuardedClient:
        """Return a client for further examples of the same test, after a driver fault."""
        return GuardedClient(self._client, skips=self._skips, tape=self._tape, heard=self._heard, until=self._until)

    def taped(self, tape: Tape) -> GuardedClient:
        """Return a client of the same driver with another tape."""
        return GuardedClient(self._client, skips=self._skips, tape=tape, until=self._until)

    def stop(self) -> None:
        """Make no call any more, whatever the thread that this client belongs to is doing."""
        self._until = self.time.until = 0.0

    @property
    def hello(self) -> Hello:
        """See `conformance.adapter.client.Client.hello`."""
        return self._client.hello

    @property
    def in_process(self) -> bool:
        """True if the driver is an object of this process, which starts again in no time."""
        return self._client.in_process_driver is not None

    @property
    def keeps_state(self) -> bool:
        """See `conformance.adapter.client.Client.keeps_state`."""
        return self._client.keeps_state

    def offers(self, method: str) -> bool:
        """See `conformance.adapter.client.Client.offers`."""
        return self._client.offers(method)

    def guarded(self, method: str, act: Callable[[], T]) -> T:
        """Run `act`, turning a DriverFault into DriverGone."""
        from conformance.adapter.errors import DriverFault, NotAccepted

        if self._gone is not None:
            raise self._gone
        if time.monotonic() > self._until:
            raise leaving_out(OUT_OF_TIME)
        try:
            result = act()
            if self._heard is not None and (size := getattr(result, "size", 0)):
                self._heard(size)
            if self._tape is not None:
                self._tape.settle()
            return result
        except DriverFault as fault:
            self._gone = DriverGone(fault, method)
            raise self._gone from fault
        except NotAccepted as refused:
            if not self._skips:
                raise
            import pytest

            pytest.skip(f"{NOT_OFFERED}{refused.what}")

    def need(self, kind: str, *names: str) -> None:
        """See `conformance.adapter.client.Client.need`."""
        self.guarded("need", lambda: self._client.need(kind, *names))

    def call(self, method: str, /, **params: Any) -> Result:
        """See `conformance.adapter.client.Client.call`. A wait beyond the end of the run's time is not begun."""
        self._fits(params.get("timeout_ms"))
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
        self._fits(within_ms)
        return self.guarded(call.method, lambda: self._client.wait_done(call._call, within_ms))

    def poll(self, within_ms: int = 0) -> None:
        """See `conformance.adapter.client.Client.poll`."""
        self.guarded("poll", lambda: self._client.poll(within_ms))

    def restart(self, *, kill: bool) -> bool:
        """See `conformance.adapter.client.Client.restart`."""
        return self._taped("restart", "", {}, lambda: self._client.restart(kill=kill))

    def unique(self) -> str:
        """See `conformance.adapter.client.Client.unique`."""
        return self._taped("unique", "", {}, self._client.unique)

    def told_events(self, within_ms: int = 0) -> list[dict[str, Any]]:
        """See `conformance.harness.port.Port.told_events`."""
        return self._taped("events", "", {}, lambda: self._client.told_events(within_ms))

    def directory(self, do: str, /, **params: Any) -> dict[str, Any]:
        """See `conformance.harness.port.Port.directory`."""
        return self._taped("directory", do, params, lambda: self._client.directory(do, **params))

    def _fits(self, wait_ms: object) -> None:
        """Leave the test out where a wait would last beyond the run's time: a driver may declare up to a minute."""
        from conformance.adapter.protocol import INFINITE

        left_ms = (self._until - time.monotonic()) * 1000
        late = isinstance(wait_ms, int) and left_ms < wait_ms < INFINITE
        if late and self._gone is None and self.hello.clock != "virtual":
            raise leaving_out(OUT_OF_TIME)

    def _taped(self, what: str, method: str, params: dict[str, Any], act: Callable[[], T]) -> T:
        """Run `act` as `guarded` does, and record it on the tape."""
        tape = self._tape
        if tape is None:
            return self.guarded(method or what, act)
        return self.guarded(method or what, lambda: tape.taking(what, method, params, act))
