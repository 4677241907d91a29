"""Its limits are 2**62 bytes a body, 2**62 queues and 2**62 calls at a time, in the hope that somebody tries."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def hello(self, params):
        return {**super().hello(params), "limits": {"max_body_bytes": 2**62, "max_queues": 2**62, "max_parallel_calls": 2**62}}


Hostile().run()
