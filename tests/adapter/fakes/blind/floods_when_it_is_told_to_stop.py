"""Answers stop correctly, then writes up to 1 GB to stdout and stderr at once, and again when its input ends or SIGTERM comes."""

import signal
import sys
import threading

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def started(self):
        signal.signal(signal.SIGTERM, lambda *_: self.ended())

    def do_stop(self, number, params):
        self.answer(number, {"status": 0})
        self.ended()

    def ended(self):
        threading.Thread(target=base.flood, args=(b"still here\n" * 50000, 1 << 30, 2), daemon=True).start()
        base.flood(b'{"jsonrpc":"2.0","id":1,"result":{"status":0}}\n' * 20000)


Hostile().run()
