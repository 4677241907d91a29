"""Call a driver in this process without a client in between, for walks of many million calls.

There are no checks of schemas, deadlines or second answers. A walk that meets anything odd is run again by a real
client, which tells what is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.adapter.errors import NotAccepted
from conformance.adapter.session import Result

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.adapter.in_process import Driver
    from conformance.harness.guarded_client import GuardedClient
    from conformance.harness.playback import Playback
    from conformance.harness.port import Port


class Odd(Exception):
    """The driver did something that only a real client can judge: it raised, did not answer, or answered nonsense."""


class Outstanding:
    """A request. done: it is answered."""

    __slots__ = ("_raw", "done", "id", "method")

    def __init__(self, number: int, method: str) -> None:
        self.id = number
        self.method = method
        self.done = False
        self._raw: Any = None

    @property
    def blocked(self) -> bool:
        """True while there is no answer: the driver acts only during calls, so an unanswered call waits."""
        return not self.done

    def answer(self, raw: Any) -> None:
        """Store the answer; the driver calls this."""
        self._raw = raw
        self.done = True

    def result(self) -> Result:
        """Return the answer. Raises Odd if there is none or if it cannot be read."""
        try:
            result = Result.from_json(self._raw)
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise Odd(f"{self.method} was answered with {type(self._raw).__name__}") from error
        if result.lacking is not None:
            raise NotAccepted(result.lacking, "the driver")
        return result


class Direct:
    """A `harness.port.Port` that raises Odd instead of driver faults."""

    def __init__(self, client: Client) -> None:
        """Take the driver over from its client and restart it; request numbers begin after its hello."""
        self.hello = client.hello
        self.keeps_state = client.keeps_state
        self.time = client.time
        self.unique = client.unique
        self.offers = client.offers
        self.need = client.need
        self._client = client
        self._driver: Driver | None = None
        self._number = 0
        self.restart(kill=False)

    def start(self, method: str, /, **params: Any) -> Outstanding:
        """Send a request. A waiting read is answered during a later call."""
        params.pop("deadline_ms", None)
        self._number += 1
        call = Outstanding(self._number, method)
        driver = self._driver
        if driver is None:
            raise Odd("the driver is gone")
        try:
            driver.handle(method, params, call.answer, _nothing)
        except Exception as error:  # the driver's own code: any exception counts as its crash
            raise Odd(f"{method} raised {type(error).__name__}") from error
        return call

    def call(self, method: str, /, **params: Any) -> Result:
        """Send a request and return its answer."""
        return self.start(method, **params).result()

    def wait_blocked_or_done(self, call: Outstanding, within_ms: int) -> bool:
        """Return True: the driver acts only during calls, so there is nothing to wait for."""
        return True

    def wait_done(self, call: Outstanding, within_ms: int) -> bool:
        """See `wait_blocked_or_done`."""
        return call.done

    def poll(self, within_ms: int = 0) -> None:
        """See `wait_blocked_or_done`."""

    def told_events(self, within_ms: int = 0) -> list[dict[str, Any]]:
        """See `conformance.adapter.client.Client.told_events`."""
        return self._client.told_events(within_ms)

    def restart(self, *, kill: bool) -> bool:
        """End the driver and start another one on the same state."""
        went = self._client.restart(kill=kill)
        self._driver = self._client.in_process_driver
        self._number = 1
        return went


if TYPE_CHECKING:
    _EVERY: tuple[type[Port], ...] = (Client, GuardedClient, Playback, Direct)


def _nothing() -> None:
    """Ignore the report that a read waits: its missing answer shows that."""
