"""Sets O_NONBLOCK on stdin, stdout and stderr, whose descriptions it may share with others, and is correct otherwise."""

import os
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def started(self):
        for pipe in (0, 1, 2):
            os.set_blocking(pipe, False)


Hostile().run()
