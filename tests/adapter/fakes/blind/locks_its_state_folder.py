"""Makes folders nobody may read or enter in its state folder, and takes all rights from the state folder itself after hello (root is not stopped by it)."""

import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def do_hello(self, number, params):
        self.state = os.path.abspath(params["state_dir"])
        os.chmod(self.state, 0o700)
        result = super().do_hello(number, params)
        if self.first("locked"):
            for n in range(5):
                os.makedirs(Path(self.state, f"locked{n}", "inside"))
                os.chmod(Path(self.state, f"locked{n}", "inside"), 0)
                os.chmod(Path(self.state, f"locked{n}"), (0, 0o100, 0o200, 0o400, 0o500)[n])
        os.chmod(self.state, 0)
        return result


Hostile().run()
