"""Every answer is right and takes 30 ms longer than the one before, up to 9 s."""

import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        time.sleep(min(9, 0.03 * self.asked))
        return result


Hostile().run()
