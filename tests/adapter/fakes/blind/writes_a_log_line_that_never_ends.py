"""Answers correctly, writes 1 GB without a line feed to stderr meanwhile, and crashes at its 100th request, so that the last lines are shown."""

import os
import sys
import threading

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def started(self):
        threading.Thread(target=base.flood, args=(b"\x1b[31m\xff\x00z" * 100000, 1 << 30, 2), daemon=True).start()

    def before(self, number, name, params):
        if self.asked == 100:
            os.abort()


Hostile().run()
