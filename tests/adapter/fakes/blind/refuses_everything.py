"""Offers what the base does and refuses all but hello, attach, reset and stop with a random HRESULT."""

import random
import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if name not in ("hello", "attach", "reset", "stop"):
            self.answer(number, {"status": 0xC0000000 + random.SystemRandom().randrange(0x3FFFFFFF)})
            return True


Hostile().run()
