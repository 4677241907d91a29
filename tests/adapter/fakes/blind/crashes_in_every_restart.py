"""Behaves perfectly until it is started a second time on the same state folder; then it ends before hello is answered."""

import os
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def do_hello(self, number, params):
        result = super().do_hello(number, params)
        return os._exit(7) if self.restarted else result


Hostile().run()
