"""Hands out the handle 0 for every queue it opens, and means the one opened last."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def do_queues_open(self, number, params):
        super().do_queues_open(number, params)
        self.handles[0] = self.handles.pop(number)
        return {"status": 0, "queue": 0}


Hostile().run()
