"""Garbage-collector and thread settings for short-lived processes such as each command."""

from __future__ import annotations

import atexit
import gc
import os

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
