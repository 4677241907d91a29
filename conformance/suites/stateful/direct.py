"""A driver in this process asked without a client between: for walks of many million calls.

Nothing is checked here: an answer against its schema, a deadline, a second answer. A walk that meets anything odd is
walked again by a real client, which says what is wrong with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.adapter.errors import NotAccepted
from conformance.adapter.session import Result

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.adapter.in_process import Driver


class Odd(Exception):
    """The driver did what only a real client can judge: it raised, did not answer, or answered nonsense."""


class Outstanding:
    """A request. done: it was answered."""

    __slots__ = ("_raw", "done", "id", "method")

    def __init__(self, number: int, method: str) -> None:
        self.id = number
        self.method = method
        self.done = False
        self._raw: Any = None

    def answer(self, raw: Any) -> None:
        """What the driver calls with its answer."""
        self._raw = raw
        self.done = True

    def result(self) -> Result:
        """The answer. Raises Odd where there is none, or none that can be read."""
        try:
            result = Result.from_json(self._raw)
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise Odd(f"{self.method} was answered with {type(self._raw).__name__}") from error
        if result.lacking is not None:
            raise NotAccepted(result.lacking, "the driver")
        return result


class Direct:
    """What `Driving` asks of a client. Raises Odd instead of driver faults."""

    def __init__(self, client: Client) -> None:
        """Takes the driver over from its client: a fresh one, whose requests are counted from its hello."""
        self.hello = client.hello
        self.offers = client.offers
        self.need = client.need
        self._client = client
        self._driver: Driver | None = None
        self._number = 0
        self.restart(kill=False)

    def start(self, method: str, /, **params: Any) -> Outstanding:
        """Ask; a read that waits is answered in the course of a later call."""
        params.pop("deadline_ms", None)
        self._number += 1
        call = Outstanding(self._number, method)
        driver = self._driver
        if driver is None:
            raise Odd("the driver is gone")
        try:
            driver.handle(method, params, call.answer, _nothing)
        except Exception as error:  # the driver's own code: whatever it raises is its crash
            raise Odd(f"{method} raised {type(error).__name__}") from error
        return call

    def call(self, method: str, /, **params: Any) -> Result:
        """Ask, and have the answer."""
        return self.start(method, **params).result()

    def wait_blocked_or_done(self, call: Outstanding, within_ms: int) -> bool:
        """Nothing happens in this process but in calls: there is nothing to wait for."""
        return True

    def wait_done(self, call: Outstanding, within_ms: int) -> bool:
        """See `wait_blocked_or_done`."""
        return call.done

    def restart(self, *, kill: bool) -> bool:
        """End the driver and make another on the same state."""
        went = self._client.restart(kill=kill)
        self._driver = self._client.in_process_driver
        self._number = 1
        return went


def _nothing() -> None:
    """Whether a read waits shows in its having no answer."""
