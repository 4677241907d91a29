"""The command line: parses arguments and calls functions. Each command imports what it needs, so `--help` is fast."""

from __future__ import annotations

import sys

from conformance import interrupts


def main() -> None:
    """Entry point of `mqconform`. Ends the process with one of the exit codes of the README."""
    interrupts.begin()
    from conformance.cli.output import mend

    mend()
    from conformance.children import safe_path
    from conformance.cli.ending import run_to_the_end

    with safe_path():
        sys.exit(run_to_the_end())
