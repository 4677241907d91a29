"""Lakes on Delta beside lakes in folders, and processes that die in the middle of writing one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lake_helpers import CAPTURES, put, records_of, told, write_pcap

from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import TABLES

SESSION = CAPTURES / "consistent-session.pcapng"
HERE = Path(__file__).parent
PATH = os.pathsep.join(map(str, (HERE.parents[1], HERE.parent, HERE)))
"""Where a process of its own finds the package, and what tests share."""


def halves(folder: Path) -> tuple[Path, Path]:
    """A capture as a set of two files; a stream goes on from the first to the second."""
    records = records_of(SESSION)
    return write_pcap(folder / "set_1.pcap", records[:17]), write_pcap(folder / "set_2.pcap", records[17:])


def everything(lake: Lake) -> list:
    """The rows of all tables, as `told` gives them."""
    return [told(lake, table) for table in TABLES]


def in_a_folder(place: Path, *ingests: Sequence[Path], **how: object) -> Lake:
    """The lake in a folder after these ingests."""
    for captures in ingests:
        lake, _ = put(place, captures, **how)
    return lake


def deaths(folder: Path, how: str, captures: tuple[Path, Path]) -> list[dict]:
    """What `dying` tells: of the whole commit, and of each that died."""
    ran = subprocess.run(
        [sys.executable, str(HERE / "dying.py"), str(folder), how, *map(str, captures)],
        env={**os.environ, "PYTHONPATH": PATH}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def full(*_: object, **__: object) -> None:
    """A disk without room."""
    raise OSError(28, "No space left on device")
