"""Is perfect until it is killed, and then has lost every queue and message it said were kept; in each second life it has messages nobody sent."""

import os
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def load(self):
        super().load()
        self.queues = {name: [{"body": "", "label": "ghost", "priority": 3, "delivery": "recoverable", "lookup_identifier": "1"}] * (os.getpid() % 2)
                       for name in self.queues if os.getpid() % 3}


Hostile().run()
