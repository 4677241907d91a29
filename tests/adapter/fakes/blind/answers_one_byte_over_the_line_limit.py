"""Answers peeks and receives with lines of exactly 8 MiB, line feed not counted, and then with one byte more."""

import base64
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        if "message" not in result:
            return result
        over = self.count[name] > 2
        head, tail = b'{"jsonrpc":"2.0","id":%d,"result":{"status":0,"message":{"label":"' % number, b'","body":"' + base64.b64encode(b"b") + b'"}}}'
        base.push(head + b"l" * (8 * base.MB - len(head) - len(tail) + over) + tail + b"\n")


Hostile().run()
