"""Begins a good answer to its twelfth request and goes on with one text of up to 1 GB without a line feed."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked >= 12:
            base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"status":0,"format_name":"' % number)
            base.flood(b"A" * base.MB)


Hostile().run()
