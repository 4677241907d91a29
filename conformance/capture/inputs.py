"""What a user names on the command line: capture files, folders of them, patterns, or standard input."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path

from conformance.capture.errors import CaptureError

STDIN = "-"
SUFFIXES = (".pcap", ".pcapng", ".cap", ".ntar", ".dmp")
"""Endings by which a file in a folder is taken for a capture, `.gz` or a number of tcpdump's behind them or not."""
MAX_FILES = 1_000_000


def expand(names: Iterable[str]) -> list[str]:
    """The captures meant, in the order named; those of a folder or pattern sorted, each once.

    A folder stands for the captures anywhere below it, `-` for standard input, a name with `*`, `?` or `[` for the
    files it fits unless there is a file of that very name. Raises CaptureError for a folder or pattern without any.
    """
    found: dict[str, None] = {}
    for name in names:
        found.update(dict.fromkeys(_meant(name)))
        if len(found) > MAX_FILES:
            raise CaptureError(f"More than {MAX_FILES:,} captures are named; replay them in parts.")
    return list(found)


def _meant(name: str) -> list[str]:
    if name == STDIN:
        return [name]
    path = Path(name)
    if path.is_dir():
        inside = sorted(str(one) for one in path.rglob("*") if is_capture(one.name) and one.is_file())
        if not inside:
            raise CaptureError(f"The folder {name} holds no capture (a file ending in {', '.join(SUFFIXES)}).")
        return inside
    if not path.exists() and glob.has_magic(name):
        names = glob.iglob(name, recursive=True)  # noqa: PTH207 - pathlib takes no absolute pattern
        fitting = sorted(one for one in names if Path(one).is_file())
        if not fitting:
            raise CaptureError(f"No file fits the pattern {name}.")
        return fitting
    return [name]


def is_capture(name: str) -> bool:
    """Whether a file of this name is taken for a capture; tcpdump -C and -W append a number (`a.pcap12`)."""
    return name.lower().removesuffix(".gz").rstrip("0123456789").endswith(SUFFIXES)
