"""The line that shows how far an ingest has come, on stderr: also with --json, whose result is on stdout."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, TextIO

from conformance.cli.output import one_line

if TYPE_CHECKING:
    from conformance.pipeline.progress import Progress

FIRST_S = 0.8
"""Seconds after which work is long enough for a line."""
TERMINAL_S = 0.5
"""Seconds between two lines at a terminal, where each replaces the one before."""
LONGEST_S = 60.0
"""Seconds between two lines elsewhere, at most: the time between them doubles."""


def _width(stream: TextIO) -> int:
    """Return how many characters fit into a line of a terminal: a longer one would not be removed whole."""
    try:
        return max(1, os.get_terminal_size(stream.fileno()).columns - 1)
    except (OSError, ValueError):
        return 79


@contextmanager
def shown(progress: Progress, what: str) -> Iterator[None]:
    """Show the line while the work within goes on, and where it stands at the end. what: the command."""
    stream = sys.stderr
    terminal = stream.isatty()
    over = Event()
    said = ""

    def say() -> None:
        nonlocal said
        line = one_line(progress.line())
        if terminal:
            stream.write(f"\r\x1b[2K{line[: _width(stream)]}")
        elif line != said:
            stream.write(f"mqconform: {what}: {line}\n")
        said = line
        stream.flush()

    def tell() -> None:
        wait_s = FIRST_S
        while not over.wait(wait_s):
            say()
            wait_s = TERMINAL_S if terminal else min(2 * wait_s, LONGEST_S)

    teller = Thread(target=tell, name="mqconform-progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
        if terminal:
            stream.write("\r\x1b[2K")
            stream.flush()
        elif said:  # Work that had a line has a last one, of how far it came.
            say()
