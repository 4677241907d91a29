"""Answers everything correctly and writes up to 1 GB of log lines to stderr meanwhile."""

import sys
import threading

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def started(self):
        lines = b"".join(b"%07d everything is fine, nothing to be seen here, please move along\n" % n for n in range(16000))
        threading.Thread(target=base.flood, args=(lines, 1 << 30, 2), daemon=True).start()


Hostile().run()
