"""The timers of MS-MQQB 3.1.2, by the titles of their sections, and the durations they have by default.

The four timers of cached keys and certificates are not here: without a directory there is nothing to cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

LONGEST = 10.0 * 365 * 24 * 3600
DEFAULTS: Mapping[str, float | None] = MappingProxyType(
    {
        "session-initialization": 60.0,
        "session-cleanup": 300.0,
        "session-retry-connect": 5.0,
        "session-ack-wait": None,  # twice AckWaitTimeout
        "session-ack-send": None,  # half of AckWaitTimeout
        "transactional-ack-wait": None,  # by ResendTimerTable
        "order-ack-send": 0.5,
        "message-id-history-cleanup": 1800.0,
        "ping-response": 1.0,
    }
)
"""Seconds; None where the duration follows from the session."""
RESENDS = (30.0,) * 3 + (300.0,) * 3 + (1800.0,) * 3 + (21600.0,)
"""ResendTimerTable (3.1.3.1), seconds."""
ACK_WAIT_FACTOR = 2


class Handle(Protocol):
    """A call that is to come."""

    def cancel(self) -> None:
        """Prevent the call."""


class Scheduler(Protocol):
    """The clock that timers run on."""

    def time(self) -> float:
        """Return seconds from any beginning; they never go back."""

    def later(self, seconds: float, action: Callable[[], None]) -> Handle:
        """Call `action` in that time."""


@dataclass(slots=True)
class Durations:
    """What timers are set to. given: seconds by name, for those that differ from the default."""

    given: Mapping[str, float] = field(default_factory=dict)

    def fixed(self, name: str) -> float:
        """Return the duration of a timer that does not depend on a session, in seconds."""
        default = DEFAULTS[name]
        assert default is not None
        return self.given.get(name, default)

    def ack_wait(self, ack_timeout_ms: int) -> float:
        """Session Ack Wait Timer (3.1.2.4)."""
        return self.given.get("session-ack-wait", ACK_WAIT_FACTOR * ack_timeout_ms / 1000)

    def ack_send(self, ack_timeout_ms: int) -> float:
        """Session Ack Send Timer, as 3.1.5.8.2 starts it."""
        return self.given.get("session-ack-send", ack_timeout_ms / 2000)

    def recoverable_ack_send(self, timeout_ms: int) -> float:
        """Session Ack Send Timer, as 3.1.5.8.7 starts it."""
        return timeout_ms / 1000

    def resend(self, index: int) -> float:
        """Transactional Ack Wait Timer (3.1.2.6), by ResendIntervalIndex."""
        return self.given.get("transactional-ack-wait", RESENDS[min(index, len(RESENDS) - 1)])


class Timer:
    """One timer, which calls `action` when it expires."""

    def __init__(self, scheduler: Scheduler, action: Callable[[], None]) -> None:
        self._scheduler = scheduler
        self._action = action
        self._handle: Handle | None = None
        self._started = self._duration = 0.0

    @property
    def running(self) -> bool:
        return self._handle is not None

    @property
    def elapsed(self) -> float:
        """The part of its time that has gone, from 0 to 1; 0 if it does not run."""
        if not self.running or not self._duration:
            return 0.0
        return min(1.0, (self._scheduler.time() - self._started) / self._duration)

    def start(self, seconds: float) -> None:
        """Start the timer anew, whether or not it runs."""
        self.stop()
        self._started, self._duration = self._scheduler.time(), seconds
        self._handle = self._scheduler.later(seconds, self._expire)

    def start_if_stopped(self, seconds: float) -> None:
        """Start the timer unless it runs."""
        if not self.running:
            self.start(seconds)

    def stop(self) -> None:
        """Stop the timer."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _expire(self) -> None:
        self._handle = None
        self._action()
