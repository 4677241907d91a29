"""Answers reset with success and forgets nothing, so that each test finds what all the tests before it have left."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def do_reset(self, number, params):
        return {"status": 0}


Hostile().run()
