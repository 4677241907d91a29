"""Drivers with one defect each, in processes of their own."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Any

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect

FAKES = Path(__file__).parent / "fakes"


def driver(name: str, tmp_path: Path, **options: Any) -> Client:
    command = shlex.join([sys.executable, str(FAKES / f"{name}.py")])
    return connect(f"stdio:{command}", state_dir=tmp_path / "state", **options)


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
