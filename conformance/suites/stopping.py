"""Whether the run is to end: an interrupt that arrives in a callback that may raise nothing is lost, this is not."""

from __future__ import annotations

import signal
import threading


class Stop:
    """Asked for by whoever handles Ctrl-C, looked at where an example begins."""

    def __init__(self) -> None:
        self.asked = False

    def look(self) -> None:
        """Raise KeyboardInterrupt, once, if the run is to end."""
        if self.asked:
            self.asked = False
            raise KeyboardInterrupt


STOP = Stop()


def end_between_examples() -> None:
    """In a worker: Ctrl-C goes to the whole process group, and each worker ends where its record is in order."""

    def ask(number: int, frame: object) -> None:
        STOP.asked = True

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, ask)
