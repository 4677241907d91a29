"""Child processes: what they import, and those that each run one command and end when this process is interrupted."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from subprocess import DEVNULL

GRACE_S = 5.0
"""Seconds that an interrupted child may take to clean up before it is killed."""


_SAFE = "PYTHONSAFEPATH"
_OURS = "mqconform"


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """Keep Python processes that start meanwhile from importing modules of the working folder.

    A file `queue.py` beside a stranger's captures would run in them, in the place of Python's own module.
    """
    before = os.environ.get(_SAFE)
    if not before:
        os.environ[_SAFE] = _OURS
    try:
        yield
    finally:
        if not before:
            os.environ.pop(_SAFE, None)


def foreign_environment() -> Mapping[str, str]:
    """Return the environment for a program of the user's: without `safe_path`, which would change what it imports."""
    return {name: value for name, value in os.environ.items() if (name, value) != (_SAFE, _OURS)}


class Children:
    """Runs commands, each in a process, from any thread. Their temporary files go to `folder`."""

    def __init__(self, folder: Path) -> None:
        self._environment = {**os.environ, _SAFE: _OURS, "TMPDIR": str(folder)}
        self._lock = threading.Lock()
        self._living: set[subprocess.Popen[bytes]] = set()
        self._over = False

    def run(self, command: Sequence[str], limit_s: float) -> int | None:
        """Run a command without input and output. Returns its exit status; None if too slow or `end` was called."""
        with self._lock:
            if self._over:
                return None
            child = subprocess.Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, env=self._environment)
            self._living.add(child)
        try:
            return child.wait(limit_s)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            return None
        finally:
            with self._lock:
                self._living.discard(child)

    def end(self) -> None:
        """Interrupt every running child, kill it if it does not end in time, and start no more."""
        with self._lock:
            self._over = True
            living = list(self._living)
        try:
            for child in living:
                child.send_signal(signal.SIGINT)
            until = time.monotonic() + GRACE_S
            while any(child.poll() is None for child in living) and time.monotonic() < until:
                time.sleep(0.02)
        finally:
            for child in living:
                child.kill()
