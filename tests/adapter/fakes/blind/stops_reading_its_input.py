"""Makes its input pipe as small as it gets and reads no more after 15 requests, so that a large request blocks the one who writes it; it sends events meanwhile."""

import fcntl
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def started(self):
        try:
            fcntl.fcntl(0, 1031, 4096)  # F_SETPIPE_SZ
        except OSError:
            pass

    def before(self, number, name, params):
        while self.asked >= 15:
            self.event()
            time.sleep(0.2)


Hostile().run()
