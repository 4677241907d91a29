"""Forks at its tenth request, and both processes go on reading the same stdin and answering on the same stdout, each with half of the truth."""

import os
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked == 10 and base.alive() < 20 and os.fork() == 0:
            base.guard()


Hostile().run()
