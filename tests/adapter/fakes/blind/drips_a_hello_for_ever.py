"""Answers hello with a space every half second, and never with more."""

import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        while True:
            base.push(b" ")
            time.sleep(0.5)


Hostile().run()
