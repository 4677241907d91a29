"""Answers each request correctly, and then 500 requests with identifiers that were never sent, some of them negative, some soon to come."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        if self.asked > 8:
            self.line(id=number, result=result)
            for other in range(500):
                self.line(id=number + 1 + other if other % 2 else -other, result={"status": 0})
            return None
        return result


Hostile().run()
