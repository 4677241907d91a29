"""Answers its tenth request with a million opening brackets, then as many closing ones, on one line that is well below the limit."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked >= 10:
            base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"status":0,"x":' % number + b"[" * 10**6 + b"]" * 10**6 + b"}}\n")
            return True


Hostile().run()
