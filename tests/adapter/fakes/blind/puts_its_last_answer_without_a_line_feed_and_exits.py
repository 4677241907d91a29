"""Every tenth answer is whole and right but has no line feed, and the driver exits with it."""

import json
import os
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        if self.asked % 10:
            return result
        base.push(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode())
        os._exit(0)


Hostile().run()
