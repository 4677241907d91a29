"""Sends requests of its own to the harness, hello and stop and reset among them, with identifiers of requests that are under way, and notifications that do not exist."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked > 4:
            for method in ("hello", "stop", "messages.cancel", "shutdown", "$/progress", "__init__", "pending", ""):
                self.line(id=number, method=method, params={"id": number})
                self.line(method=method, params=[])


Hostile().run()
