"""First progress messages of slow commands, shown within their first second."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from conformance.cli.output import one_line, progress_bar

Show = Callable[[float, float, str], None]
LARGE = 8 << 20
"""Bytes of run records that take a second or more to read."""


@contextmanager
def at_work(what: str, first: str, *, quiet: bool = False) -> Iterator[Show]:
    """Show a progress bar on stderr with the text `first` at once; yields a function of (done, total, text).

    Not a terminal: one line per new text, or nothing if quiet.
    """
    with progress_bar(what, quiet=quiet and not sys.stderr.isatty()) as show:
        show(0, 1, first)
        yield show


def begin(what: str, first: str, *, quiet: bool = False) -> None:
    """Print a line on stderr, for commands whose progress bar is drawn by others (Spark) or that have none."""
    if sys.stderr.isatty() or not quiet:
        print(f"mqconform: {what}: {one_line(first)}", file=sys.stderr, flush=True)


@contextmanager
def reading(records: Sequence[Path], what: str) -> Iterator[None]:
    """Show progress while run records are read; if stderr is not a terminal, only for at least LARGE bytes in total."""
    if not sys.stderr.isatty() and sum(map(_size, records)) < LARGE:
        yield
        return
    with at_work(what, f"reading {records[0]}" if len(records) == 1 else f"reading {len(records)} records"):
        yield


def _size(record: Path) -> int:
    parts = [record] if record.is_file() else record.glob("run-*.ndjson")
    try:
        return sum(part.stat().st_size for part in parts)
    except OSError:
        return 0  # The reader reports the error.
