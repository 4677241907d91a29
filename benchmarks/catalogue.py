"""How long the catalogue takes to load: made from its files, and from the compiled cache.

python benchmarks/catalogue.py [ROUNDS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from conformance.spec.catalogue import Reading, Requirement
from conformance.spec.compiled import Entries, load


def main(rounds: int) -> None:
    """Print both times in milliseconds, the median of some rounds, and how they compare."""
    cold, warm, every = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for round_ in range(rounds):
            cache = Path(folder) / str(round_)
            for times in (cold, warm):
                started = time.perf_counter()
                rows = load(cache=cache)
                requirements = Entries(Requirement, rows["requirement"])
                Entries(Reading, rows["reading"])
                times.append((time.perf_counter() - started) * 1000)
            started = time.perf_counter()
            count = len(list(requirements.values()))
            every.append((time.perf_counter() - started) * 1000)
    print(f"{count} requirements")
    print(f"cold, from the files:   {median(cold):7.1f} ms")
    print(f"warm, from the cache:   {median(warm):7.1f} ms  ({median(cold) / median(warm):.1f} times as fast)")
    print(f"every entry made:       {median(every):7.1f} ms more")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
