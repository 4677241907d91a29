"""Writes objects with the same member twice and different values: two statuses, two identifiers, two results."""

import json
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def line(self, **members):
        text = json.dumps({"jsonrpc": "2.0", **members})
        if self.asked > 6:
            text = text.replace('"status": 0', '"status": 3222142983, "status": 0').replace('{"jsonrpc"', '{"id": 1, "result": {"status": 0}, "jsonrpc"')
        base.push(text.encode() + b"\n")


Hostile().run()
