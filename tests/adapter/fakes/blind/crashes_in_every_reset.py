"""Says a good hello and ends by SIGABRT in every reset."""

import os
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def do_reset(self, number, params):
        os.abort()


Hostile().run()
