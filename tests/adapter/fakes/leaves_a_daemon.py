"""Leaves a daemon behind: a grandchild in a session of its own, whose parent is gone. It sleeps for 90 s."""

import subprocess
import sys
from pathlib import Path

from honest import Honest

DAEMON = "import subprocess, sys; print(subprocess.Popen(sys.argv[1:], start_new_session=True, stdout=2).pid)"


class LeavesADaemon(Honest):
    def hello(self, number, params):
        command = [sys.executable, "-c", DAEMON, sys.executable, "-c", "import time; time.sleep(90)"]
        daemon = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        (Path(params["state_dir"]) / "daemon").write_text(daemon)
        super().hello(number, params)


LeavesADaemon().run()
