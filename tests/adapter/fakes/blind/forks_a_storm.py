"""Forks up to 28 children at its tenth request, half of them daemons in sessions of their own, which sleep for 90 s."""

import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked == 10 and self.first("storm"):
            for many in range(28):
                base.child(lambda: time.sleep(90), 90, daemon=many % 2 == 0)


Hostile().run()
