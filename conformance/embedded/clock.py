"""Clocks with timers: a virtual clock that moves only when advanced, and a real one."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, field

EPOCH_MS = 1_767_225_600_000  # start of a new virtual clock: 2026-01-01T00:00:00Z

LAST_MS = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z: the last date that other programs can write


@dataclass(slots=True, order=True)
class Timer:
    """An action to perform at a given time. due_ms: milliseconds since 1970."""

    due_ms: int
    sequence: int
    action: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        self.cancelled = True


class Clock:
    """A virtual clock. Timers run by due time; timers due at the same time run in the order they were set."""

    kind = "virtual"

    def __init__(self, start_ms: int = EPOCH_MS) -> None:
        self._now_ms = start_ms
        self._timers: list[Timer] = []
        self._count = 0

    def now_ms(self) -> int:
        """Return the time in milliseconds since 1970."""
        return self._now_ms

    def at(self, due_ms: int, action: Callable[[], None]) -> Timer:
        """Call `action` at `due_ms`, or at the next opportunity if that time has passed."""
        self._count += 1
        timer = Timer(due_ms, self._count, action)
        heapq.heappush(self._timers, timer)
        return timer

    def next_due_ms(self) -> int | None:
        """Return the due time of the next timer; None without timers."""
        while self._timers and self._timers[0].cancelled:
            heapq.heappop(self._timers)
        return self._timers[0].due_ms if self._timers else None

    def advance(self, by_ms: int) -> None:
        """Advance the clock and run every timer that becomes due, each at its own time."""
        target = self._now_ms + by_ms
        self._run_until(target)
        self._now_ms = target

    def run_due(self) -> None:
        """Run the timers that are due now."""
        self._run_until(self.now_ms())

    def forget_timers(self) -> None:
        """Cancel every timer."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def _run_until(self, target: int) -> None:
        while (due := self.next_due_ms()) is not None and due <= target:
            timer = heapq.heappop(self._timers)
            self._now_ms = max(self._now_ms, due)
            timer.action()


class RealClock(Clock):
    """The computer's clock. It cannot be advanced; the caller calls `run_due` when `next_due_ms` is reached."""

    kind = "real"

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def advance(self, by_ms: int) -> None:
        raise RuntimeError("a real clock is not advanced")
