"""Memory of `mqconform replay` over many captures: MB at 1, 100 and 3,000, and the ratio to one.

Run it with `python -m benchmarks.memory`; `--most N` takes fewer captures.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

_FIXTURES = Path(__file__).parents[1] / "fixtures"
_SAMPLE = """
import resource, sys
from conformance.captures import replay_captures
names = sys.argv[3:]
replay_captures([sys.argv[1]], columns="columns" in names, out=sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def write_captures(folder: Path, count: int) -> None:
    """Write so many small captures, each a session without a fault."""
    sys.path.insert(0, str(_FIXTURES))
    from build_captures import consistent_session

    content = consistent_session().pcap()
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"{number:06}.pcap").write_bytes(content)


def megabytes(folder: Path, out: Path, *, columns: bool) -> float:
    """Return the most memory that a replay of a folder takes."""
    arguments = [sys.executable, "-c", _SAMPLE, str(folder), str(out), *(["columns"] if columns else [])]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1]) / 1024


def ratios(counts: tuple[int, ...], *, columns: bool) -> list[tuple[int, float, float]]:
    """Return for each number of captures the MB that one replay of them takes, and the ratio to the first."""
    with tempfile.TemporaryDirectory() as place:
        found: list[tuple[int, float, float]] = []
        for count in counts:
            write_captures(Path(place) / str(count), count)
            taken = megabytes(Path(place) / str(count), Path(place) / f"out-{count}", columns=columns)
            found.append((count, taken, taken / found[0][1] if found else 1.0))
        return found


def main() -> None:
    """Print a table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--most", type=int, default=3_000)
    most = options.parse_args().most
    for columns in (False, True):
        for count, taken, ratio in ratios(tuple(sorted({1, min(100, most), most})), columns=columns):
            print(f"replay{' --columns' if columns else ''}: {count:>6,} captures {taken:>6.0f} MB  {ratio:.2f}")


if __name__ == "__main__":
    main()
