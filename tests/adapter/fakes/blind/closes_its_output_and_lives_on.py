"""Closes stdout at its 15th request and goes on reading its input, for as long as there is any."""

import os
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked == 15:
            os.close(1)
            while os.read(0, 65536):
                pass
            time.sleep(170)


Hostile().run()
