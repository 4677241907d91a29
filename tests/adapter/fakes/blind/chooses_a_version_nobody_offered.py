"""Answers hello with protocol 9.9, and is right in everything else."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def hello(self, params):
        return {**super().hello(params), "protocol": "9.9"}


Hostile().run()
