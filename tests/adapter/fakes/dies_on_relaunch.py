"""Starts once; finding its state folder used, it dies."""

import sys
from pathlib import Path

from honest import Honest


class DiesOnRelaunch(Honest):
    def hello(self, number, params):
        mark = Path(params["state_dir"]) / "started"
        if mark.exists():
            print("state is corrupt", file=sys.stderr)
            sys.exit(1)
        mark.touch()
        super().hello(number, params)


DiesOnRelaunch().run()
