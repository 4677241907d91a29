"""Writes the first half of its twentieth answer and then sleeps, deaf to SIGTERM, SIGINT, SIGHUP and the end of its input."""

import signal
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked >= 20:
            for number_of in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number_of, signal.SIG_IGN)
            base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"stat' % number)
            time.sleep(170)


Hostile().run()
