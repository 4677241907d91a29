"""Crashes at its third clock.now."""

import sys

from honest import Honest


class DiesMidRun(Honest):
    asked = 0

    def clock_now(self, number, params):
        self.asked += 1
        if self.asked == 3:
            print("assertion failed: queue != NULL", file=sys.stderr)
            sys.exit(134)
        super().clock_now(number, params)


DiesMidRun().run()
