"""Holds every answer back until the next request has come, which for most never comes: each ends with its deadline."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    held = None

    def after(self, number, name, result):
        if self.asked < 8:
            return result
        if self.held:
            self.line(**self.held)
        self.held = {"id": number, "result": result}


Hostile().run()
