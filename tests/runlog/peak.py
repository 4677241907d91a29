"""One command of mqconform in this process, and the most memory it took (in KiB, on the last line of stderr)."""

from __future__ import annotations

import sys
from pathlib import Path


def peak_kib() -> int:
    """The most memory this process had in use, as Linux counts it since the program began."""
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


if __name__ == "__main__":
    from conformance.cli import main

    try:
        main()
    finally:
        print(peak_kib(), file=sys.stderr)
