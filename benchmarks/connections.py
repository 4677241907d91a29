"""What it costs to judge the connections of a rotated set in order, and in parts: core-seconds of each stage.

python -m benchmarks.connections [--packets 800000] [--pairs 200] [--parts 2] [--rounds 3] [--json OUT.json]

The set has sessions of so many pairs of hosts, one of a hundred of which deviates, in four files (`session_corpus`); a
second one has one server in place of a host of each pair, a third one a server that sends in transactions, and a
fourth one a pair with nine tenths of all packets.
Everything runs in one process, one task after the other, so that core-seconds say what each stage takes whatever else
the machine does; the least of the rounds counts. Memory is what a process has of its own, without the pages of captures
that it has mapped.

`python -m tools.scale_page` computes from it what more cores need, and writes docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import shutil
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "fixtures")]

import session_corpus  # noqa: E402

from conformance.pipeline.ingest import Options, ingest  # noqa: E402
from conformance.pipeline.lake import Lake  # noqa: E402
from conformance.pipeline.workers import Here, Lost  # noqa: E402

T = TypeVar("T")
R = TypeVar("R")
FILES = 4
STAGES = {"part_stream": "walk", "Writing": "facts", "Reading": "judge", "run_streams": "in order"}


@dataclass(frozen=True)
class Timed(Here):
    """This process, which keeps the core-seconds of each task by its stage."""

    spent: dict[str, list[float]] = field(default_factory=dict)

    def attempt(
        self, function: Callable[[T], R], tasks: Sequence[T], each: Callable[[R], None] | None = None
    ) -> Sequence[R | Lost]:
        """As `Here`."""
        name = STAGES.get(getattr(function, "__name__", type(function).__name__), "other")
        out: list[R | Lost] = []
        for task in tasks:
            before = time.process_time()
            done = function(task)
            out.append(done)
            self.spent.setdefault(name, []).append(time.process_time() - before)
            if each is not None:
                each(done)
        return out


def written(folder: Path, records: Iterable[tuple[int, bytes]]) -> list[str]:
    """Write records as a rotated set; return its files."""
    found = sorted(records, key=lambda one: one[0])
    share = -(-len(found) // FILES)
    out = []
    for at in range(FILES):
        path = folder / f"set_{at:05}.pcap"
        with path.open("wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1))
            for time_ns, data in found[at * share : (at + 1) * share]:
                seconds, rest = divmod(time_ns, session_corpus.NS)
                file.write(struct.pack("<IIII", seconds, rest // 1000, len(data), len(data)) + data)
        out.append(str(path))
    return out


def even(packets: int, pairs: int) -> Iterable[tuple[int, bytes]]:
    """Sessions of equal length, one of a hundred pairs deviating."""
    return session_corpus.session_records(packets, pairs, 0.01)


def served(packets: int, pairs: int) -> Iterable[tuple[int, bytes]]:
    """The same between as many hosts and one server."""
    return session_corpus.session_records(packets, pairs, 0.01, server=True)


def sending(packets: int, pairs: int) -> Iterable[tuple[int, bytes]]:
    """The same from one server, which sends to each of the others, to one of them in two queues."""
    return session_corpus.session_records(packets, pairs, 0.01, queues=2)


def skewed(packets: int, pairs: int) -> Iterable[tuple[int, bytes]]:
    """Sessions of which one has nine tenths of the packets."""
    yield from session_corpus.session_records(packets // 10, pairs, 0.01)
    count = packets * 9 // 10 // session_corpus.ROUND
    yield from session_corpus.rounds(pairs, count, session_corpus.START).records


def measured(files: Sequence[str], folder: Path, **options: Any) -> dict[str, Any]:
    """One ingest: core-seconds by stage, packets, and the most memory of its own."""
    workers, most = Timed(), [0]
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            words = Path("/proc/self/status").read_text().partition("RssAnon:")[2].split()
            most[0] = max(most[0], int(words[0]) << 10)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        done = ingest(Lake.open(folder / "lake", create=True, format="folder"), files, Options(**options), workers)
    finally:
        over.set()
        watching.join()
        shutil.rmtree(folder / "lake", ignore_errors=True)
    return {
        "packets": done.packets, "bytes": done.bytes, "spent": workers.spent, "memory": most[0],
        "in_order": list(done.in_order.values()),
    }  # fmt: skip


def least(rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the least core-seconds of each stage over the rounds, and the most memory."""
    names = dict.fromkeys(name for one in rounds for name in one["spent"])
    spent = {name: min((one["spent"][name] for one in rounds if name in one["spent"]), key=sum) for name in names}
    rounded = {name: [round(one, 3) for one in found] for name, found in spent.items() if name != "other"}
    return {**rounds[0], "spent": rounded, "memory": max(one["memory"] for one in rounds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packets", type=int, default=800_000)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--parts", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    result: dict[str, Any] = {"measured": time.strftime("%Y-%m-%d", time.gmtime()), "pairs": asked.pairs}
    for name, records in (("even", even), ("served", served), ("sending", sending), ("skewed", skewed)):
        with tempfile.TemporaryDirectory(prefix="mqconform-") as made:
            folder = Path(made)
            files = written(folder, records(asked.packets, asked.pairs))
            for way, options in (("in order", {}), ("in parts", {"parts": asked.parts, "split": 64 << 20})):
                measured(files, folder, **options)  # What is compiled once.
                found = least([measured(files, folder, **options) for _ in range(asked.rounds)])
                result[f"{name}, {way}"] = found
                print(f"{name}, {way}: {found}", flush=True)
    if asked.json is not None:
        asked.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
