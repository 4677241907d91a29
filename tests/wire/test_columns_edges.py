"""No packet makes emitted code read beyond it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("columns_at_the_edge.py")
MORE = bool(os.environ.get("MQ_NIGHTLY"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is protected by mprotect")
def test_packets_are_read_to_their_end_and_no_further() -> None:
    count = 200_000 if MORE else 4_000
    asked = [sys.executable, str(SCRIPT), "11", str(count)]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr or f"killed by {-done.returncode}"
    assert int(done.stdout) >= count
