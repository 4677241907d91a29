"""Writes its statuses and identifiers as 0.0, -0, 0e5 and 12.0, which some JSON readers and JSON Schema take for integers."""

import json
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def line(self, **members):
        text = json.dumps({"jsonrpc": "2.0", **members})
        if self.asked > 5:
            text = text.replace('"status": 0', '"status": ' + ("0.0", "-0", "0e5", "-0.0")[self.asked % 4])
            if self.asked % 3 == 0 and "id" in members:
                text = text.replace(f'"id": {members["id"]},', f'"id": {members["id"]}.0,')
        base.push(text.encode() + b"\n")


Hostile().run()
