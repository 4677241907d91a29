"""Writes half of its answer to hello and ends by SIGSEGV."""

import os
import signal
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        base.push(b'{"jsonrpc":"2.0","id":1,"result":{"status":0,"protocol":"1.1","name":"ha')
        os.kill(os.getpid(), signal.SIGSEGV)


Hostile().run()
