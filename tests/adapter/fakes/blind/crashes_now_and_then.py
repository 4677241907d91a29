"""Ends at a random moment, about once in 40 requests, by a random signal or exit code, and without a fixed seed."""

import os
import random
import signal
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked > 5 and random.SystemRandom().random() < 0.025:
            way = random.SystemRandom().choice([signal.SIGKILL, signal.SIGTERM, signal.SIGPIPE, signal.SIGUSR1, signal.SIGXCPU, 0])
            if way:
                signal.signal(way, signal.SIG_DFL) if way != signal.SIGKILL else None
                os.kill(os.getpid(), way)
            os._exit(random.SystemRandom().choice([0, 1, 2, 3, 4, 5, 130, 255]))


Hostile().run()
