"""Its limits are a body of 0 bytes, one queue, and one call at a time; it accepts no message member, no access and no share mode."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    accepts = {"message": [], "properties": [], "access": [], "share": [], "format_names": []}

    def hello(self, params):
        return {**super().hello(params), "limits": {"max_body_bytes": 0, "max_queues": 1, "max_parallel_calls": 1}}


Hostile().run()
