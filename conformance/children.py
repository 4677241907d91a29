"""Processes: what a child imports, children that each run one command, and settings of collector and threads."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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


_YOUNG = 50_000  # new objects between two collections


def hurry() -> None:
    """Make garbage collection rare: imported objects live as long as the process."""
    gc.set_threshold(_YOUNG, 20, 50)
    atexit.register(gc.freeze)


def without_matrices() -> None:
    """Keep numpy's library from starting a thread on each core for large matrices.

    Call it before numpy is imported, in a process that starts no others: they would inherit the setting.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


YOUNG, MIDDLE, OLD = 100_000, 20, 100


def settle() -> None:
    """Collect garbage now, and never scan again what is left, while `rarely_collecting` lasts.

    The kill of an implementation in this process collects garbage each time: in a large process that takes longer
    than all that happens between two kills.
    """
    gc.collect()
    gc.freeze()


@contextmanager
def rarely_collecting() -> Iterator[None]:
    """Collect garbage rarely while the context lasts, and never scan the objects that exist already."""
    before = gc.get_threshold()
    gc.freeze()  # without a collection first, which takes longer than a short run in a large process
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
