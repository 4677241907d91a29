"""Keeps a chain alive: each child forks its successor in a new session, ends at once, and so has another number every 300 ms, for 60 s."""

import os
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def started(self):
        def chain():
            for _ in range(200):
                time.sleep(0.3)
                if os.fork():
                    os._exit(0)
                base.guard(100, watch=False)
                os.setsid()

        base.child(chain, 100, daemon=True)


Hostile().run()
