"""Writes every answer byte by byte with 20 ms between them (5 ms in hello), so that each comes late but in time."""

import json
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def line(self, **members):
        for byte in json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n":
            base.push(bytes([byte]))
            time.sleep(0.02 if self.asked > 1 else 0.005)


Hostile().run()
