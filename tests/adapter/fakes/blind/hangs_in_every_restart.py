"""Behaves perfectly until it is started a second time on the same state folder; then it never answers hello and ignores the end of its input."""

import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def do_hello(self, number, params):
        result = super().do_hello(number, params)
        if self.restarted:
            time.sleep(170)
        return result


Hostile().run()
