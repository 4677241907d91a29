"""Whether the run is to end: an interrupt that arrives in a callback that may raise nothing is lost, this is not."""

from __future__ import annotations


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
