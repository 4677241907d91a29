"""Sends its parent, before each answer, signals that nobody dies of (SIGCHLD, SIGWINCH, SIGURG, SIGCONT), fifty of each."""

import os
import signal
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        for which in (signal.SIGCHLD, signal.SIGWINCH, signal.SIGURG, signal.SIGCONT) * 50:
            if self.asked < 300 and os.getppid() > 1:
                os.kill(os.getppid(), which)
        return result


Hostile().run()
