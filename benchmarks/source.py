"""How fast the Spark source makes rows, in columns and packet by packet, in one run.

python benchmarks/source.py [--packets 400000] [--peer 4000] [--rounds 3] [--work FOLDER] [--json OUT.json]

A generated capture is read as a task of Spark reads it, without Spark. Figures are packets per second of CPU time,
which other work on the machine changes less than the seconds that go by; the peer, which decodes and judges each packet
in Python, has a smaller capture of the same kind. `verdict` has the columns of a verdict, `filtered` the same of
packets that deviate, and `all` every column. The ratio is that of the medians. Memory is the peak of a process of its
own that reads the capture, and of one that reads the small one: rows go out batch by batch, but the file's pages in
memory count.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "tests" / "pipeline")]
VERDICT = ("time", "kind", "queue", "worst", "deviating")


def _cases() -> dict[str, Any]:
    from conformance.pipeline.source_columns import Wanted
    from conformance.pipeline.source_filters import Test

    return {
        "verdict": Wanted(VERDICT),
        "filtered": Wanted(VERDICT, (Test("worst", "EqualTo", "pass", negated=True),)),
        "all": Wanted(),
    }


def _columns(path: Path, wanted: Any) -> int:
    from conformance.pipeline.ingest import Options, how
    from conformance.pipeline.source_columns import packets

    found = packets(str(path), 24, path.stat().st_size, how(Options(), ""), wanted)
    return sum(batch.num_rows for batch in found)


def _peer(path: Path) -> int:
    from source_peer import rows_of

    from conformance.pipeline.ingest import Options, how

    return sum(1 for _ in rows_of(str(path), 24, path.stat().st_size, how(Options(), "")))


def _timed(run: Callable[[], int]) -> tuple[int, float]:
    began = time.process_time()
    rows = run()
    return rows, time.process_time() - began


def _peak(path: Path) -> float:
    """Return the most memory, in MB, of a process that reads a capture."""
    command = [sys.executable, __file__, "--read", str(path)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Measure, and print or write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packets", type=int, default=400_000)
    parser.add_argument("--peer", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.read is not None:
        _columns(asked.read, _cases()["verdict"])
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return
    with tempfile.TemporaryDirectory(dir=asked.work) as folder:
        _measure(asked, Path(folder))


def _measure(asked: Any, folder: Path) -> None:
    from corpus import write_corpus

    large, small = folder / "large.pcap", folder / "small.pcap"
    write_corpus(large, asked.packets, seed=1)
    write_corpus(small, asked.peer, seed=1)
    cases = _cases()
    _columns(small, cases["all"])  # Load the code.
    rates: dict[str, list[float]] = {name: [] for name in (*cases, "peer")}
    kept: dict[str, int] = {}
    for _ in range(asked.rounds):
        for name, wanted in cases.items():
            kept[name], took = _timed(lambda wanted=wanted: _columns(large, wanted))
            rates[name].append(kept["verdict"] / took)
        rows, took = _timed(lambda: _peer(small))
        rates["peer"].append(rows / took)
    medians = {name: statistics.median(some) for name, some in rates.items()}
    peaks = {"large": _peak(large), "small": _peak(small)}
    result = {
        "packets": kept["verdict"],
        "kept": kept,
        "bytes": large.stat().st_size,
        "rates": medians,
        "all rounds": rates,
        "ratio": medians["verdict"] / medians["peer"],
        "peak MB": peaks,
    }
    for name, rate in medians.items():
        print(f"{name:10} {rate:12,.0f} packets per CPU second, {rate / medians['peer']:8.1f} times the peer")
    print(f"memory: {peaks['large']:,.0f} MB; with {asked.peer:,} packets {peaks['small']:,.0f} MB")
    if asked.json is not None:
        asked.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
