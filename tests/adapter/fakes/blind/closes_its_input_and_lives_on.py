"""Closes stdin after its 15th answer, so that the next request meets a broken pipe, and lives on."""

import os
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked == 15:
            self.answer(number, {"status": 0, **({"format_name": "DIRECT=OS:HOST\\x"} if name == "queues.create" else {})})
            os.close(0)
            time.sleep(170)


Hostile().run()
