"""Deletes its state folder, which holds nothing but its own files, at its 20th request; what is asked after a restart finds none."""

import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import base  # noqa: E402


class Hostile(base.Driver):
    def before(self, number, name, params):
        if self.asked == 20 and self.state:
            for file in Path(self.state).iterdir():
                if file.is_file():
                    file.unlink()
            try:
                os.rmdir(self.state)
            except OSError:
                pass


Hostile().run()
