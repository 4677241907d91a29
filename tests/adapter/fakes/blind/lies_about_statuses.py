"""Says success where it refused and failure where it succeeded, with unusual HRESULTs: warnings, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def after(self, number, name, result):
        if self.asked > 8 and self.asked % 3 == 0 and name not in ("reset", "stop"):
            return {"status": [1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x400E03E8, 0][self.asked // 3 % 6]}
        return result


Hostile().run()
