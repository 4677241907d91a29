"""Adds members such as __class__, __proto__, status.code and the empty name to its results, up to 10,000 of them."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        odd = {"__class__": "x", "__proto__": {}, "constructor": 1, "status.code": 0, "": None, "$ref": "common.json#/$defs/handle", "self": 1}
        if self.asked > 8:
            return {**result, **odd, **{str(n): n for n in range(10000)}}
        return result


Hostile().run()
