"""For a process that does one thing and ends, as each command does."""

from __future__ import annotations

import atexit
import gc
import os

_YOUNG = 50_000  # objects after which the collector looks for garbage


def hurry() -> None:
    """Spend no time on what such a process does not need.

    What is imported is no garbage, and goes with the process. Nothing here has the large matrices for which numpy's
    library starts a thread on each core; that is settled when numpy is imported.
    """
    gc.set_threshold(_YOUNG, 20, 50)
    atexit.register(gc.freeze)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
