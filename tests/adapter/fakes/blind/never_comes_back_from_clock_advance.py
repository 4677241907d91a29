"""Has a virtual clock whose fourth clock.advance is never answered, though the reads it made due are."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.VirtualDriver):
    def do_clock_advance(self, number, params):
        result = super().do_clock_advance(number, params)
        return None if self.count["clock.advance"] >= 4 else result


Hostile().run()
