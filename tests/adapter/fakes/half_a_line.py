"""Dies in the middle of writing an answer."""

import os
import sys

from honest import Honest


class HalfALine(Honest):
    def clock_now(self, number, params):
        sys.stdout.write('{"jsonrpc":"2.0","id":')
        sys.stdout.flush()
        os._exit(0)


HalfALine().run()
