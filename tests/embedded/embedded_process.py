"""The embedded queue manager in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class Process:
    """The embedded queue manager in a process of its own, to be killed."""

    def __init__(self, state_dir: Path, faults: Sequence[str] = ()) -> None:
        named = [part for fault in faults for part in ("--fault", fault)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "conformance.embedded", "--stdio", *named],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.number = 0
        self("hello", versions=["1.0"], harness="test", state_dir=str(state_dir))

    def post(self, method: str, **params: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(self.line(method, **params))
        self.process.stdin.flush()

    def line(self, method: str, **params: Any) -> bytes:
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        return json.dumps(request).encode() + b"\n"

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        result: dict[str, Any] = json.loads(line)["result"] if line else {}
        return result

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        self.post(method, **params)
        return self.read()

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(10)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue  # what was not read when it died
