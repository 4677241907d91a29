"""Writes a line of 100 MB."""

import sys

from honest import Honest


class EndlessLine(Honest):
    def clock_now(self, number, params):
        for _ in range(100):
            sys.stdout.write("x" * 1_000_000)
        sys.stdout.write("\n")


EndlessLine().run()
