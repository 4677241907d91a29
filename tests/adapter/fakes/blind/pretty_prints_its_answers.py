"""Writes every answer but that to hello over several lines."""

import json
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def line(self, **members):
        base.push(json.dumps({"jsonrpc": "2.0", **members}, indent=None if self.asked < 2 else 1).encode() + b"\n")


Hostile().run()
