"""A host that is not this machine, in a network namespace of its own: no packet leaves it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("elsewhere.py")
HOST, OURS = "10.77.0.1", "10.77.0.2"
_SET_UP = f"ip link set lo up && ip addr add {HOST}/32 dev lo && ip addr add {OURS}/32 dev lo"


def test_a_host_elsewhere_needs_its_word_and_gets_little() -> None:
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("there are no network namespaces without unshare and ip")
    tried = subprocess.run(["unshare", "-rn", "sh", "-c", _SET_UP], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip("this user may make no network namespace")
    path = os.pathsep.join([str(SCRIPT.parent), str(SCRIPT.parents[2]), str(SCRIPT.parents[2] / "fixtures")])
    line = ["unshare", "-rn", "sh", "-c", f'{_SET_UP} && exec "$@"', "sh", sys.executable, str(SCRIPT), HOST, OURS]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stderr
