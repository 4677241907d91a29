"""Remember requests to end the run. An interrupt raised in a callback that swallows exceptions would be lost."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress

from conformance.interrupts import SIGNALS

ENOUGH = signal.SIGUSR1
"""Signal from the process that drives the run to a worker that is to end before it has run all its tests."""


class Stop:
    """Requests to end the run in this process early.

    asked: a request has come and `look` has not yet raised it. heard: a request has come at any time. patient: `look`
    is called soon, so a signal handler need not raise anything. lost: the sentence why the record cannot be written.
    workers: process ids of the workers of this process. enough: in a worker, all workers together have found the
    number of deviations after which the run stops.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all requests, as before any run."""
        self.asked = self.heard = self.patient = self.enough = False
        self.lost: str | None = None
        self.workers: list[int] = []

    def ask(self) -> None:
        """End the run here and in all workers: Ctrl-C in a terminal reaches the workers too, but `kill` does not."""
        self.asked = self.heard = True
        for worker in self.workers:
            with suppress(OSError):
                os.kill(worker, signal.SIGINT)

    def look(self) -> None:
        """Raise KeyboardInterrupt, once per request, if the run is to end."""
        if self.asked:
            self.asked = False
            raise KeyboardInterrupt


STOP = Stop()


def end_between_examples() -> None:
    """Install the signal handlers of a worker, so that it ends only between examples, with a complete record."""

    def ask(number: int, frame: object) -> None:
        STOP.ask()

    def enough(number: int, frame: object) -> None:
        STOP.enough = True

    if threading.current_thread() is threading.main_thread():
        signal.signal(ENOUGH, enough)
        for number in SIGNALS:
            signal.signal(number, ask)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
