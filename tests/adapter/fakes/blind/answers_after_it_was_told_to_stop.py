"""Says hello, answers stop twice, stays, answers requests that were sent long ago, and ends with exit code 139."""

import os
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def do_stop(self, number, params):
        for other in range(1, number + 1):
            self.line(id=other, result={"status": 0})
        self.line(id=number, result={"status": 0})
        time.sleep(3)
        os._exit(139)


Hostile().run()
