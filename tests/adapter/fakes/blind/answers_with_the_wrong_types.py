"""Replaces one member of each answer by a value of another type: a text where a number belongs, a list, null, true, an object in an object."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        odd = ["0", None, True, [], {}, -1, 1.5, 2**70, {"status": 0}, "\x00", [[]], ""]
        if self.asked > 8:
            keys = sorted(result)
            key = keys[self.asked % len(keys)]
            result = {**result, key: odd[self.asked // 2 % len(odd)]}
            if self.asked % 11 == 0:
                self.line(id=number, result=odd[self.asked % len(odd)])
                return None
        return result


Hostile().run()
