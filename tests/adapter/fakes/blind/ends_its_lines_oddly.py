"""Ends its lines with a carriage return and a line feed, puts tabs and spaces around, and begins with a byte order mark."""

import json
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def line(self, **members):
        mark = b"\xef\xbb\xbf" if self.asked == 1 else b" \t\r"
        base.push(mark + json.dumps({"jsonrpc": "2.0", **members}).encode() + b" \t\r\n")


Hostile().run()
