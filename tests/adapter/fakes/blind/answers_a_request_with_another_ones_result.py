"""From its twentieth request on, each answer holds what the request before should have got."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    kept = {"status": 0}

    def after(self, number, name, result):
        self.kept, wrong = result, self.kept
        return wrong if self.asked > 20 else result


Hostile().run()
