"""The default folder of a run record."""

from __future__ import annotations

import time
from pathlib import Path


def new_run_folder(kind: str = "run") -> Path:
    """Return a new path below `reports/out/`, named after the kind and the time."""
    stamp = time.strftime(f"{kind}-%Y%m%d-%H%M%S")
    path, number = Path("reports", "out", stamp), 1
    while path.exists():
        number += 1
        path = Path("reports", "out", f"{stamp}-{number}")
    return path
