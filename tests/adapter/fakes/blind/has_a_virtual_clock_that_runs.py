"""Declares a virtual clock, but time passes by itself, a hundred times faster than on the wall, and reads end without clock.advance."""

import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.VirtualDriver):
    def before(self, number, name, params):
        self.time_ms = 1767225600000 + int(time.monotonic() * 100000) % 10**12
        self.end_reads()


Hostile().run()
