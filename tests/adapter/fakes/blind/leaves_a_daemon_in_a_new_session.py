"""Starts a grandchild in a session of its own which holds all three pipes for 100 s; at most 30 of them live at a time."""

import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def started(self):
        base.child(lambda: time.sleep(100), 100, daemon=True)


Hostile().run()
