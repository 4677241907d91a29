"""Behaves for fifteen requests, then writes events of objects that do not exist as fast as it can, up to 1 GB, instead of answering."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked >= 15:
            line = b'{"jsonrpc":"2.0","method":"event","params":{"object":"o%d","name":"Arrived","arguments":["' + b"x" * 200 + b'"]}}\n'
            for many in range(1000):
                base.flood(b"".join(line.replace(b"%d", b"%d" % (many * 4000 + n)) for n in range(4000)), base.MB)


Hostile().run()
