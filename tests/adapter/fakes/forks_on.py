"""Leaves a daemon that forks on for 60 s: each lives a moment and starts the next one, in a session of its own."""

import subprocess
import sys

from honest import Honest

DAEMON = """
import os, time
end = time.monotonic() + 60
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.02)
"""


class ForksOn(Honest):
    def hello(self, number, params):
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        subprocess.Popen([sys.executable, "-c", DAEMON], start_new_session=True, **quiet)
        super().hello(number, params)


ForksOn().run()
