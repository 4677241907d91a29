"""Dies at its first clock.now, while a child in a session of its own holds its stdout open."""

import subprocess
import sys

from honest import Honest


class DiesAndLeavesItsOutput(Honest):
    def clock_now(self, number, params):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"], start_new_session=True)
        (self.state.parent / "child").write_text(str(child.pid))
        sys.exit(134)


if __name__ == "__main__":
    DiesAndLeavesItsOutput().run()
