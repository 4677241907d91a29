"""Gives one wrong label, the first time that something is received on a state folder, and is right for ever after."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        if "message" in result and self.asked > 20 and self.first("lie"):
            return {**result, "message": {**result["message"], "label": "wrong once"}}
        return result


Hostile().run()
