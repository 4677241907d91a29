"""Writes megabytes to stderr before every answer."""

import sys

from honest import Honest


class FloodsStderr(Honest):
    def clock_now(self, number, params):
        for _ in range(40):
            sys.stderr.write("x" * 99_999 + "\n")
        super().clock_now(number, params)


FloodsStderr().run()
