"""From its 20th request on it answers each with a JSON-RPC error whose data are 7 MB and whose message goes over a thousand lines."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked >= 20:
            message = "Traceback (most recent call last):\n" * 1000
            self.line(id=number, error={"code": -10**50 if self.asked % 2 else -32603, "message": message, "data": {"x": "d" * 7000000}})
            return True


Hostile().run()
