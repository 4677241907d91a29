"""Answers each request correctly and at once also the one to come, before it has been read."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        self.line(id=number, result=result)
        if self.asked > 5:
            self.line(id=number + 1, result={"status": 0, "format_name": "DIRECT=OS:HOST\\private$\\lie", "queue": "lie"})


Hostile().run()
