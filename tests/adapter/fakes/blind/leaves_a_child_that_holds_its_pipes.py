"""Forks a child in its own process group that keeps stdin, stdout and stderr open for 60 s and ignores SIGTERM and SIGHUP; the driver itself stops as asked."""

import signal
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def started(self):
        def stay():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            time.sleep(60)

        base.child(stay, 60)


Hostile().run()
