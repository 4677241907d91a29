"""Starts a child in a group of its own within its session, which the kill of the driver's group does not reach."""

import os
import subprocess
import sys
from pathlib import Path

from honest import Honest


class MovesAChildAway(Honest):
    def hello(self, number, params):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"], process_group=0)
        assert os.getpgid(child.pid) == child.pid
        (Path(params["state_dir"]) / "child").write_text(str(child.pid))
        super().hello(number, params)


MovesAChildAway().run()
