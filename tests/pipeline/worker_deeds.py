"""What tests have workers of Spark do; a worker imports nothing else for it."""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path

MARK = "kills its worker"


def once(place: str) -> str:
    """Kill the first worker that does this."""
    try:
        Path(place).touch(exist_ok=False)
    except FileExistsError:
        return "there"
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def always(place: str) -> str:
    """Kill each worker that does this, where the text asks for it."""
    if place == MARK:
        os.kill(os.getpid(), signal.SIGKILL)
    return place


def twice(number: int) -> int:
    """Double a number."""
    return 2 * number


def most_memory(_: int) -> int:
    """Ask for the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
