"""Half of the handles it has just given are refused as invalid, and handles nobody ever gave are taken."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def opened(self, params, *allowed):
        if isinstance(params["queue"], int) and params["queue"] % 2 and self.asked > 10:
            raise base.Refused(base.HANDLE)
        if params["queue"] not in self.handles and self.handles:
            params = {**params, "queue": next(iter(self.handles))}
        return super().opened(params, *allowed)


Hostile().run()
