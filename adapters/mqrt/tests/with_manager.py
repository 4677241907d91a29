"""Run `PROGRAM [ARGUMENT ...]` with the embedded queue manager, which MQCONFORM_MQRT then names."""

import os
import subprocess
import sys

manager = subprocess.Popen(
    [sys.executable, "-m", "conformance.embedded", "--tcp", "127.0.0.1:0", "--clock", "real"],
    stderr=subprocess.PIPE,
    text=True,
)
try:
    assert manager.stderr is not None
    address = manager.stderr.readline().removeprefix("listening on ").strip()
    sys.exit(subprocess.run(sys.argv[1:], env=os.environ | {"MQCONFORM_MQRT": address}, timeout=600).returncode)
finally:
    manager.kill()
    manager.wait()
