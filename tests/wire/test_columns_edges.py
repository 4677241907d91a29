"""No packet makes emitted code read beyond it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nightly import amount

SCRIPT = Path(__file__).with_name("columns_at_the_edge.py")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is protected by mprotect")
def test_packets_are_read_to_their_end_and_no_further() -> None:
    count = amount("columns.packets-at-the-edge")
    asked = [sys.executable, str(SCRIPT), "11", str(count)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(asked, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr or f"killed by {-done.returncode}"
    assert int(done.stdout) >= count
