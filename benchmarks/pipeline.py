"""How fast captures become tables: sizes, cores and kinds of ingest side by side, and where the time goes.

python benchmarks/pipeline.py [--sizes 0.2,2,8] [--cores 1,2] [--kinds rules,packets,sessions] [--rounds 3]
                              [--most 0.2] [--work FOLDER] [--file GB] [--json OUT.json]

A generated capture is written once, and copied with its times moved on, so that every file is another capture and a
size of 8 GB takes minutes to make. Every measurement is one ingest of so many of them into a new lake, in a session of
Spark that has already ingested small ones, one on each core; sizes, cores and kinds take turns in every round, and
medians count. Kinds: `rules` judges the rules of packets alone, `packets` writes every packet's row besides, `sessions`
judges the rules of connections too, packet by packet, and is measured up to --most. Stages are what the driver waits
for: the tasks by their names, and the rest of its own. Core-seconds are those of all processes: on a machine that has
other work to do they tell more than the seconds that went by.

`python -m tools.scale_page OUT.json` writes what follows from the figures into docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).parents[1]
T = TypeVar("T")
R = TypeVar("R")

KINDS = {
    "rules": {"sessions": False},
    "packets": {"sessions": False, "packets": True},
    "sessions": {"sessions": True},
}
WARM_PACKETS = 4_000


@dataclass(slots=True)
class Timed:
    """Workers that keep how long each kind of task was waited for. seconds: by the name of the task."""

    inner: Any
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def cores(self) -> int:
        """As those within."""
        return int(self.inner.cores)

    @property
    def spark(self) -> Any:
        """As those within."""
        return getattr(self.inner, "spark", None)

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """As those within."""
        from conformance.pipeline.workers import found

        return found(self.attempt(function, tasks))

    def attempt(
        self, function: Callable[[T], R], tasks: Sequence[T], each: Callable[[R], None] | None = None
    ) -> Sequence[Any]:
        """As those within."""
        began = time.perf_counter()
        try:
            results: Sequence[Any] = self.inner.attempt(function, tasks, each)
            return results
        finally:
            name = getattr(function, "__name__", "task")
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began


def copies(base: Path, folder: Path, size: float) -> list[Path]:
    """Captures of together `size` bytes: the base again and again, a minute later each.

    Each is a file of its own: in one, the second copy's segments would be the first's, sent again.
    """
    import numpy as np

    data = np.fromfile(base, dtype=np.uint8)
    heads = _heads(data)
    span = int(_seconds(data, heads[-1:])[0] - _seconds(data, heads[:1])[0]) + 60
    folder.mkdir(parents=True, exist_ok=True)
    out: list[Path] = []
    made, number = 0, 0
    while made < size:
        moved = (_seconds(data, heads) + number * span).astype("<u4").view(np.uint8).reshape(-1, 4)
        body = data.copy()
        for at in range(4):
            body[heads + at] = moved[:, at]
        last = int(np.searchsorted(heads, size - made + 24))
        end = int(heads[last]) if last < len(heads) else len(body)
        # Names that do not count up: each is a capture by itself.
        out.append(folder / f"{number:04}-site.pcap")
        body[:end].tofile(out[-1])
        made += end - 24
        number += 1
    return out


def _heads(data: Any) -> Any:
    """Where the records of a little-endian pcap file begin."""
    import numpy as np

    found, at, raw = [], 24, data.tobytes()
    while at + 16 <= len(raw):
        found.append(at)
        at += 16 + int.from_bytes(raw[at + 8 : at + 12], "little")
    return np.array(found, dtype=np.int64)


def _seconds(data: Any, heads: Any) -> Any:
    import numpy as np

    return sum(data[heads + at].astype(np.int64) << (8 * at) for at in range(4))


def child(asked: dict[str, Any]) -> None:
    """One session of so many cores: cold start, then one ingest for each of these. Prints a line of JSON each."""
    from conformance.pipeline.ingest import Options, ingest
    from conformance.pipeline.lake import Lake
    from conformance.pipeline.spark import SparkWorkers, session

    work, cores = Path(asked["work"]), asked["cores"]
    began = time.perf_counter()
    with session(f"local[{cores}]") as spark:
        started = time.perf_counter() - began
        for kind in asked["kinds"]:
            for turn in ("cold", "warm"):
                place = work / f"lake-{cores}-{kind}-{turn}"
                first = time.perf_counter()
                options = Options(**KINDS[kind], stream="file")
                ingest(
                    Lake.open(place, create=True, format="folder"), asked["small"][:cores], options, SparkWorkers(spark)
                )
                seconds = time.perf_counter() - first
                shutil.rmtree(place)
                say({"start": started, "kind": kind, "cores": cores, turn: seconds})
        for kind, size in asked["turns"]:
            files = sorted(str(path) for path in Path(asked["sizes"][size]).iterdir())
            place = work / f"lake-{cores}-{kind}-{size}"
            timed = Timed(SparkWorkers(spark))
            read_once(files)
            first, before = time.perf_counter(), _spent()
            done = ingest(
                Lake.open(place, create=True, format="folder"), files, Options(**KINDS[kind], stream="file"), timed
            )
            seconds, spent = time.perf_counter() - first, _spent() - before
            stages = {**timed.seconds, "driver": max(0.0, seconds - sum(timed.seconds.values()))}
            lake = sum(path.stat().st_size for path in place.rglob("*.parquet"))
            shutil.rmtree(place)
            say({"kind": kind, "size": size, "cores": cores, "seconds": seconds, "stages": stages, "lake": lake,
                 "files": done.captures, "packets": done.packets, "bytes": done.bytes, "ranges": done.ranges,
                 "spent": spent, "peak": _peak()})  # fmt: skip


def read_once(files: Sequence[str]) -> None:
    """So that none waits for the disk: what was written minutes ago the system may have let go of."""
    for file in files:
        with Path(file).open("rb", buffering=0) as opened:
            while opened.read(16 << 20):
                pass


def say(value: dict[str, Any]) -> None:
    """To the parent."""
    print(json.dumps(value), flush=True)


def _spent() -> float:
    """Core-seconds so far of this process and of those below it."""
    ticks: dict[int, int] = {}
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            words = stat.read_text().rpartition(")")[2].split()
            number = int(stat.parent.name)
            parents[number] = int(words[1])
            ticks[number] = sum(map(int, words[11:15]))  # Its own, and those of children that have ended.
    return sum(many for number, many in ticks.items() if _below(number, parents)) / os.sysconf("SC_CLK_TCK")


def _below(number: int, parents: dict[int, int]) -> bool:
    """Whether a process is this one or was started by it."""
    while number > 1 and number != os.getpid():
        number = parents.get(number, 0)
    return number == os.getpid()


def _peak() -> int:
    """Bytes of the biggest Python process so far, this one and those below it, the living and the ended."""
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) << 10
    parents: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError, ValueError, KeyError):
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
            number = int(status.parent.name)
            parents[number] = int(lines["PPid"])
            if lines["Name"].strip().startswith("python"):
                sizes[number] = int(lines["VmHWM"].split()[0]) << 10
    return max([most, *(size for number, size in sizes.items() if _below(number, parents))])


def measure(asked: argparse.Namespace, work: Path) -> dict[str, Any]:
    """All rounds. The order of cores and of the rest changes from round to round."""
    sys.path.insert(0, str(Path(__file__).parent))
    from corpus import write_corpus

    base = work / "base.pcap"
    small = [work / f"small-{number}.pcap" for number in range(max(asked.cores))]
    for number, path in enumerate(small):  # One for each worker: all of them are to be warm.
        write_corpus(path, WARM_PACKETS, seed=2 + number)
    packets = max(2_000, int(min(asked.file, asked.sizes[0]) * 1e9 / 900))
    write_corpus(base, packets, seed=1)
    sizes = {}
    for size in asked.sizes:
        began = time.perf_counter()
        copies(base, work / f"size-{size}", size * 1e9)
        sizes[str(size)] = str(work / f"size-{size}")
        print(f"{size} GB written in {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    every = [(kind, str(size)) for size in asked.sizes for kind in asked.kinds]
    # What would take all day says nothing that a smaller size does not.
    every = [(kind, size) for kind, size in every if kind != "sessions" or float(size) <= asked.most]
    lines: list[dict[str, Any]] = []
    for number in range(asked.rounds):
        turns = every if number % 2 == 0 else every[::-1]
        for cores in asked.cores if number % 2 == 0 else asked.cores[::-1]:
            task = {"work": str(work), "cores": cores, "kinds": asked.kinds, "sizes": sizes,
                    "small": [str(path) for path in small], "turns": turns}  # fmt: skip
            arguments = [sys.executable, __file__, "--child", json.dumps(task)]
            environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
            with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    lines.append({"round": number, **json.loads(line)})
                    print(f"round {number + 1}: {told(lines[-1])}", file=sys.stderr, flush=True)
            if process.returncode:
                sys.exit(f"The measurement on {cores} cores ended with {process.returncode}.")
    return summed(lines, asked)


def told(line: dict[str, Any]) -> str:
    """One measurement in words."""
    if "size" not in line:
        turn = "cold" if "cold" in line else "warm"
        return f"{line['cores']} cores, {line['kind']}: session {line['start']:.1f} s, {turn} {line[turn]:.1f} s"
    rate = line["packets"] / line["seconds"]
    words = f"{line['seconds']:.1f} s ({line['spent']:.1f} core-seconds), {rate:,.0f} packets/s"
    return f"{line['cores']} cores, {line['kind']}, {line['size']} GB: {words}"


def summed(lines: Sequence[dict[str, Any]], asked: argparse.Namespace) -> dict[str, Any]:
    """Medians over the rounds, of the same thing each."""
    from conformance import __version__

    starts = [
        {
            "kind": kind,
            "cores": cores,
            "session": middle(one["start"] for one in lines if "cold" in one and one["cores"] == cores),
            **{
                turn: middle(one[turn] for one in lines if turn in one and (one["kind"], one["cores"]) == (kind, cores))
                for turn in ("cold", "warm")
            },
        }
        for kind in asked.kinds
        for cores in asked.cores
    ]
    results = []
    for key in dict.fromkeys((one["kind"], one["size"], one["cores"]) for one in lines if "size" in one):
        same = [one for one in lines if "size" in one and (one["kind"], one["size"], one["cores"]) == key]
        names = sorted({name for one in same for name in one["stages"]})
        seconds = sorted(one["seconds"] for one in same)
        results.append(
            {
                "kind": key[0],
                "gigabytes": float(key[1]),
                "cores": key[2],
                "seconds": middle(seconds),
                "least": seconds[0],
                "most": seconds[-1],
                "stages": {name: middle(one["stages"].get(name, 0.0) for one in same) for name in names},
                **{name: same[0][name] for name in ("files", "packets", "bytes", "ranges", "lake")},
                "spent": middle(one["spent"] for one in same),
                "peak": max(one["peak"] for one in same),
            }
        )
    return {
        "mqconform": __version__,
        "measured": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory": _memory(),
            "python": platform.python_version(),
        },
        "rounds": asked.rounds,
        "file_gigabytes": asked.file,
        "start": starts,
        "results": results,
    }


def middle(values: Any) -> float:
    """The median, to a millisecond."""
    found = list(values)
    return round(statistics.median(found), 3) if found else 0.0


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def report(result: dict[str, Any]) -> None:
    """The figures as a table."""
    print(
        f"{'kind':<9} {'GB':>5} {'cores':>5} {'seconds':>9} {'packets/s':>12} {'MB/s':>8} {'core-s':>7}"
        f" {'peak MB':>8}  stages"
    )
    for one in result["results"]:
        stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in one["stages"].items())
        print(
            f"{one['kind']:<9} {one['gigabytes']:>5g} {one['cores']:>5} {one['seconds']:>9.2f} "
            f"{one['packets'] / one['seconds']:>12,.0f} {one['bytes'] / one['seconds'] / 1e6:>8.1f} "
            f"{one['spent']:>7.1f} {one['peak'] / 1e6:>8.0f}  {stages}"
        )
    for kind, target in (("rules", 1_000_000), ("packets", 500_000)):
        best = [one["packets"] / one["seconds"] for one in result["results"] if one["kind"] == kind]
        if best:
            print(f"{kind}: {max(best):,.0f} packets/s, {max(best) / target:.2f} of the target of {target:,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=_numbers, default=[0.2, 2.0, 8.0], help="GB")
    parser.add_argument("--cores", type=lambda text: [int(one) for one in text.split(",")], default=[1, 2])
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=list(KINDS))
    parser.add_argument("--most", type=float, default=0.2, help="GB that sessions are measured with at most")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--file", type=float, default=1.0, help="GB of one file at most")
    parser.add_argument("--work", type=Path, help="a folder with room for all of it")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child is not None:
        child(json.loads(asked.child))
        return
    unknown = set(asked.kinds) - set(KINDS)
    if unknown:
        parser.error(f"no such kind: {', '.join(sorted(unknown))}")
    if asked.work is not None:
        Path(asked.work).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mqconform-", dir=asked.work) as folder:
        result = measure(asked, Path(folder))
    report(result)
    if asked.json is not None:
        asked.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _numbers(text: str) -> list[float]:
    return [float(one) if "." in one else int(one) for one in text.split(",")]


if __name__ == "__main__":
    main()
