"""What several tests look at is made once, for all workers of a run."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def shared(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder of this name, which the first worker that asks has filled with `make(folder)`; the others wait for it.

    Nobody writes into it afterwards. What `make` raises is raised, and whoever asks next tries again.
    """
    top = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # the folders of the workers lie side by side
        top = top.parent
    folder, made = top / f"shared-{name}", top / f"shared-{name}.made"
    with (top / f"shared-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            made.touch()
    return folder
