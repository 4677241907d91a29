"""Makes files of up to 8 TB without content in its state folder, which take no room unless somebody copies or reads them."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def do_hello(self, number, params):
        result = super().do_hello(number, params)
        for name in ("core", "driver.log", "queues.json", "state.db"):
            with Path(self.state, name).open("ab") as file:
                for bits in (43, 40, 36, 33):
                    try:
                        file.truncate(1 << bits)
                        break
                    except OSError:
                        pass
        return result


Hostile().run()
