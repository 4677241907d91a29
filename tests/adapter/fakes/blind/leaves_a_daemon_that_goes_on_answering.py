"""Crashes at every 50th request, and leaves a daemon behind that goes on writing answers and events into the old stdout for 60 s."""

import os
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked == 50:

            def talk():
                for n in range(6000):
                    self.line(id=number + n // 20, result={"status": 0})
                    self.event()
                    time.sleep(0.01)

            base.child(talk, 60, daemon=True)
            os._exit(1)


Hostile().run()
