"""Has a virtual clock which after an advance is a day earlier, in the year 9999, before 1970 or 2**80 milliseconds later."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.VirtualDriver):
    def after(self, number, name, result):
        if "time_ms" in result:
            result = {**result, "time_ms": [0, -1, 253402300799999, -62135596800001, 2**80, result["time_ms"] - 86400000][self.asked % 6]}
        return result


Hostile().run()
