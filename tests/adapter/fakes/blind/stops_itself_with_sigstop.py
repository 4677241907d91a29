"""Sends SIGSTOP to itself at its twentieth request, so that it is neither dead nor alive; a child kills it after 100 s if nobody else has."""

import os
import signal
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked == 20:
            mine = os.getpid()

            def end():
                for _ in range(100):
                    time.sleep(1)
                    if os.getppid() != mine:
                        return
                os.kill(mine, signal.SIGKILL)

            base.child(end, 110)
            os.kill(mine, signal.SIGSTOP)


Hostile().run()
