"""Writes the first half of its twentieth answer, in the middle of a UTF-8 sign, and exits with code 0."""

import os
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked >= 20:
            base.push(b'{"jsonrpc":"2.0","id":%d,"result":{"status":0,"format_name":"\xe2\x82' % number)
            os._exit(0)


Hostile().run()
