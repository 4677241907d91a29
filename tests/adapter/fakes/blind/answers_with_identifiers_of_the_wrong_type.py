"""Answers with the identifier as text, as true, as null, in a list, in an object, or left out."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        if self.asked <= 8:
            return result
        self.line(**[{"id": str(number)}, {"id": True}, {"id": None}, {"id": [number]}, {"id": {"id": number}}, {}][self.asked % 6], result=result)


Hostile().run()
