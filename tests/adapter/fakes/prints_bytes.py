"""Writes a line that is not UTF-8."""

import sys

from honest import Honest


class PrintsBytes(Honest):
    def clock_now(self, number, params):
        sys.stdout.buffer.write(b"\xff\xfe\n")
        sys.stdout.buffer.flush()


PrintsBytes().run()
