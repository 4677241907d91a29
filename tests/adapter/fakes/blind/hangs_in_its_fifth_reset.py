"""Answers four resets and never the fifth, in each of its lives."""

import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def do_reset(self, number, params):
        if self.count["reset"] == 5:
            time.sleep(170)
        return super().do_reset(number, params)


Hostile().run()
