"""Drivers with one defect each, in processes of their own."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Any

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect

FAKES = Path(__file__).parent / "adapter" / "fakes"


def fake(name: str) -> str:
    """The connector of a driver named after its defect: a file, or one of those in `defects.py`."""
    file = FAKES / f"{name}.py"
    named = [str(file)] if file.exists() else [str(FAKES / "defects.py"), name]
    return f"stdio:{shlex.join([sys.executable, *named])}"


def driver(name: str, tmp_path: Path, **options: Any) -> Client:
    return connect(fake(name), state_dir=tmp_path / "state", **options)


def ended(pid: int) -> bool:
    """A killed orphan is gone, or a zombie that nobody has reaped yet."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False
