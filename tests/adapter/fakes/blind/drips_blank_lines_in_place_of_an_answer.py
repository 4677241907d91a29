"""At its tenth request it writes a blank line, or an event, every 100 ms: it is never silent and never answers."""

import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        while self.asked >= 10:
            base.push(b"\n")
            self.event()
            time.sleep(0.1)


Hostile().run()
