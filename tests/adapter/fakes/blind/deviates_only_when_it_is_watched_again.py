"""Is right for 200 requests and wrong for the next 200, and so on by turns; after a restart it is the other way round."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        if "message" in result and (self.asked // 200 + self.restarted) % 2:
            return {**result, "message": {**result["message"], "label": "wrong by turns"}}
        return result


Hostile().run()
