"""Answers every read that waits when half of its time is over, and the youngest of several first."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def read(self, number, params, takes):
        if 0 < params["timeout_ms"] < base.ENDLESS:
            params = {**params, "timeout_ms": max(1, params["timeout_ms"] // 2)}
        result = super().read(number, params, takes)
        self.waiting = dict(reversed(self.waiting.items()))
        return result


Hostile().run()
