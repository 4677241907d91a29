"""Starts a child that outlives it and holds its stdout open; writes the child's number to the state folder."""

import subprocess
import sys
from pathlib import Path

from honest import Honest


class LeavesAChild(Honest):
    def hello(self, number, params):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
        (Path(params["state_dir"]) / "child").write_text(str(child.pid))
        super().hello(number, params)


LeavesAChild().run()
