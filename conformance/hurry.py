"""For a process that does one thing and ends, as each command does."""

from __future__ import annotations

import atexit
import gc
import os

_YOUNG = 50_000  # objects after which the collector looks for garbage


def hurry() -> None:
    """Look for garbage seldom: what is imported is none, and goes with the process."""
    gc.set_threshold(_YOUNG, 20, 50)
    atexit.register(gc.freeze)


def without_matrices() -> None:
    """Start none of the threads, one on each core, that numpy's library has for large matrices.

    To be called before numpy is imported, by a process that starts no others: they would inherit it.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
