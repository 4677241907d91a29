"""Crashes at its 30th request, while a silent daemon in another session keeps stdout open for 110 s, so that the end of the pipe never comes."""

import os
import signal
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked == 30:
            base.child(lambda: time.sleep(110), 110, daemon=True)
            os.kill(os.getpid(), signal.SIGKILL)


Hostile().run()
