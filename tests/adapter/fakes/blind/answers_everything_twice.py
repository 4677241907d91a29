"""Gives every answer twice, the second time with the opposite status."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        self.line(id=number, result=result)
        if self.asked > 5:
            self.line(id=number, result={"status": 0xC00E0006})


Hostile().run()
