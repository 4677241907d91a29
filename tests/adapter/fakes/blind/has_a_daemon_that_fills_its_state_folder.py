"""Leaves a daemon that keeps adding and removing up to 50 files in the state folder for 60 s, so that it is never empty while it is deleted."""

import os
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def do_hello(self, number, params):
        result = super().do_hello(number, params)

        def fill():
            for n in range(6000):
                try:
                    os.makedirs(f"{self.state}/x{n % 25}") if n // 25 % 2 == 0 else os.rmdir(f"{self.state}/x{n % 25}")
                except OSError:
                    if not os.path.isdir(self.state):
                        return
                time.sleep(0.01)

        if self.first("fill"):
            base.child(fill, 60, daemon=True)
        return result


Hostile().run()
